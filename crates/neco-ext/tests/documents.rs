//! The examples of the documentation are read as hooks.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs, reason = "tests")]

use neco_config::section::HooksSection;
use neco_ext::hooks::{Origin, Printed, parse, read};
use neco_proto::event::{HookEvent, HookOutcome};
use neco_safety::world::Exit;

const PAGE: &str = include_str!("../../../docs/safety/hooks.md");

fn blocks(kind: &str) -> Vec<String> {
    let start = format!("```{kind}\n");
    PAGE.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_example_is_what_it_says() {
    let json = blocks("json");
    let (hooks, notices) = parse(json[0].as_bytes(), &Origin::User { file: "x".into() });
    assert_eq!((hooks.len(), notices.len()), (1, 0), "{notices:?}");
    let printed = Printed { stdout: json[1].clone().into_bytes(), ..Printed::default() };
    assert_eq!(read(HookEvent::PreToolUse, Exit::Code(0), &printed).outcome, HookOutcome::Blocked);
    #[derive(serde::Deserialize)]
    struct Config {
        hooks: HooksSection,
    }
    let config: Config = toml::from_str(&blocks("toml")[0]).unwrap();
    assert_eq!((config.hooks.pre_tool_use.len(), config.hooks.stop.len()), (1, 1));
}

#[test]
fn every_event_is_in_the_table() {
    for event in HookEvent::ALL {
        let row = PAGE.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{event}`")));
        assert!(row.is_some(), "{event} is not in the table");
    }
}
