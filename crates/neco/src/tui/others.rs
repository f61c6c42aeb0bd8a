//! The offer to take over the set-ups of other agents: made at the first start, answered by a key, and remembered.

use std::fs;
use std::path::Path;

use neco_app::services;
use neco_app::setups::of_person;
use neco_config::Env;
use neco_proto::app::Known;
use neco_proto::app::setups::{ImportSetup, PreviewSetup, SetupAgent, SetupOutcome, SetupReport};
use neco_tui::line::ask::question::Typed;
use neco_tui::line::ask::screens::{Shown, USUAL_SIZE, in_screens, rows};
use neco_view::paint::lists::setups;

use crate::args::EverywhereArgs;
use crate::ask::Tty;
use crate::cmd::program::{ask_of, with_files};
use crate::compose;
use crate::failure::Failure;
use crate::say;
use crate::signals::Signal;
use crate::terminal::is_unattended;

/// The file in the data folder that keeps what was answered.
const ANSWERED: &str = "other-agents";

/// What it holds where the next start asks again; anything else is an answer for good.
const LATER: &str = "later";

/// How often it is asked for a key that is one of those that are named.
const TRIES: usize = 3;

/// What is typed for Ctrl-C and for Esc.
const INTERRUPT: char = '\u{3}';
const ESCAPE: char = '\u{1b}';

/// What a person wants done about the set-ups that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Take them over.
    Take,
    /// Ask again at the next start.
    Later,
    /// Never ask again.
    Never,
}

/// Offers at the first start to take over what other agents on this machine are set up with, and again at the next one as
/// long as the answer is “later”. Where nobody can be asked, one line says how it is done.
pub fn offer_others(folder: &Path, everywhere: &EverywhereArgs, env: &Env) {
    let file = env.data_dir().join(ANSWERED);
    let is_due = match fs::read_to_string(&file) {
        Ok(answered) => answered.trim() == LATER,
        Err(_) => !env.data_dir().join(services::STORE_FILE).exists(),
    };
    let agents = if is_due { of_person(env) } else { Vec::new() };
    if agents.is_empty() {
        return;
    }
    let titles: Vec<&str> = agents.iter().copied().map(SetupAgent::title).collect();
    let Some(tty) = (!is_unattended(env)).then(Tty::open).flatten() else {
        return say::note(&setups::offer(&titles));
    };
    let answer = match asked(&tty, &titles) {
        Answer::Take => match taken(&tty, &agents, folder, everywhere, env) {
            Ok(answer) => answer,
            Err(failure) => {
                say::failure(&failure);
                say::note("Nothing more was taken over; `neco import` does it later");
                Answer::Later
            }
        },
        answer => answer,
    };
    let told = match answer {
        Answer::Take => "taken",
        Answer::Later => LATER,
        Answer::Never => "never",
    };
    let kept = fs::create_dir_all(env.data_dir()).and_then(|()| fs::write(&file, format!("{told}\n")));
    if let Err(error) = kept {
        tracing::warn!(%error, "what was answered about other agents is not kept");
    }
}

/// What a person says to the offer. Whoever can't be read, or types something else again and again, is asked later.
fn asked(tty: &Tty, titles: &[&str]) -> Answer {
    let width = tty.size().unwrap_or(USUAL_SIZE).1;
    let mut question = format!("{} ", rows(&setups::question(titles), width).join("\n"));
    for _ in 0..TRIES {
        match key(tty, &question) {
            Some('y' | 'Y') => return Answer::Take,
            Some('n' | 'N') => return Answer::Never,
            Some('l' | 'L' | ESCAPE | '\r' | '\n') | None => return Answer::Later,
            Some(_) => question = "y, l or n? ".to_owned(),
        }
    }
    Answer::Later
}

/// Shows what would be taken over, and does it where the person still wants it.
fn taken(
    tty: &Tty,
    agents: &[SetupAgent],
    folder: &Path,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Answer, Failure> {
    let folder = folder.display().to_string();
    let reports = with_files(everywhere, env, async |app| {
        let mut reports = Vec::new();
        for agent in agents {
            let preview = PreviewSetup { agent: *agent, folder: folder.clone(), sessions: false };
            reports.push(ask_of(app, &preview).await?);
        }
        Ok(reports)
    })?;
    let (height, width) = tty.size().unwrap_or(USUAL_SIZE);
    let shown: String = agents
        .iter()
        .zip(&reports)
        .map(|(agent, report)| format!("{}\n", setups::as_lines(report, agent.title())))
        .collect();
    let rest = match in_screens(tty, &rows(shown.trim_end(), width), height, "goes back") {
        Ok(Shown::Rest(rest)) => rest,
        Ok(Shown::Left | Shown::Nobody) => return Ok(Answer::Later),
        Err(signal) => return leave(signal),
    };
    if !reports.iter().any(brings_something) {
        say::out(&format!("{rest}\nNothing has to be taken over.\n"))?;
        return Ok(Answer::Take);
    }
    if !matches!(key(tty, &format!("{rest}\nTake this over?  y yes   any other key later ")), Some('y' | 'Y')) {
        return Ok(Answer::Later);
    }
    with_files(everywhere, env, async |app| {
        for agent in agents {
            let import = ImportSetup { agent: *agent, folder: folder.clone(), sessions: false };
            let report = ask_of(app, &import).await?;
            say::out(&setups::in_one_line(&report, agent.title()))?;
        }
        Ok(Answer::Take)
    })
}

/// Whether anything of it would be written.
fn brings_something(report: &SetupReport) -> bool {
    let is_taken = |outcome| matches!(outcome, Known::This(SetupOutcome::Taken | SetupOutcome::Changed));
    report.rows.iter().any(|row| is_taken(row.outcome.clone()))
}

/// The key that is pressed; nothing where nobody can be read. Ctrl-C leaves.
fn key(tty: &Tty, question: &str) -> Option<char> {
    match tty.ask_key(question)? {
        Typed::Key(INTERRUPT) => {
            compose::quit(Signal::Interrupt);
            None
        }
        Typed::Key(key) => Some(key),
        Typed::End => None,
        _ => Some('?'),
    }
}

fn leave(signal: Signal) -> Result<Answer, Failure> {
    compose::quit(signal);
    Ok(Answer::Later)
}
