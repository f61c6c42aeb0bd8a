//! The skills that there are, as lines.

use std::fmt::Write;
use std::path::Path;

use neco_proto::app::agents::Problem;
use neco_proto::app::skills::{ShownSkill, SkillList, SkillRow};
use neco_proto::clean::{clean, clean_line};

use super::sessions::below_home;
use crate::figures::count;
use crate::paint::wrap::{columns, fitting};

/// Columns of a description in the list.
const DESCRIPTION: usize = 90;

/// One line for each skill; `home` is shown as `~`.
pub fn as_lines(list: &SkillList, home: &Path) -> String {
    if list.skills.is_empty() && list.broken.is_empty() {
        return "No skills. `neco skill new NAME` writes one, `neco skill add FOLDER|ADDRESS` copies one.\n".to_owned();
    }
    let widest = list.skills.iter().map(|one| columns(&one.name)).max().unwrap_or_default();
    let mut text = String::new();
    for one in &list.skills {
        let gap = " ".repeat(widest.saturating_sub(columns(&one.name)) + 2);
        let description = fitting(&clean_line(&one.description), DESCRIPTION);
        let _ = writeln!(text, "{}{gap}{description}  ({})", one.name, below_home(&one.file, home));
        let from = one.source.as_ref().map(|from| format!("added from {}", clean_line(from)));
        for words in standing(one, home).into_iter().chain(from) {
            let _ = writeln!(text, "{}{words}", " ".repeat(widest + 2));
        }
    }
    text.push_str(&broken(&list.broken, ""));
    text
}

/// Skills that can't be used, a line each below their number; nothing where there are none.
pub fn broken(problems: &[Problem], indent: &str) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let line = |one: &Problem| format!("{indent}  {}:{}: {}\n", clean_line(&one.file), one.line, clean_line(&one.what));
    let lines: String = problems.iter().map(line).collect();
    format!("{indent}{} can't be used:\n{lines}", count(problems.len() as u64, "skill"))
}

/// What a skill is for, behind what is to be known of it besides.
pub fn in_short(one: &SkillRow, home: &Path) -> String {
    let description = clean_line(&one.description);
    standing(one, home).map_or_else(|| description.clone(), |words| format!("{words} · {description}"))
}

/// What is to be known of a skill besides; nothing where it is used by whoever likes.
fn standing(one: &SkillRow, home: &Path) -> Option<String> {
    if let Some(by) = &one.shadowed_by {
        return Some(format!("shadowed: {} has the same name and is nearer", below_home(by, home)));
    }
    if one.off {
        return Some(format!("off: `neco skill enable {}` switches it on", one.name));
    }
    match (one.trusted, one.by_model, one.by_person) {
        (false, ..) => Some("off: not trusted as it is; `neco trust` or /trust shows it".to_owned()),
        (true, false, _) => Some(format!("only you use it: /{} or ${} in a message", one.name, one.name)),
        (true, true, false) => Some("only the model uses it".to_owned()),
        (true, true, true) => None,
    }
}

/// All of a skill.
pub fn whole(shown: &ShownSkill, home: &Path) -> String {
    let skill = &shown.skill;
    let mut text = format!("{}\n{}\n", skill.name, clean(&skill.description));
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<9} {}", clean_line(&value));
        }
    };
    line("from", below_home(&skill.file, home));
    line("", standing(skill, home).unwrap_or_default());
    line("use", format!("/{} {}", skill.name, skill.argument).trim_end().to_owned());
    let tools = shown.allowed_tools.as_ref().map(|tools| match tools.is_empty() {
        true => "none while it is in use".to_owned(),
        false => format!("only {} while it is in use", tools.join(", ")),
    });
    line("tools", tools.unwrap_or_default());
    line("model", shown.model.clone().unwrap_or_default());
    line("agent", shown.agent.clone().unwrap_or_default());
    line("hooks", if shown.hooks { "it brings some".to_owned() } else { String::new() });
    line("files", shown.files.join(", "));
    let _ = write!(text, "\n{}\n", clean(&shown.text));
    text
}
