//! What came of things that took time.

use neco_proto::app::AppError;
use neco_proto::clean::clean;
use neco_proto::{Answer, Attachment, ClientError, Command};
use neco_view::slash;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::detaching;
use super::effect::{Effect, News, Unsent};
use super::reports::context_rows;
use super::{
    asked, background, commands, going_back, logging_in, picking, sending, session_menu, settings, taking_back,
    watching,
};
use crate::app::{DiffScreen, Purpose, Reach, WindowState, settle_field};
use crate::host::CommandOutcome;
use crate::text::wrap::{Indent, wrap};
use crate::text::{figures, markdown};
use crate::transcript::block::Tone;

/// Lines of what a person ran that stay on the screen.
const SHOWN_LINES: usize = 200;

/// Something came of an effect; gives what is to be done next.
pub(crate) fn news(window: &mut WindowState, news: News) -> Vec<Effect> {
    match news {
        News::Refused(error, unsent) => refused(window, &error, unsent),
        News::NotRun(error, line) => return not_run(window, error.to_string(), &line),
        News::NotDecided(error, answer) => {
            window.desk.not_taken(&answer);
            let what = match answer.as_ref() {
                Command::Approve { call_id, .. } => window.transcript.summary(call_id),
                _ => None,
            };
            window.warn(format!("{error}{}", what.map(|summary| format!(": {summary}")).unwrap_or_default()));
        }
        News::Unanswered(error) => {
            window.person.list_came();
            window.warn(error.to_string());
        }
        News::NotTakenBack(ids) => {
            window.tell("The agent has already read it");
            taking_back::settle_coming_back(window, &ids);
        }
        News::Answered(answer) => return answered(window, answer),
        News::Looked(agent, past, last) => watching::looked(window, agent, past, last),
        News::Arguments(line, arguments) => {
            if window.offers.found_arguments(&window.prompt, line, arguments) && window.picker.is_none() {
                return window.offer();
            }
        }
        News::Files(files) => {
            window.offers.found_files(files);
            if window.picker.is_none() {
                return window.offer();
            }
        }
        News::Resources(resources) => {
            if window.offers.found_resources(&window.prompt, resources) && window.picker.is_none() {
                return window.offer();
            }
        }
        News::Branch(branch) => window.branch = branch,
        News::Project(uncommitted, knows) => window.transcript.know(uncommitted, knows),
        News::Commands(custom, unknown) => {
            window.offers.custom = custom;
            if let Some(line) = unknown {
                return try_again(window, &line);
            }
            if window.prompt.completion.is_some() {
                return window.offer();
            }
        }
        News::Sessions(Ok(sessions)) if sessions.is_empty() => return picking::no_session_here(window),
        News::Sessions(Ok(sessions)) => return picking::pick_session(window, sessions, Reach::Folder),
        News::AllSessions(Ok(sessions)) => {
            if sessions.is_empty() {
                window.person.list_came();
            }
            return picking::pick_session(window, sessions, Reach::Everywhere);
        }
        News::LookedInto(session, said) => picking::looked_into(window, &session, &said),
        News::SessionsChanged(changed) => {
            match changed {
                Ok(words) => window.tell(words),
                Err(error) => window.warn(error.words()),
            }
            // Whoever has opened something else meanwhile keeps it.
            if window.picker.is_none() {
                let left = window.left_session.take();
                return session_menu::list_again(window, left);
            }
        }
        News::Models(Ok(models)) => picking::pick_model(window, models),
        News::Rules(Ok(rules)) => picking::pick_rule(window, rules),
        News::Settings(Ok(list)) => settings::pick_setting_key(window, list),
        News::FileEdited(Ok(true)) => return picking::ask_for_list(window, Effect::Settings),
        News::FileEdited(Ok(false)) => window.tell("Nothing changed"),
        News::Providers(Ok(providers)) => logging_in::pick_provider(window, providers),
        News::LookedForKey(Ok(provider)) => logging_in::ask(window, provider),
        News::KeptKey(provider, kept) => logging_in::kept(window, provider, kept),
        News::RuleChanged(Ok(words)) => {
            window.tried_rule = None;
            window.transcript.say(Tone::Good, words);
            return picking::rules_again(window);
        }
        News::RuleChanged(Err(error)) => rule_refused(window, &error),
        News::Outside(Ok(outcome)) => return carried_out(window, outcome),
        News::Custom(Ok(mut said)) => {
            commands::has_come(window);
            // What was typed is seen above what it says; a prompt of a server begins with it.
            let begins =
                |tried: &&String| said.pieces.first().is_some_and(|piece| piece.text.starts_with(tried.as_str()));
            let tried = window.tried_command.as_ref().filter(|tried| !begins(tried));
            tried.cloned().into_iter().for_each(|tried| window.transcript.echo(&tried));
            said.notes.drain(..).for_each(|note| window.transcript.say(Tone::Warning, note));
            return sending::say_for_command(window, said);
        }
        News::Custom(Err(error)) => {
            commands::has_come(window);
            window.warn(error.words());
            let tried = window.tried_command.take().filter(|_| window.prompt.is_free());
            tried.into_iter().for_each(|text| window.prompt.text.set(text));
        }
        News::LineBegins(line) => window.shell.line_begins(&line),
        News::LinePrinted(left_out, text) => window.shell.line_printed(left_out, &text),
        News::LinesEnded => window.shell.lines_end(),
        News::Printed(text) => window.shell.printed(&text),
        News::LeftOut(lines) => window.shell.left_out(lines),
        News::ShellEnded(ended) => shell_ended(window, ended),
        News::Detached(detached) => return detaching::detached(window, detached),
        News::Kept(Ok(words)) => window.transcript.say(Tone::Good, words),
        News::Image(found, otherwise) => return found_image(window, found, otherwise),
        News::Prompt(Ok(Some(text))) => {
            window.prompt.text.set(text.trim_end());
            asked::go_to_field(window);
        }
        // What they made of it is shown, and asked about again.
        News::Call(call_id, Ok(Some(edited))) => {
            if !window.desk.revise(&call_id, edited) {
                window.warn("That was answered in the meantime; your change was not used");
            }
            window.facing.unseen(window.now_ms);
        }
        News::Plan(question, Ok(Some(text))) => return asked::edited_plan(window, question, text),
        News::Prompt(Ok(None)) | News::Call(_, Ok(None)) | News::Plan(_, Ok(None)) => {}
        // A line that could not be made once is not gone.
        News::Status(line) => window.status_line = line.or(window.status_line.take()),
        News::Broken(what) => {
            window.person.list_came();
            let unsent = sending::send_named(window);
            window.wants(unsent);
            window.warn(format!("{what}: a bug in Neco; please report it with the log of a run with --debug"));
        }
        News::Sessions(Err(error))
        | News::AllSessions(Err(error))
        | News::Models(Err(error))
        | News::Rules(Err(error))
        | News::Settings(Err(error))
        | News::Providers(Err(error))
        | News::Outside(Err(error)) => {
            // The list that was asked for does not come.
            window.person.list_came();
            window.warn(error.words());
        }
        News::LookedForKey(Err(error)) | News::Kept(Err(error)) => window.warn(error.words()),
        News::Prompt(Err(words))
        | News::Call(_, Err(words))
        | News::Plan(_, Err(words))
        | News::FileEdited(Err(words)) => window.warn(words),
    }
    Vec::new()
}

