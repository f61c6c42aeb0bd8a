//! The steps of a plan, found in its markdown.

use neco_proto::PlanStep;

/// Steps that are told apart.
const MOST: usize = 50;
/// Characters of a step's text.
const LONGEST: usize = 200;

/// Words in a heading above what is not to be done.
const ASIDE: &[&str] =
    &["question", "decide", "decision", "risk", "alternative", "out of scope", "note", "问题", "待定", "风险", "决定"];

/// The steps of a plan: its outermost numbered items, or its checkboxes where nothing is numbered, or
/// else its outermost bullets. What stands in code or under a heading of questions is no step.
pub fn steps(plan: &str) -> Vec<PlanStep> {
    let lines = lines(plan);
    let kinds: [fn(&str) -> Option<&str>; 3] = [numbered, checkbox, bullet];
    let found = kinds.iter().map(|kind| of_kind(&lines, *kind)).find(|found| !found.is_empty()).unwrap_or_default();
    let step = |(index, (done, text)): (usize, (bool, String))| PlanStep { id: (index + 1).to_string(), text, done };
    found.into_iter().take(MOST).enumerate().map(step).collect()
}

/// The lines that may be steps.
fn lines(plan: &str) -> Vec<&str> {
    let (mut in_code, mut aside) = (false, false);
    let mut lines = Vec::new();
    for line in plan.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && line.starts_with('#') {
            let heading = line.to_lowercase();
            aside = ASIDE.iter().any(|word| heading.contains(word));
        } else if !in_code && !aside {
            lines.push(line);
        }
    }
    lines
}

/// What is to be done and whether it is.
fn of_kind(lines: &[&str], kind: fn(&str) -> Option<&str>) -> Vec<(bool, String)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let items = || lines.iter().filter_map(|line| Some((indent(line), kind(line.trim_start())?)));
    let outermost = items().map(|(indent, _)| indent).min().unwrap_or_default();
    items()
        .filter(|(indent, _)| *indent == outermost)
        .map(|(_, text)| match checkbox_text(text) {
            Some((done, text)) => (done, plain(text)),
            None => (false, plain(text)),
        })
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

/// `1. text` or `1) text`, with a checkbox or without.
fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let after = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).or_else(|| rest.strip_prefix('、'))?;
    (rest.len() < line.len()).then_some(after)
}

fn checkbox(line: &str) -> Option<&str> {
    bullet(line).filter(|text| checkbox_text(text).is_some())
}

/// Whether the box is ticked, and what stands behind it.
fn checkbox_text(text: &str) -> Option<(bool, &str)> {
    let marks = [("[ ] ", false), ("[x] ", true), ("[X] ", true)];
    marks.iter().find_map(|(mark, done)| Some((*done, text.trim_start().strip_prefix(mark)?)))
}

fn bullet(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark))
}

fn plain(text: &str) -> String {
    let text = text.replace("**", "");
    let text = text.trim();
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let cut: String = text.chars().take(LONGEST - 1).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_as_people_write_them() {
        for (plan, expected) in [
            (
                "# Plan\n1. **Look** at a.rs\n   - detail\n2. Change it\n\nThen done.",
                &["Look at a.rs", "Change it"][..],
            ),
            ("1) one\n2) two\n  1) nested", &["one", "two"]),
            ("- [ ] one\n- [x] two\n- a remark", &["one", "two"]),
            ("* one\n* two", &["one", "two"]),
            ("1、看代码\n2、改代码", &["看代码", "改代码"]),
            ("1. one\n```\n2. not a step\n```\n## Open questions\n1. Which?\n## Steps\n2. two", &["one", "two"]),
            ("## Phase 1\n1. a\n## Phase 2\n1. b", &["a", "b"]),
            ("Just do it.", &[]),
            ("", &[]),
        ] {
            let found: Vec<String> = steps(plan).into_iter().map(|step| step.text).collect();
            assert_eq!(found, expected, "{plan}");
        }
    }

    #[test]
    fn steps_are_counted_and_never_too_long() {
        let plan: String = (0..80).map(|number| format!("1. {} {number}\n", "x".repeat(300))).collect();
        let found = steps(&plan);
        assert_eq!((found.len(), found[1].id.as_str()), (MOST, "2"));
        assert!(found.iter().all(|step| step.text.chars().count() <= LONGEST && !step.done));
    }
}
