//! Workflows: what is read and what is refused.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod failures;

use std::collections::BTreeMap;

use neco_proto::ErrorCode;
use neco_proto::event::TaskKind;
use neco_session::roles::UnknownDefinition;
use neco_session::workflow::{
    Failure, Form, Graph, KnownNames, Limits, Retry, TaskEntry, Values, Work, WorkflowError, WorkflowFile,
};
use neco_toolkit::ToolError;
use serde_json::{Value, json};

const DELIVERY: &str = r#"
name = "delivery"
on_failure = "continue"
timeout = 3600

[inputs]
goal = { description = "what is to be delivered" }
research = { default = false }

[limits]
parallel = 4
agents = 2

[[tasks]]
id = "plan"
agent = "planner"
prompt = "Plan this: {{ inputs.goal }}"
on_failure = "fail_fast"

[[tasks]]
id = "research"
needs = ["plan"]
when = "inputs.research"
agent = "researcher"
prompt = "Find out what {{ tasks.plan.output.open }} needs."

[[tasks]]
id = "code"
needs = ["plan", "research"]
agent = "coder"
prompt = "Do it:\n{{ tasks.plan.output.steps | join(', ') }}"
on_failure = { retry_then_continue = { times = 2, backoff = 1.5 } }

[[tasks]]
id = "check"
needs = ["code"]
command = "make test"

[[tasks]]
id = "keep"
needs = ["code"]
tool = "memory_store"
arguments = { title = "delivered {{ inputs.goal }}", tags = ["{{ inputs.goal }}"], count = 3, late = "{{ inputs.research }}" }
"#;

const AS_YAML: &str = r"
name: small
on_failure:
  retry_then_continue: { times: 1 }
tasks:
  - id: one
    command: echo one
  - name: two
    needs: [one]
    agent: coder
    prompt: |
      Look at {{ tasks.one.output }}.
    on_failure: fail_fast
";

fn values(pairs: &[(&str, Value)]) -> BTreeMap<String, Value> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn delivery() -> Graph {
    let file = WorkflowFile::read(DELIVERY, Form::Toml).unwrap();
    Graph::new(&file, &values(&[("goal", json!("a door"))])).unwrap()
}

fn entry(id: &str, needs: &[&str]) -> TaskEntry {
    let needs = needs.iter().map(ToString::to_string).collect();
    TaskEntry { id: id.to_owned(), needs, command: Some("true".to_owned()), ..TaskEntry::default() }
}

fn file(tasks: Vec<TaskEntry>) -> WorkflowFile {
    WorkflowFile {
        name: "test".to_owned(),
        description: String::new(),
        inputs: BTreeMap::new(),
        on_failure: Failure::Continue,
        limits: Limits { parallel: 8, agents: 8, commands: 8 },
        timeout: None,
        tasks,
    }
}

fn refused(tasks: Vec<TaskEntry>) -> String {
    Graph::new(&file(tasks), &BTreeMap::new()).unwrap_err().to_string()
}

#[test]
fn a_workflow_is_read_from_toml_and_from_yaml() {
    let graph = delivery();
    assert_eq!(
        (graph.len(), graph.timeout, graph.limits),
        (5, Some(3600.0), Limits { parallel: 4, agents: 2, commands: 2 })
    );
    assert_eq!(graph.inputs, values(&[("goal", json!("a door")), ("research", json!(false))]));
    assert_eq!((graph.needs(2), graph.needed_by(2)), (&[0, 1][..], &[3, 4][..]));
    assert_eq!(graph.task(2).unwrap().on_failure, Failure::RetryThenContinue(Retry { times: 2, backoff: 1.5 }));
    assert_eq!(
        (graph.task(3).unwrap().work.kind(), graph.task(4).unwrap().work.kind()),
        (TaskKind::Command, TaskKind::Tool)
    );
    let small = Graph::new(&WorkflowFile::read(AS_YAML, Form::Yaml).unwrap(), &BTreeMap::new()).unwrap();
    assert_eq!(small.task(0).unwrap().on_failure, Failure::RetryThenContinue(Retry { times: 1, backoff: 0.0 }));
    assert_eq!(small.task(1).unwrap().on_failure, Failure::FailFast);
    let as_json = json!({ "name": "j", "tasks": [{ "id": "a", "command": "true" }] }).to_string();
    assert!(WorkflowFile::read(&as_json, Form::Yaml).is_ok());
    let forms = ["a.toml", "a.yml", "a.yaml", "a.txt"].map(|name| Form::of(std::path::Path::new(name)));
    assert_eq!(forms, [Some(Form::Toml), Some(Form::Yaml), Some(Form::Yaml), None]);
}