/// A command that was not known before the folders were read again.
fn try_again(window: &mut WindowState, line: &str) -> Vec<Effect> {
    match slash::parse(line, &window.offers.custom) {
        Ok(slash) => commands::run(window, &slash),
        Err(error) => not_run(window, error.to_string(), line),
    }
}

/// A command after a slash was not carried out: it is there to be corrected, unless something else is written by now.
fn not_run(window: &mut WindowState, why: String, line: &str) -> Vec<Effect> {
    window.warn(why);
    if window.prompt.is_free() {
        window.prompt.text.set(line);
    }
    Vec::new()
}

fn answered(window: &mut WindowState, answer: Answer) -> Vec<Effect> {
    match answer {
        Answer::Context(report) => {
            let rows = context_rows(&report, window.context_view, window.answer_width(), &window.theme);
            window.transcript.answer(rows);
        }
        Answer::RewindPoints { points } => return going_back::pick_message(window, points),
        Answer::RewindPreview(preview) => return going_back::previewed(window, &preview),
        Answer::Tree { nodes } => {
            window.transcript.view.found(nodes);
            let agents = &window.transcript.view.agents;
            window.desk.set_names(|agent| agents.name(agent));
            picking::refresh_picker(window);
        }
        Answer::Workflows { workflows } => {
            window.transcript.view.workflows = workflows;
            picking::refresh_picker(window);
        }
        Answer::Rules(rules) => window.transcript.view.standing.rules = rules,
        Answer::Background { commands } => background::came(window, commands),
        Answer::BackgroundOutput { command, tail } => background::looked(window, &command, &tail),
        Answer::Checkpoints { checkpoints } => return going_back::pick_checkpoint(window, checkpoints),
        Answer::Snapshot(_) | Answer::Messages { .. } | Answer::Prompt(_) => {}
    }
    Vec::new()
}

