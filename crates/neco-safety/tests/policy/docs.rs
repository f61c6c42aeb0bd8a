//! The examples of the guide are rules that can be read, and cases that come out.

use neco_safety::Ruling;
use neco_safety::policy::{RuleReader, Source, read_cases};

use crate::support::{Call, judge, place, who};

/// The blocks of a kind in the guide.
fn blocks(kind: &str) -> Vec<String> {
    let guide = include_str!("../../../../docs/safety/policy.md");
    let mut blocks = Vec::new();
    let mut inside: Option<String> = None;
    for line in guide.lines() {
        match &mut inside {
            Some(_) if line == "```" => blocks.extend(inside.take()),
            Some(block) => block.push_str(&format!("{line}\n")),
            None if line == format!("```{kind}") => inside = Some(String::new()),
            None => {}
        }
    }
    blocks
}

#[test]
fn every_rule_of_the_guide_can_be_read() {
    let place = place();
    let reader = RuleReader { place: &place };
    let blocks = blocks("toml");
    assert!(blocks.len() >= 3, "{}", blocks.len());
    for block in blocks {
        if block.contains("[[case]]") {
            let cases = read_cases(&block, "guide").unwrap();
            assert!(!cases.is_empty());
            continue;
        }
        // In settings the same rules stand under another name.
        let text = block.replace("[[policy.rules]]", "[[rule]]");
        let read = reader.file(&text, "guide", Source::User);
        assert_eq!((read.problems, read.warnings), (vec![], vec![]), "{block}");
        assert!(!read.rules.is_empty(), "{block}");
    }
}

#[test]
fn the_cases_of_the_guide_come_out_by_its_first_rules() {
    let place = place();
    let first = blocks("toml").into_iter().next().unwrap();
    let rules = RuleReader { place: &place }.file(&first, "guide", Source::User).rules;
    let policy = neco_safety::Policy::new(place, rules);
    let cases = blocks("toml").into_iter().find(|block| block.contains("[[case]]")).unwrap();
    for case in read_cases(&cases, "guide").unwrap() {
        let text = |name: &str| case.args.get(name).and_then(|value| value.as_str()).map(str::to_owned);
        let call = match (text("command"), text("path")) {
            (Some(command), _) => Call::bash(&command),
            (None, Some(path)) if case.tool == "read_file" => Call::read(&path),
            (None, path) => Call::write(&path.unwrap_or_default()),
        };
        let verdict = judge(&policy, &call, &who());
        assert_eq!(verdict.ruling, case.expect, "{}: {}", case.place, verdict.reason);
    }
    for flag in
        ["bash(cargo test *)", "edit(src/**)", "{ tool = \"bash\", line = \"git reset --hard\", risk = \"critical\" }"]
    {
        let place = crate::support::place();
        let read = RuleReader { place: &place }.flag(Ruling::Allow, flag);
        assert_eq!(read.problems, [], "{flag}");
        assert!(include_str!("../../../../docs/safety/policy.md").contains(flag), "the guide shows {flag}");
    }
}
