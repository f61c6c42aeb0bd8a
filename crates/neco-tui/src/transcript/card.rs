//! A call as a person follows it: one line that says what it is and how it stands, and below it as much
//! of what came of it as is worth the room.

use neco_proto::clean::{clean, clean_line, is_mark};
use neco_proto::event::{CallStatus, ToolCallEnd};
use neco_proto::visible::visible_line;
use neco_proto::{Diff, Display, ErrorCode};
use neco_view::reduce::View;
use neco_view::reduce::block::Call;
use neco_view::reduce::work::is_refusal;
use neco_view::wording::calls::{INTERRUPTED, NOT_RUN, UNKNOWN, given, happened};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::block::Drawn;
use super::ledger::{self, hanging, head};
use super::tail::Tail;
use crate::text::wrap::{cut, wrap};
use crate::text::{diff, figures};
use crate::theme::Theme;

/// The tool that runs commands.
pub(super) const COMMAND: &str = "bash";

/// The tool that starts an agent, which goes on by itself.
const SPAWN: &str = "spawn_agent";

/// The tool that waits for agents.
const WAIT: &str = "agent_wait";

/// The tool that hands over a plan.
pub(super) const PLAN: &str = "exit_plan_mode";

/// The tools that do nothing but ask the person.
const ASKS: [&str; 2] = ["ask_user", PLAN];

/// How long a command runs before it is said that it can do so in the background, in milliseconds.
const LONG_MS: i64 = 2000;

/// Lines of a body that are shown without being asked for.
const BODY_LINES: usize = 8;

/// Rows of the end of a command's output, while it runs and afterwards.
const OUTPUT_ROWS: usize = 3;

/// Rows of its beginning when it failed: what went wrong often stands there.
const FIRST_ROWS: usize = 2;

/// Rows of it while it runs and the person wants to see more.
const MORE_OUTPUT_ROWS: usize = 24;

/// Lines of a text or of a failure.
const TEXT_LINES: usize = 3;

/// How much of a card is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The usual.
    Short,
    /// Everything.
    Whole,
}

/// How much of what came of a call would have to be kept to show all of it.
pub fn size(call: &Call) -> usize {
    let shown = |display: &Display| match display {
        Display::Text { text } => text.len(),
        Display::Diff { files } => files.iter().map(|file| file.unified.len()).sum(),
        Display::Terminal { tail, .. } => tail.len(),
        Display::List { items, .. } => items.iter().map(String::len).sum(),
    };
    call.end.as_ref().map_or(0, |end| end.output.len() + end.display.as_ref().map_or(0, shown))
}

/// Whether a call waits for the person and is shown by the question that they are asked.
pub(super) fn is_shown_by_question(call: &Call) -> bool {
    let asks = call.status == CallStatus::Executing && ASKS.contains(&call.tool.as_str());
    asks || call.status == CallStatus::AwaitingApproval
}

/// A call that waits for agents one of which waits for the person: nothing turns before it.
pub(super) fn waiting_with(call: &Call, view: &View) -> Option<Call> {
    let waits = call.status == CallStatus::Executing && call.tool == WAIT && view.agents.asking() > 0;
    waits.then(|| Call { status: CallStatus::AwaitingApproval, ..call.clone() })
}

/// Whether there may be more of a call than is seen of it at first.
pub(super) fn has_more(call: &Call) -> bool {
    call.end.as_ref().is_some_and(|end| end.display.is_some() || !end.output.trim().is_empty())
}

/// What the agent cost that worked for a call which is over.
pub(super) fn agent_cost(call: &Call, view: &View) -> Option<f64> {
    let end = call.end.as_ref().filter(|end| !has_started(end))?;
    let name = end.agent.as_deref()?;
    let node = view.agents.all().find(|node| node.name == name)?;
    node.subtree_usage.cost.filter(|cost| *cost > 0.0)
}