#[test]
fn what_is_wrong_is_said_before_anything_runs_and_names_the_tasks() {
    let cases = [
        (vec![], "no tasks"),
        (vec![entry("a", &["c"]), entry("b", &["a"]), entry("c", &["b"])], "wait for each other: "),
        (vec![entry("a", &["a"])], "wait for each other: a → a"),
        (
            vec![entry("build", &[]), entry("b", &["Build"])],
            "task b needs Build, which is no task; did you mean build?",
        ),
        (vec![entry("a", &[]), entry("a", &[])], "two tasks are named a"),
        (vec![entry("a-b", &[])], "\"a-b\" is no name"),
        (
            vec![TaskEntry { agent: Some("coder".into()), ..entry("a", &[]) }],
            "task a must have exactly one of agent, tool and command, and it has agent and command",
        ),
        (vec![TaskEntry { command: None, ..entry("a", &[]) }], "task a must have exactly one"),
        (
            vec![TaskEntry { agent: Some("coder".into()), command: None, ..entry("a", &[]) }],
            "task a is an agent and has no prompt",
        ),
        (vec![TaskEntry { timeout: Some(-1.0), ..entry("a", &[]) }], "the timeout of task a must be"),
        (
            vec![TaskEntry { command: Some("{{ inputs.x }}".into()), ..entry("a", &[]) }],
            "the command of task a reads inputs.x, and the workflow has no input x",
        ),
        (
            vec![entry("a", &[]), TaskEntry { command: Some("{{ tasks.a.output }}".into()), ..entry("b", &[]) }],
            "the command of task b reads tasks.a.output, and does not need a",
        ),
        (
            vec![TaskEntry { command: Some("{{ now }}".into()), ..entry("a", &[]) }],
            "neither inputs.NAME nor tasks.NAME.output",
        ),
        (
            vec![TaskEntry { command: Some("{{ 1 + }}".into()), ..entry("a", &[]) }],
            "the command of task a can't be read",
        ),
        (
            vec![TaskEntry { when: Some("tasks.z.output".into()), ..entry("a", &[]) }],
            "the condition of task a reads tasks.z.output",
        ),
        (
            vec![TaskEntry { command: Some("echo '|x' {{ 'a|b' | shout }}".into()), ..entry("a", &[]) }],
            "the command of task a can't be read: there is no filter shout",
        ),
        // All of it at once, as far as that can be told.
        (
            vec![
                TaskEntry { command: Some("{{ 1 + }}".into()), ..entry("a", &["b"]) },
                TaskEntry { timeout: Some(0.0), ..entry("c", &["d"]) },
            ],
            "the timeout of task c must be a number of seconds above 0\ntask a needs b, which is no task\n\
             task c needs d, which is no task\nthe command of task a can't be read",
        ),
    ];
    for (tasks, words) in cases {
        let said = refused(tasks);
        assert!(said.contains(words), "{said:?} instead of {words:?}");
    }
    let through = vec![
        entry("a", &[]),
        entry("b", &["a"]),
        TaskEntry { command: Some("{{ tasks.a.output }}".into()), ..entry("c", &["b"]) },
    ];
    assert!(Graph::new(&file(through), &BTreeMap::new()).is_ok(), "needed through another one");
    let circle = refused(vec![entry("x", &[]), entry("a", &["x", "c"]), entry("b", &["a"]), entry("c", &["b"])]);
    assert!(
        ["a → b → c → a", "b → c → a → b", "c → a → b → c"].iter().any(|words| circle.ends_with(words)),
        "{circle}"
    );
    let delivery = WorkflowFile::read(DELIVERY, Form::Toml).unwrap();
    assert_eq!(Graph::new(&delivery, &BTreeMap::new()), Err(WorkflowError::NoValue("goal".to_owned())));
    let more = values(&[("goal", json!(1)), ("gaol", json!(2))]);
    assert_eq!(Graph::new(&delivery, &more), Err(WorkflowError::UnknownInput("gaol".to_owned())));
    for (text, form) in
        [("name = 3", Form::Toml), ("name: x\nstrategy: y", Form::Yaml), ("&a [*a, *a]", Form::Yaml), ("", Form::Yaml)]
    {
        assert!(matches!(WorkflowFile::read(text, form), Err(WorkflowError::Unreadable(_))), "{text}");
    }
    let none = WorkflowFile { limits: Limits { parallel: 0, ..Limits::default() }, ..file(vec![entry("a", &[])]) };
    assert_eq!(Graph::new(&none, &BTreeMap::new()), Err(WorkflowError::ZeroLimit("parallel")));
}

