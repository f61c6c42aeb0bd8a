//! Policy files of another agent, as it ships them. They are read in place and not copied; where
//! they are absent, that is said and nothing is checked.

use std::path::{Path, PathBuf};

use neco_proto::{ApprovalMode, Mode};
use neco_safety::policy::{RuleReader, Source};
use neco_safety::{Confinement, Policy, Ruling, Who};
use serde_json::json;

use crate::support::{Call, judge, place};

fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/outside");
    let folder = std::env::var_os("NECO_OUTSIDE_DATA").map_or_else(beside, PathBuf::from).join("policy");
    if !folder.is_dir() {
        println!("NOT RUN: there are no policy files; set NECO_OUTSIDE_DATA to the folder that holds policy/");
    }
    folder.is_dir().then_some(folder)
}

fn load(folder: &Path, files: &[&str]) -> Policy {
    let place = place();
    let mut rules = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(folder.join(format!("{file}.toml"))).unwrap();
        let read = RuleReader { place: &place }.file(&text, file, Source::User);
        assert_eq!(read.problems, [], "{file}");
        rules.extend(read.rules);
    }
    Policy::new(place, rules)
}

fn who(mode: Mode, approval: ApprovalMode, person_present: bool) -> Who<'static> {
    Who { mode, approval, person_present, role: Who::ROOT, confinement: Confinement::Boxed, network: true }
}

fn their(tool: &str) -> Call {
    Call::other(tool, json!({}))
}

const DEFAULT: (Mode, ApprovalMode) = (Mode::Agent, ApprovalMode::AskFirst);
const YOLO: (Mode, ApprovalMode) = (Mode::Agent, ApprovalMode::Auto);
const PLAN: (Mode, ApprovalMode) = (Mode::Plan, ApprovalMode::AskFirst);

#[test]
fn all_of_them_load() {
    let Some(folder) = folder() else { return };
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() >= 9, "{names:?}");
    load(&folder, &names.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn each_decides_as_its_comments_say() {
    use Ruling::{Allow, Ask, Deny};
    let Some(folder) = folder() else { return };
    let plan = |path: &str| Call::write(path);
    let investigator = Call::other("invoke_agent", json!({ "agent_name": "codebase_investigator" }));
    let painter = Call::other("invoke_agent", json!({ "agent_name": "painter" }));
    let credentials = Call::read("gha-creds-1234.json");
    type Row<'a> = (&'a [&'a str], Call, (Mode, ApprovalMode), bool, Ruling);
    let table: Vec<Row<'_>> = vec![
        (&["agents"], their("invoke_agent"), DEFAULT, true, Allow),
        (&["agents"], their("invoke_agent"), YOLO, false, Allow),
        (&["discovered"], their("discovered_tool_x"), DEFAULT, true, Ask),
        (&["discovered"], their("discovered_tool_x"), YOLO, false, Deny),
        (&["non-interactive", "yolo"], their("ask_user"), YOLO, false, Deny),
        (&["yolo"], their("ask_user"), YOLO, true, Ask),
        (&["yolo"], their("enter_plan_mode"), YOLO, true, Deny),
        (&["yolo"], their("anything"), YOLO, true, Allow),
        (&["yolo"], Call::bash("make > log.txt"), YOLO, false, Allow),
        (&["yolo"], Call::bash("make"), DEFAULT, true, Ask),
        (&["read-only"], Call::read("a"), DEFAULT, true, Allow),
        (&["read-only"], their("update_topic"), DEFAULT, false, Allow),
        (&["write"], Call::write("a"), DEFAULT, true, Ask),
        (&["write"], Call::write("a"), DEFAULT, false, Deny),
        (&["write"], Call::write("a"), YOLO, true, Allow),
        (&["write"], Call::bash("make"), DEFAULT, true, Ask),
        (&["write"], Call::bash("make"), DEFAULT, false, Deny),
        (&["plan"], their("enter_plan_mode"), DEFAULT, true, Ask),
        (&["plan"], their("enter_plan_mode"), DEFAULT, false, Allow),
        (&["plan"], their("enter_plan_mode"), PLAN, true, Deny),
        (&["plan"], their("exit_plan_mode"), PLAN, true, Ask),
        (&["plan"], their("exit_plan_mode"), PLAN, false, Allow),
        (&["plan"], their("exit_plan_mode"), DEFAULT, true, Deny),
        (&["plan"], their("activate_skill"), PLAN, true, Ask),
        (&["plan"], their("anything"), PLAN, true, Deny),
        (&["plan"], Call::bash("ls"), PLAN, true, Deny),
        (&["plan"], investigator, PLAN, true, Allow),
        (&["plan"], painter, PLAN, true, Deny),
        (&["plan"], plan("plan.md"), PLAN, true, Allow),
        (&["plan"], plan("./plans/one.md"), PLAN, true, Allow),
        (&["plan"], plan(".gemini/tmp/abc/plans/one.md"), PLAN, true, Allow),
        (&["plan"], plan("/home/me/.gemini/tmp/abc/session/plans/one.md"), PLAN, true, Allow),
        (&["plan"], plan("src/a.rs"), PLAN, true, Deny),
        (&["plan"], plan("../plan.md"), PLAN, true, Deny),
        (&["plan"], plan("plans/../../x.md"), PLAN, true, Deny),
        (&["plan", "read-only"], Call::read("a"), PLAN, true, Allow),
        (&["sandbox-default"], credentials, DEFAULT, true, Deny),
        (&["sandbox-default"], Call::bash("cat gha-creds-1.json"), YOLO, true, Deny),
        (&["sandbox-default"], Call::read("a"), DEFAULT, true, Allow),
        (&["sandbox-default", "read-only", "yolo"], Call::read("gha-creds-1234.json"), DEFAULT, true, Deny),
        (&["sandbox-default", "read-only", "yolo"], Call::bash("cat gha-creds-1.json"), YOLO, true, Deny),
        (&["conseca"], Call::read("a"), DEFAULT, true, Allow),
    ];
    for (files, call, (mode, approval), person, expected) in table {
        let verdict = judge(&load(&folder, files), &call, &who(mode, approval, person));
        assert_eq!(verdict.ruling, expected, "{files:?} {call:?} {mode} {approval} {person}: {}", verdict.reason);
    }
    let annotated = Call::other("mcp__x__look", json!({})).reads();
    let verdict = judge(&load(&folder, &["plan"]), &annotated, &who(PLAN.0, PLAN.1, true));
    assert_eq!(verdict.ruling, Ask, "a tool of a server that only reads: {}", verdict.reason);
}

#[test]
fn what_means_nothing_here_is_told() {
    let Some(folder) = folder() else { return };
    let place = place();
    for (file, words) in [("conseca", "safety checkers are programs"), ("sandbox-default", "[sandbox] in config.toml")]
    {
        let text = std::fs::read_to_string(folder.join(format!("{file}.toml"))).unwrap();
        let read = RuleReader { place: &place }.file(&text, file, Source::User);
        assert!(read.warnings.iter().any(|warning| warning.message.contains(words)), "{:?}", read.warnings);
    }
}