/// The rows of a call that printed `tail` so far; `cost` is what an agent used that worked for it.
pub fn rows(call: &Call, tail: &Tail, fold: Fold, cost: Option<f64>, with: Drawn<'_>) -> Vec<Line<'static>> {
    let Some(end) = &call.end else {
        let live = if with.expanded { MORE_OUTPUT_ROWS } else { OUTPUT_ROWS };
        let heading = heading(call, running_outcome(call, with), with);
        return [heading].into_iter().chain(tail.rows(with.width, live, with.theme)).collect();
    };
    let text = for_person(end);
    let text = match fold {
        Fold::Short => unfitting(end).map_or_else(|| happened(end, &text), str::to_owned),
        Fold::Whole => text,
    };
    let (reason, rest) = reason(call, end, &text, with);
    let body = ended_body(end, rest, fold, with);
    let mut outcome = ended_outcome(end, reason, with);
    outcome.extend(cost.map(|cost| Span::styled(format!(" · {}", figures::cost(cost)), with.theme.dim)));
    [heading(call, outcome, with)].into_iter().chain(body).collect()
}

/// What a person is told of an edit whose text has no place: what the model is told names the arguments of its call.
fn unfitting(end: &ToolCallEnd) -> Option<&'static str> {
    match end.error_code? {
        ErrorCode::EditTextNotFound => Some("not changed\nThe text to replace is not in it."),
        _ => None,
    }
}

/// The verb of a call, the name in what it is done to, and the rest of that.
fn words(call: &Call) -> (String, String, String) {
    let summary = visible_line(&call.summary);
    let (verb, object) = summary.split_once(' ').unwrap_or((&summary, ""));
    let agent = |words: &str| {
        let (role, task) = words.split_once(": ").unwrap_or((words, ""));
        ("Agent".to_owned(), started(call).unwrap_or_else(|| role.to_owned()), task.to_owned())
    };
    match call.tool.as_str() {
        "task" => agent(&summary),
        tool if tool.starts_with("agent__") => agent(&summary),
        SPAWN if verb == "Start" => agent(object),
        PLAN => ("Plan".to_owned(), String::new(), "handed over".to_owned()),
        "git" => ("Git".to_owned(), String::new(), object.to_owned()),
        // While the model writes a call, nothing but its tool is known.
        tool if call.summary == tool => (begun(tool).to_owned(), String::new(), String::new()),
        _ => (verb.trim_end_matches(':').to_owned(), String::new(), object.to_owned()),
    }
}

/// What a tool does, in the verb that its calls begin with; the name of any other tool.
fn begun(tool: &str) -> &str {
    match tool {
        COMMAND => "Run",
        "read_file" => "Read",
        "write_file" => "Write",
        "edit_file" => "Edit",
        "apply_patch" => "Patch",
        "delete_file" => "Delete",
        "list_directory" => "List",
        "glob" => "Find",
        "grep" | "code_search" | "web_search" => "Search",
        "web_fetch" => "Fetch",
        tool => tool,
    }
}

/// What an agent is called that a call has started; logs that are older than this do not say it.
fn started(call: &Call) -> Option<String> {
    call.end.as_ref()?.agent.as_deref().map(clean_line)
}

fn has_started(end: &ToolCallEnd) -> bool {
    end.tool == SPAWN && end.status == CallStatus::Success
}

fn heading(call: &Call, mut outcome: Vec<Span<'static>>, with: Drawn<'_>) -> Line<'static> {
    let (mark, style) = mark(call, with.frame, with.theme);
    let (verb, name, object) = words(call);
    let of_verb = match call.status {
        CallStatus::Executing => with.theme.accent,
        _ if style == with.theme.bad => style,
        _ => with.theme.label,
    };
    if let (true, Some(first)) = (name.is_empty() && object.is_empty(), outcome.first_mut()) {
        // The blank before it is that behind the verb.
        first.content = first.content.trim_start().to_owned().into();
    }
    let head = head(Span::styled(mark, style), &verb, of_verb);
    let bold = Style::new().add_modifier(ratatui::style::Modifier::BOLD);
    let object = match name.is_empty() {
        true => vec![Span::raw(bare(&call.tool, &object).to_owned())],
        false => vec![Span::styled(name, bold), Span::styled(format!("  {object}"), with.theme.label)],
    };
    ledger::row(head, object, outcome, with.width)
}

