//! Blocks that are told in a line or a few, with their marks.

use neco_proto::agent_ask::stopped;
use neco_proto::clean::{clean, clean_line};
use neco_proto::event::{Admission, AgentNode, Down, Letter, NodeState, NotificationLevel, Up};

use super::{card, plan, workflow};
use crate::figures;
use crate::paint::colour::Paint;
use crate::reduce::agents::Agents;
use crate::reduce::block::{AgentLetter, AgentMove, AgentStep, BlockBody, Said};
use crate::wording::agents::{doing, in_one_line};
use crate::wording::notices;

/// The longest line of an agent, in characters.
const LONGEST: usize = 160;

/// A block that is one line, which may be broken between words; nothing for every other.
pub fn line(body: &BlockBody, paint: Paint) -> Option<String> {
    let info = |text: &str| Some(paint.dim(&format!("i {text}")));
    match body {
        BlockBody::Notification(told) => {
            let text = clean_line(&told.text);
            match told.level {
                NotificationLevel::Info => info(&text),
                NotificationLevel::Warning => Some(paint.yellow(&format!("! {text}"))),
            }
        }
        BlockBody::ModeChange(change) => plan::mode_change(change, paint),
        BlockBody::HookRun(run) => card::hook(run, paint),
        BlockBody::RulesTold(told) => info(&clean_line(&told.words())),
        BlockBody::SkillUsed(used) => info(&clean_line(&used.words())),
        BlockBody::PiecesGiven(given) => info(&clean_line(&given.words())),
        BlockBody::Compaction(compaction) => info(&notices::compaction(compaction)),
        BlockBody::Rewind(went) => info(&notices::rewind(&went.rewind)),
        BlockBody::Imported(imported) => info(&notices::imported(imported)),
        BlockBody::Error(error) => Some(paint.red(&format!("✗ error {}: {}", error.code, clean_line(&error.message)))),
        _ => None,
    }
}

/// A block that is a few lines, each as it is; nothing for every other.
pub fn lines(body: &BlockBody, paint: Paint) -> Vec<String> {
    match body {
        BlockBody::Todos(update) => plan::todos(&update.todos, paint),
        BlockBody::Plan(planned) => plan::planned(planned, paint),
        BlockBody::Stop(stop) => stopped(stop).map(|words| paint.yellow(&format!("‖ {words}"))).into_iter().collect(),
        BlockBody::Agent(step) => vec![agent(step, paint)],
        BlockBody::Letter(letter) => letter_line(letter, paint).into_iter().collect(),
        BlockBody::Workflow(step) => workflow::step(step, paint),
        _ => Vec::new(),
    }
}

/// What a person said, and when the agent reads it.
pub fn said(said: &Said, paint: Paint) -> String {
    let lines: Vec<String> = clean(&said.text).trim().lines().map(|line| format!("> {line}")).collect();
    let words = paint.bold(&lines.join("\n"));
    let when = match said.waits {
        None => return words,
        Some(Admission::TurnBoundary) => "(the agent reads it at its next turn)",
        Some(Admission::AfterWork) => "(the agent reads it after the work)",
        Some(Admission::Withdrawn) => "(taken back: the agent does not read it)",
    };
    format!("{words} {}", paint.dim(when))
}

/// What those below the root who work do, in one line; nothing when nobody works.
pub fn at_work(agents: &Agents) -> Option<String> {
    let mut working = agents.working();
    let first = working.next()?;
    let more = match working.count() {
        0 => String::new(),
        more => format!(" (+{more} more)"),
    };
    let doing = doing(first, agents);
    let doing = if doing.is_empty() { doing } else { format!(": {doing}") };
    Some(shortened(&format!("⊕ {}{more}{doing}", clean_line(&first.name))))
}

fn agent(AgentStep { did, depth, node, .. }: &AgentStep, paint: Paint) -> String {
    let name = clean_line(&node.name);
    let line = match (did, node.state) {
        (AgentMove::Began, _) => paint.cyan(&format!("⊕ {name} · {}", shortened(&clean_line(&node.task_for_people())))),
        (AgentMove::WentOn, _) => paint.dim(&format!("⊕ {name} is resumed")),
        (AgentMove::Paused, _) => paint.yellow(&format!("‖ {name} is paused")),
        (AgentMove::Ended, NodeState::Failed) => paint.red(&ended("✗", node)),
        (AgentMove::Ended, NodeState::Cancelled) => paint.dim(&ended("–", node)),
        (AgentMove::Ended, _) => paint.green(&ended("✓", node)),
    };
    format!("{}{line}", "  ".repeat(*depth))
}

fn ended(mark: &str, node: &AgentNode) -> String {
    let result = node.result.as_ref().map(notices::result).unwrap_or_else(|| "stopped".to_owned());
    let first = in_one_line(result.trim().lines().next().unwrap_or_default());
    let mut parts = vec![format!("{mark} {}", clean_line(&node.name)), shortened(&first)];
    parts.extend(figures::usage(&node.subtree_usage));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn letter_line(AgentLetter { name, depth, letter, .. }: &AgentLetter, paint: Paint) -> Option<String> {
    let (name, said) = (clean_line(name), |text: &str| shortened(&clean_line(text)));
    let line = match letter {
        Letter::Up(Up::Report { progress, message }) => {
            paint.dim(&format!("· {name} {:.0} %: {}", progress * 100.0, said(message)))
        }
        Letter::Up(Up::Question { text }) => paint.yellow(&format!("? {name}: {}", said(text))),
        Letter::Up(Up::Stopped { why, .. }) => paint.yellow(&format!("! {name}: {}", said(why))),
        Letter::Up(Up::Ended { .. }) => return None,
        Letter::Down(Down::Task { text } | Down::Redirect { text } | Down::Answer { text }) => {
            paint.dim(&format!("› {name}: {}", said(text)))
        }
    };
    Some(format!("{}{line}", "  ".repeat(*depth)))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