#[test]
fn templates_are_filled_with_what_is_there_and_nothing_else() {
    let graph = delivery();
    let mut given = Values::of(&graph);
    let plan = graph.task(0).unwrap();
    let Work::Agent { prompt, .. } = given.fill(plan).unwrap() else { panic!("no agent") };
    assert_eq!(prompt, "Plan this: a door");
    let code = graph.task(2).unwrap();
    assert!(given.fill(code).unwrap_err().to_string().contains("the prompt of task code can't be read"));
    given.give(plan, json!({ "steps": ["saw", "hang"], "open": "hinges" }), false);
    let Work::Agent { prompt, .. } = given.fill(code).unwrap() else { panic!("no agent") };
    assert_eq!(prompt, "Do it:\nsaw, hang");
    let Work::Tool { arguments, .. } = given.fill(graph.task(4).unwrap()).unwrap() else { panic!("no tool") };
    assert_eq!(arguments, json!({ "title": "delivered a door", "tags": ["a door"], "count": 3, "late": false }));
    assert_eq!(given.wants(graph.task(1).unwrap()), Ok(false));
    std::sync::Arc::make_mut(&mut given.inputs).insert("research".to_owned(), json!(true));
    assert_eq!(given.wants(graph.task(1).unwrap()), Ok(true));
}

#[test]
fn what_commands_gave_is_data_for_an_agent_and_one_word_for_a_shell() {
    let tasks = vec![
        TaskEntry { accept_failure: true, ..entry("a", &[]) },
        TaskEntry {
            agent: Some("coder".into()),
            prompt: Some("{{ tasks.a.output }} {{ tasks.a.failed }}".into()),
            command: None,
            ..entry("b", &["a"])
        },
        TaskEntry { command: Some("echo {{ tasks.a.output | quote }}".into()), ..entry("c", &["a"]) },
    ];
    let graph = Graph::new(&file(tasks), &BTreeMap::new()).unwrap();
    let mut given = Values::of(&graph);
    given.give(graph.task(0).unwrap(), json!("it's; rm -rf /"), true);
    let Work::Agent { prompt, .. } = given.fill(graph.task(1).unwrap()).unwrap() else { panic!("no agent") };
    assert!(prompt.starts_with("<untrusted-") && prompt.ends_with("> True"), "{prompt}");
    let Work::Command { line } = given.fill(graph.task(2).unwrap()).unwrap() else { panic!("no command") };
    assert_eq!(line, r"echo 'it'\''s; rm -rf /'");
}

#[test]
fn a_workflow_is_the_same_after_the_log_has_had_it() {
    let file = WorkflowFile::read(DELIVERY, Form::Toml).unwrap();
    assert_eq!(WorkflowFile::of_value(&file.to_value()).unwrap(), file);
}

#[test]
fn names_that_do_not_exist_are_refused_with_their_task() {
    let file = WorkflowFile::read(DELIVERY, Form::Toml).unwrap();
    let known = KnownNames {
        agent: &|role| match role {
            "coder" => Err(UnknownDefinition { name: role.to_owned(), near: None, known: vec!["tester".to_owned()] }),
            _ => Ok(()),
        },
        tool: &|tool| Err(ToolError::new(ErrorCode::ToolNotFound, format!("no {tool}"))),
        model: &|_| Ok(()),
    };
    let error = file.check_names(&known).unwrap_err().to_string();
    assert_eq!(error, "task code: there is no agent \"coder\"; there are: tester\ntask keep: no memory_store");
}
