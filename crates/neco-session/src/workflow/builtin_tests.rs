//! The workflows that are built in: they can be run, and a delivery goes its ways.

use std::collections::BTreeMap;

use neco_model::SetupError;
use neco_proto::ErrorCode;
use neco_toolkit::ToolError;
use serde_json::{Value, json};

use super::*;

#[test]
fn the_built_in_workflows_can_be_run_and_the_folders_own_do_not_replace_them() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let put = |name: &str, text: &str| {
        std::fs::create_dir_all(root.join(".neco/workflows")).unwrap();
        std::fs::write(root.join(".neco/workflows").join(name), text).unwrap();
    };
    put("mine.yaml", "{ name: mine, tasks: [{ id: a, command: x }] }");
    put("delivery.toml", "name = 'delivery'\n[[tasks]]\nid = 'a'\ncommand = 'evil'\n");
    put("broken.toml", "name = 3");
    let plugin = root.join("plugin");
    std::fs::create_dir(&plugin).unwrap();
    for (name, file) in [("delivery", "a.toml"), ("mine", "b.toml"), ("more", "c.toml")] {
        let text = format!("name = '{name}'\n[[tasks]]\nid = 'a'\ncommand = 'of a plugin'\n");
        std::fs::write(plugin.join(file), text).unwrap();
    }
    let of_plugin = WorkflowPlaces { plugins: vec![plugin], ..WorkflowPlaces::default() };
    let said = |name: &str| of_plugin.find(name, &root).unwrap();
    assert_eq!(said("delivery").origin.name(), "built-in", "a plugin takes the place of nothing");
    assert_eq!((said("mine").origin.name(), said("more").origin.name()), ("yours", "yours"));
    let places = WorkflowPlaces::default();
    let names: Vec<(String, &str, bool)> =
        places.list(&root).iter().map(|found| (found.name.clone(), found.origin.name(), found.file.is_ok())).collect();
    assert_eq!(
        names,
        [("delivery".into(), "built-in", true), ("broken".into(), "folder", false), ("mine".into(), "folder", true)]
    );
    let delivery = places.find("delivery", &root).unwrap().file.unwrap();
    let given =
        |check: &str| BTreeMap::from([("goal".to_owned(), json!("a door")), ("check".to_owned(), json!(check))]);
    Graph::new(&delivery, &given("make test")).unwrap();
    let roles = crate::roles::Definitions::built_in();
    let known = KnownNames {
        agent: &|role| roles.find(role).map(|_| ()),
        tool: &|name| Err(ToolError::new(ErrorCode::ToolNotFound, format!("no {name}"))),
        model: &|name| Err(SetupError::BadName(name.to_owned())),
    };
    delivery.check_names(&known).unwrap();
    assert!(Graph::new(&delivery, &BTreeMap::new()).is_err(), "a goal is needed");
    assert!(matches!(places.find("none", &root), Err(WorkflowError::Unknown { .. })));
    assert!(places.find(".neco/workflows/delivery.toml", &root).unwrap().file.is_ok());
    assert!(places.find("gone.toml", &root).unwrap().file.is_err());
}

/// What the built-in delivery says to its agents, for a verdict of the reviewer.
fn deliver(verdict: &str, check: &str) -> Vec<(String, Option<Work>)> {
    let delivery = WorkflowPlaces::default().find("delivery", std::path::Path::new("/")).unwrap().file.unwrap();
    let inputs = BTreeMap::from([("goal".to_owned(), json!("a door")), ("check".to_owned(), json!(check))]);
    let graph = Graph::new(&delivery, &inputs).unwrap();
    let mut values = Values::of(&graph);
    let mut told = Vec::new();
    let (mut schedule, moved) = Schedule::begin(&graph);
    let mut steps = moved.steps;
    while let Some(step) = steps.pop() {
        let Step::Begin(index) = step else { continue };
        let task = graph.task(index).unwrap();
        let wanted = values.wants(task).unwrap();
        let work = wanted.then(|| values.fill(task).unwrap());
        let output = match task.name.as_str() {
            "review" | "second_review" => {
                json!({ "verdict": verdict, "summary": "so so", "findings": [{ "severity": "major", "text": "it creaks" }] })
            }
            name => json!(format!("{name} said")),
        };
        values.give(task, if wanted { output } else { Value::Null }, false);
        told.push((task.name.clone(), work));
        steps.extend(schedule.on(Happened::Completed(index)).steps);
    }
    told
}

#[test]
fn the_reviewer_can_send_the_work_back_once() {
    let did = |verdict: &str, check: &str| -> Vec<String> {
        deliver(verdict, check).into_iter().filter(|(_, work)| work.is_some()).map(|(name, _)| name).collect()
    };
    assert_eq!(did("approve", ""), ["plan", "code", "review", "report"]);
    assert_eq!(did("approve", "make"), ["plan", "code", "checks", "review", "report"]);
    let back = ["plan", "code", "checks", "review", "rework", "recheck", "second_review", "report"];
    assert_eq!(did("changes", "make"), back);
    let told = deliver("changes", "make");
    let Some(Work::Agent { prompt, .. }) = told.iter().find(|(name, _)| name == "rework").unwrap().1.clone() else {
        panic!("no agent")
    };
    assert!(prompt.contains("- [major]  it creaks") && prompt.contains("make"), "{prompt}");
}

#[test]
fn work_that_is_sent_back_twice_is_not_delivered() {
    let delivery = WorkflowPlaces::default().find("delivery", std::path::Path::new("/")).unwrap().file.unwrap();
    let graph = Graph::new(&delivery, &BTreeMap::from([("goal".to_owned(), json!("a door"))])).unwrap();
    let task = |name: &str| graph.tasks().find(|task| task.name == name).unwrap();
    for (first, second, fails) in
        [("approve", None, false), ("changes", Some("approve"), false), ("changes", Some("changes"), true)]
    {
        let mut values = Values::of(&graph);
        values.give(task("review"), json!({ "verdict": first }), false);
        values.give(task("second_review"), second.map_or(Value::Null, |verdict| json!({ "verdict": verdict })), false);
        let failure = values.failure(task("report")).unwrap();
        assert_eq!(failure.is_some_and(|words| words.contains("still wants changes")), fails, "{first} {second:?}");
    }
}