/// What a call is done to without its figures in brackets, which are told behind it; those of a command are its own.
fn bare<'a>(tool: &str, object: &'a str) -> &'a str {
    match object.split_once(" (") {
        Some((bare, figures)) if tool != "bash" && figures.ends_with(')') => bare,
        _ => object,
    }
}

/// The figures in brackets.
fn figures_of(call: &Call) -> Option<String> {
    let summary = visible_line(&call.summary);
    let (_, figures) = summary.split_once(" (").filter(|_| call.tool != "bash")?;
    figures.strip_suffix(')').filter(|figures| !figures.starts_with('+')).map(str::to_owned)
}

fn mark(call: &Call, frame: usize, theme: &Theme) -> (&'static str, Style) {
    let refused = call.end.as_ref().is_some_and(|end| end.error_code.is_some_and(is_refusal));
    match call.status {
        _ if call.is_interrupted() => (UNKNOWN, theme.warning),
        CallStatus::Success if call.end.as_ref().is_some_and(went_wrong) => ("✕", theme.bad),
        CallStatus::Validating | CallStatus::Scheduled => ("○", theme.dim),
        CallStatus::AwaitingApproval => ("◆", theme.ask),
        CallStatus::Executing => (figures::turning(frame), theme.accent),
        // What it started goes on.
        CallStatus::Success if call.end.as_ref().is_some_and(has_started) => ("◔", theme.accent),
        CallStatus::Success if call.unanswered => ("⊘", theme.dim),
        CallStatus::Success => ("✓", theme.good),
        CallStatus::Error if refused => ("⊘", theme.dim),
        CallStatus::Error => ("✕", theme.bad),
        CallStatus::Cancelled => ("⊘", theme.dim),
    }
}