/// What was not sent comes back into the field, before what was written since.
fn refused(window: &mut WindowState, error: &ClientError, unsent: Option<Unsent>) {
    window.warn(error.to_string());
    match unsent {
        Some(Unsent { text, pictures }) => {
            let written = window.shell.keep_what_ran(&text);
            window.prompt.restore(&written, pictures);
        }
        None => (window.transcript.view.standing.going_back, window.said_better) = (None, None),
    }
}

/// A rule that was not kept comes back into the field, to be written better.
fn rule_refused(window: &mut WindowState, error: &AppError) {
    window.warn(error.words());
    if let Some(rule) = window.tried_rule.take().filter(|_| window.prompt.is_free()) {
        window.purpose = Purpose::Rule;
        settle_field(window);
        window.prompt.text.set(rule);
    }
}

fn carried_out(window: &mut WindowState, outcome: CommandOutcome) -> Vec<Effect> {
    match outcome {
        CommandOutcome::Show(text) => {
            let rows = markdown::rows(&clean(&text), window.answer_width(), &window.theme);
            window.transcript.answer(rows);
        }
        CommandOutcome::Print(text) => answer_printed(window, &text),
        CommandOutcome::Changes(files) => {
            if picking::is_waited_for(window) {
                window.diff = Some(DiffScreen::new(&files));
            }
        }
        CommandOutcome::Choose(setting, present, told) => {
            answer_printed(window, &told);
            if picking::is_waited_for(window) {
                settings::pick_setting(window, setting, &present);
            }
        }
        CommandOutcome::List(listed) => commands::pick_listed(window, listed),
        CommandOutcome::Say(text) => window.transcript.say(Tone::Plain, text),
        CommandOutcome::Prompt(text) => return sending::say_for_command(window, text.into()),
        CommandOutcome::Send(command) => return vec![Effect::Send(command)],
        CommandOutcome::Ask(agreement) => picking::ask_to_agree(window, agreement),
        CommandOutcome::GoOn(wanted, words) => {
            window.opening = true;
            window.transcript.say(Tone::Plain, words);
            return vec![Effect::GoOn(wanted)];
        }
    }
    Vec::new()
}

/// What a slash command prints.
fn answer_printed(window: &mut WindowState, text: &str) {
    let rows = printed_rows(text, window.answer_width());
    window.transcript.answer(rows);
}

fn printed_rows(text: &str, width: usize) -> Vec<Line<'static>> {
    let lines = clean(text);
    let lines = lines.trim_end().lines().map(|line| line.replace('\t', "    "));
    let rows = lines.flat_map(|line| {
        let below = Span::raw(" ".repeat(column_of_text(&line, width)));
        wrap(&Line::raw(line), width, &Indent { first: Vec::new(), rest: vec![below] })
    });
    rows.collect()
}

fn shell_ended(window: &mut WindowState, ended: Result<Option<i32>, String>) {
    let Some(told) = window.shell.end(ended) else { return };
    window.expanded = false;
    match told {
        Ok(text) => window.transcript.show(printed_rows(&last_lines(&text), window.width)),
        Err(words) => window.warn(words),
    }
}

/// A picture was found, or not; a dropped file that is none stays what was pasted.
fn found_image(
    window: &mut WindowState,
    found: Result<Option<Attachment>, String>,
    file: Option<String>,
) -> Vec<Effect> {
    let Some(file) = file else {
        match found {
            Ok(Some(picture)) => {
                window.prompt.picture(picture);
                asked::go_to_field(window);
            }
            Ok(None) => window.tell("No picture in the clipboard"),
            Err(words) => window.warn(words),
        }
        return Vec::new();
    };
    let Some(index) = window.dropped.iter().position(|(dropped, _)| *dropped == file) else {
        return sending::looked_at(window, &file, found);
    };
    let (_, pasted) = window.dropped.remove(index);
    if let Ok(Some(picture)) = found {
        window.prompt.picture_for(&pasted, picture);
    }
    Vec::new()
}

/// The first line and the last ones of what a command printed: not all of a flood is for the scrollback.
fn last_lines(text: &str) -> String {
    let hidden = text.lines().count().saturating_sub(SHOWN_LINES);
    let Some((first, rest)) = text.split_once('\n').filter(|_| hidden > 0) else { return text.to_owned() };
    let shown: Vec<&str> = rest.lines().skip(hidden).collect();
    format!("{first}\n… {}\n{}", figures::count(hidden, "earlier line", "earlier lines"), shown.join("\n"))
}

/// Where the last column of a table's row begins, so that what does not fit goes on below it; at the margin for what
/// is no such row.
fn column_of_text(line: &str, width: usize) -> usize {
    let indented = line.len() - line.trim_start_matches(' ').len();
    let columns = line.trim_end().rfind("  ").map(|at| line.get(..at + 2).unwrap_or(line).width());
    columns.filter(|column| *column <= width / 2).unwrap_or(indented.min(width / 2))
}
