//! Plans that sessions left unfinished, as lines.

use std::fmt::Write;

use jiff::Timestamp;
use neco_proto::app::plans::UnfinishedPlan;
use neco_proto::clean::{clean, clean_line};

use crate::figures::ago;
use crate::paint::wrap::fitting;
use crate::short_id::short_id;

/// The plans of a folder, or of all of them.
pub fn as_lines(plans: &[UnfinishedPlan], all: bool, now: Timestamp) -> String {
    if plans.is_empty() {
        return format!("no unfinished plans{}\n", if all { "" } else { " in this folder" });
    }
    let mut text = String::new();
    for plan in plans {
        let place = if all { format!("  {}", clean_line(&plan.cwd)) } else { String::new() };
        let (id, when) = (short_id(plan.session), ago(plan.saved_ms, now));
        let _ = writeln!(text, "{id}  {when}  {}  {}{place}", plan.progress(), title(plan));
    }
    text
}

/// What a plan is called by: its first open step, or how it begins.
pub fn title(plan: &UnfinishedPlan) -> String {
    let open = plan.plan.steps.iter().find(|step| !step.done).map(|step| step.text.as_str());
    let first = || plan.plan.text.lines().map(str::trim).find(|line| !line.is_empty());
    fitting(&clean_line(open.or_else(first).unwrap_or_default()), 70)
}

/// A plan with its steps and what was found out.
pub fn whole(plan: &UnfinishedPlan, now: Timestamp) -> String {
    let whose = if plan.plan.unseen { "not seen by anyone yet" } else { "accepted" };
    let mut text = format!(
        "session {} · {} · {whose} · {}, {}\n\n{}\n",
        short_id(plan.session),
        clean_line(&plan.cwd),
        plan.progress(),
        ago(plan.saved_ms, now),
        clean(plan.plan.text.trim()),
    );
    if !plan.plan.steps.is_empty() {
        text.push('\n');
    }
    for step in &plan.plan.steps {
        let _ = writeln!(text, "{} {}. {}", if step.done { "✓" } else { "○" }, step.id, clean_line(&step.text));
    }
    if !plan.findings.is_empty() {
        text.push_str("\nFound out:\n");
    }
    plan.findings.iter().for_each(|finding| text.push_str(&format!("- {}\n", clean_line(finding))));
    text
}