fn running_outcome(call: &Call, with: Drawn<'_>) -> Vec<Span<'static>> {
    if call.is_interrupted() {
        return vec![Span::styled(format!(" · {INTERRUPTED}"), with.theme.warning)];
    }
    let words = match (call.started_ms, call.status) {
        (Some(since), _) => format!("  {}", figures::clock(u64::try_from(with.now_ms - since).unwrap_or_default())),
        (None, CallStatus::AwaitingApproval) => return vec![Span::styled(" · waits for you", with.theme.ask)],
        (None, CallStatus::Validating) if call.written >= 1000 => {
            format!(" · writing, {}", figures::bytes(call.written as u64))
        }
        (None, _) => return Vec::new(),
    };
    let is_long = call.started_ms.is_some_and(|since| with.now_ms - since >= LONG_MS);
    let sends_away = with.sends_away && is_long && call.tool == COMMAND && call.status == CallStatus::Executing;
    let hint = if sends_away { " · Ctrl-B background" } else { "" };
    vec![Span::styled(format!("{words}{hint}"), with.theme.dim)]
}

/// What came of it, behind what was done: figures, why it failed, how long it took.
fn ended_outcome(end: &ToolCallEnd, reason: Option<(String, Style)>, with: Drawn<'_>) -> Vec<Span<'static>> {
    let theme = with.theme;
    let mut spans = Vec::new();
    if let (Some(Display::Diff { files }), CallStatus::Success) = (&end.display, end.status)
        && let [file] = files.as_slice()
    {
        spans.push(Span::styled(format!("  +{}", file.added), theme.added));
        if file.removed > 0 {
            spans.push(Span::styled(format!(" −{}", file.removed), theme.removed));
        }
        let what = if file.deleted { " · deleted" } else { "" };
        spans.push(Span::styled(what, theme.dim));
    }
    let refused = end.error_code.is_some_and(is_refusal);
    let has_reason = reason.is_some();
    spans.extend(reason.map(|(words, style)| Span::styled(format!(" · {words}"), style)));
    let says_how_long = refused || end.status == CallStatus::Cancelled || end.status == CallStatus::Error && has_reason;
    if end.duration_ms > 0 && !says_how_long && !has_started(end) {
        spans.push(Span::styled(format!(" · {}", figures::duration(end.duration_ms)), theme.dim));
    }
    spans
}

/// Why a call did not do what it was for, in a few words behind it, and what there is to say below it.
fn reason(call: &Call, end: &ToolCallEnd, text: &str, with: Drawn<'_>) -> (Option<(String, Style)>, String) {
    let theme = with.theme;
    let (bad, dim) = (|words: &str| Some((words.to_owned(), theme.bad)), |words: String| Some((words, theme.dim)));
    let mut lines = text.trim().lines();
    let first = clean_line(lines.next().unwrap_or_default().trim_end_matches([';', ':', '.']));
    let rest = || lines.clone().collect::<Vec<_>>().join("\n");
    // It stands on the row where it has room beside what was done.
    let (verb, name, object) = words(call);
    let taken = [&verb, &name, &object].map(|words| words.width()).iter().sum::<usize>() + ledger::WORDS + 8;
    let has_room = |words: &str| taken + words.width() <= with.width;
    let said = said_of(&object, &first);
    match (end.error_code, end.status) {
        (Some(ErrorCode::RejectedByUser), _) => {
            let said = if first.is_empty() { String::new() } else { format!(": “{first}”") };
            // A plan that is sent back comes with what should be different.
            let is_sent_back = call.tool == PLAN && !first.is_empty();
            let no = if is_sent_back { "changes requested" } else { "you said no" };
            match has_room(&said) && lines.clone().next().is_none() {
                true => (dim(format!("{no}{said}")), String::new()),
                false => (dim(no.to_owned()), text.to_owned()),
            }
        }
        (Some(code), _) if is_refusal(code) => (dim("not allowed".to_owned()), text.to_owned()),
        (Some(ErrorCode::Interrupted), CallStatus::Cancelled) => (dim(NOT_RUN.to_owned()), String::new()),
        (_, CallStatus::Cancelled) => {
            let after = (end.duration_ms >= 1000).then(|| format!(" after {}", figures::clock(end.duration_ms)));
            // An agent does not end with the call that waits for it: it is paused, or works on.
            let waits = [SPAWN, WAIT].contains(&call.tool.as_str()) || call.tool.starts_with("agent__");
            let what = if waits { "no longer waited for" } else { "cancelled by you" };
            (dim(format!("{what}{}", after.unwrap_or_default())), String::new())
        }
        (Some(ErrorCode::Interrupted), _) => (Some((INTERRUPTED.to_owned(), theme.warning)), rest()),
        (Some(ErrorCode::SandboxDenied), _) => (bad("blocked by the sandbox"), cut_short(end).unwrap_or_default()),
        (Some(ErrorCode::CommandTimedOut), _) => (bad("timed out"), cut_short(end).unwrap_or_default()),
        _ if went_wrong(end) => (bad(&format!("exit {}", exit_code(end).unwrap_or_default())), String::new()),
        (_, CallStatus::Error) if has_room(said) && !said.is_empty() => (bad(said), rest()),
        // Its first part, where that is enough to understand the rest.
        (_, CallStatus::Error) => {
            let parts = text.trim().split_once("; ").map(|(part, rest)| (said_of(&object, part), rest));
            match parts.filter(|(part, _)| has_room(part)) {
                Some((part, rest)) if !part.contains('\n') => (bad(&clean_line(part)), rest.to_owned()),
                _ => (bad("failed"), text.to_owned()),
            }
        }
        _ if has_started(end) => (dim("started".to_owned()), String::new()),
        _ => match &end.display {
            Some(Display::List { total, .. }) => (dim(format!("{total} found")), String::new()),
            Some(Display::Terminal { background: Some(id), .. }) => {
                (dim(format!("sent to the background as {}", clean_line(id))), String::new())
            }
            _ => (figures_of(call).and_then(dim), String::new()),
        },
    }
}

/// What is said of `object`, which stands before it already.
fn said_of<'a>(object: &str, words: &'a str) -> &'a str {
    words.strip_prefix(object).and_then(|said| said.strip_prefix(' ')).unwrap_or(words)
}

/// Whether a command was run and says itself that it failed.
fn went_wrong(end: &ToolCallEnd) -> bool {
    exit_code(end).is_some_and(|code| code != 0)
}

fn exit_code(end: &ToolCallEnd) -> Option<i32> {
    match end.display {
        Some(Display::Terminal { exit_code, .. }) => exit_code,
        _ => None,
    }
}

/// What hangs below the row of a call that is over; `rest` is what is left to say of why it failed.
fn ended_body(end: &ToolCallEnd, rest: String, fold: Fold, with: Drawn<'_>) -> Vec<Line<'static>> {
    let Drawn { width, theme, .. } = with;
    let failed = end.status == CallStatus::Error;
    match &end.display {
        Some(Display::Terminal { tail, background, .. }) if fold == Fold::Short => {
            let mut rows = match (failed || went_wrong(end), background) {
                (true, _) => failed_output(end, tail, width, theme),
                (false, None) => Tail::end_of(tail, all_lines(end)).rows(width, OUTPUT_ROWS, theme),
                // What it prints is seen in the list of those that go on.
                (false, Some(_)) => Vec::new(),
            };
            rows.extend(limited(&rest, width, TEXT_LINES, theme));
            rows
        }
        _ if failed => limited(&rest, width, limit(fold, TEXT_LINES), theme),
        Some(Display::Diff { files }) => changes(files, fold, with),
        Some(Display::List { items, total, .. }) if fold == Fold::Whole => list(items, *total, width, theme),
        Some(Display::Text { text }) => limited(text, width, limit(fold, TEXT_LINES), theme),
        // What the model was told is more than what is shown at first.
        Some(Display::Terminal { .. }) | None if fold == Fold::Whole => {
            limited(&for_person(end), width, usize::MAX, theme)
        }
        None => limited(&given(end).unwrap_or(rest), width, TEXT_LINES, theme),
        Some(Display::Terminal { .. } | Display::List { .. }) => limited(&rest, width, TEXT_LINES, theme),
    }
}

/// Why a command did not end by itself, beyond the word for it.
fn cut_short(end: &ToolCallEnd) -> Option<String> {
    // That it was killed says the word before it.
    end.last_note().map(clean_line).filter(|note| !note.starts_with("killed"))
}

fn limit(fold: Fold, short: usize) -> usize {
    match fold {
        Fold::Short => short,
        Fold::Whole => usize::MAX,
    }
}

/// What came of it without what is there for the model alone: what it should do now, and the marks around text
/// from outside.
fn for_person(end: &ToolCallEnd) -> String {
    let mut text = end.output.as_str();
    if let Some(code) = end.error_code {
        text = text.strip_prefix(&format!("Error {code}: ")).unwrap_or(text);
        text = text.trim_end().strip_suffix(code.for_model()).unwrap_or(text);
        // Whoever said no knows that they did; what they said with it stands.
        if code == ErrorCode::RejectedByUser {
            text = ToolCallEnd::said_in(text.trim_end()).unwrap_or_default();
        }
    }
    text.lines().filter(|line| !is_mark(line)).collect::<Vec<_>>().join("\n")
}

/// The lines that a command printed, as far as the model got them; none where that is not told apart.
fn printed(end: &ToolCallEnd) -> Option<Vec<&str>> {
    let mut lines = end.output.lines();
    lines.by_ref().find(|line| is_mark(line))?;
    Some(lines.take_while(|line| !is_mark(line)).collect())
}

/// How many lines a command printed: known when the model got all of them. What comes while it runs leaves out
/// parts of a flood.
fn all_lines(end: &ToolCallEnd) -> Option<usize> {
    printed(end).filter(|_| end.spilled_to.is_none()).map(|lines| lines.len())
}

/// What a command printed that failed: its beginning and its end.
fn failed_output(end: &ToolCallEnd, tail: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let lines = printed(end).unwrap_or_default();
    let Some(first) = lines.get(..FIRST_ROWS).filter(|_| lines.len() > FIRST_ROWS + OUTPUT_ROWS) else {
        return Tail::end_of(tail, all_lines(end)).rows(width, FIRST_ROWS + OUTPUT_ROWS, theme);
    };
    let rows = |text: &str, all: Option<usize>, limit: usize| Tail::end_of(text, all).rows(width, limit, theme);
    // What is left out is counted between the two pieces, and not by them.
    let piece = |lines: &[&str]| rows(&lines.join("\n"), Some(0), lines.len());
    let beginning = piece(first);
    let between = lines.len() - FIRST_ROWS - OUTPUT_ROWS;
    match end.spilled_to {
        Some(_) => beginning.into_iter().chain(rows(tail, None, OUTPUT_ROWS)).collect(),
        None => {
            let last = lines.get(FIRST_ROWS + between..).unwrap_or_default();
            beginning.into_iter().chain(more(between, 7, theme)).chain(piece(last)).collect()
        }
    }
}

fn changes(files: &[Diff], fold: Fold, with: Drawn<'_>) -> Vec<Line<'static>> {
    let Drawn { width, theme, .. } = with;
    let mut rows = Vec::new();
    for file in files {
        if files.len() > 1 {
            let what = if file.deleted {
                "  deleted"
            } else if file.created {
                "  new"
            } else {
                ""
            };
            let mut spans = hanging(theme).first;
            spans.extend([
                Span::raw(clean_line(&file.path)),
                Span::styled(format!("  +{}", file.added), theme.added),
                Span::styled(format!(" −{}", file.removed), theme.removed),
                Span::styled(what, theme.dim),
            ]);
            rows.push(cut(&Line::from(spans), width));
        }
        if file.deleted && fold == Fold::Short {
            continue;
        }
        let edge = vec![ledger::edge(theme)];
        let language = file.path.rsplit('.').next().unwrap_or_default();
        let limit = limit(fold, BODY_LINES);
        let look = diff::Look { theme, width, limit, edge, language, cuts: fold == Fold::Short, context: true };
        let (drawn, beyond) = diff::painted(&clean(&file.unified), look);
        rows.extend(drawn);
        rows.extend(more(beyond, 5, theme));
    }
    rows
}

fn list(items: &[String], total: u64, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let hung = |item: &String| {
        let mut line = Line::from(hanging(theme).first);
        line.push_span(Span::styled(clean_line(item), theme.dim));
        cut(&line, width)
    };
    let mut rows: Vec<Line<'static>> = items.iter().map(hung).collect();
    let beyond = usize::try_from(total).unwrap_or(usize::MAX).saturating_sub(rows.len());
    if beyond > 0 {
        rows.push(Line::from(vec![ledger::edge(theme), Span::styled(format!("       … {beyond} more"), theme.dim)]));
    }
    rows
}

/// The first `limit` lines of a text, and how many there are beyond.
fn limited(text: &str, width: usize, limit: usize, theme: &Theme) -> Vec<Line<'static>> {
    let text = clean(text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let indent = hanging(theme);
    let mut rows = Vec::new();
    for line in lines.iter().take(limit) {
        rows.extend(wrap(&Line::styled(line.replace('\t', "    "), theme.dim), width, &indent));
    }
    rows.extend(more(lines.len().saturating_sub(limit), 7, theme));
    rows
}

/// That there is more, so many columns behind the edge, and how it is seen.
fn more(beyond: usize, column: usize, theme: &Theme) -> Option<Line<'static>> {
    let words = || format!("{}… {} · Ctrl-O", " ".repeat(column), figures::count(beyond, "more line", "more lines"));
    (beyond > 0).then(|| Line::from(vec![ledger::edge(theme), Span::styled(words(), theme.dim)]))
}
