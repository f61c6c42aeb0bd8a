//! Definitions: what is read, what is refused, and which counts.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use neco_config::section::RoleSection;
use neco_proto::app::agents::Level;
use neco_proto::event::NodeType;
use neco_proto::{Mode, Risk};
use neco_safety::policy::{Action, Confinement, Who};
use neco_safety::{Policy, Ruling, SideEffect};
use neco_toolkit::schema::ArgumentSchema;
use proptest::prelude::*;
use serde_json::json;

use super::builtin::BUILT_IN;
use super::*;

const OURS: &str = ".neco/agents/a.md";
const THEIRS: &str = ".claude/agents/a.md";

fn read(text: &str, file: &str) -> (Option<Definition>, Vec<String>) {
    let (definition, problems) = read_definition(text, file, "a", Origin::Folder(file.into()));
    (definition, problems.iter().map(|problem| format!("{} {problem}", problem.level.name())).collect())
}

fn good(head: &str) -> Definition {
    let (definition, problems) = read(&format!("---\ndescription: d\n{head}\n---\nbody\n"), OURS);
    assert_eq!(problems, Vec::<String>::new(), "{head}");
    definition.unwrap()
}

fn bad(head: &str) -> String {
    let (definition, problems) = read(&format!("---\ndescription: d\n{head}\n---\nbody\n"), OURS);
    assert_eq!(definition, None, "{head}");
    problems.join("\n")
}

#[test]
fn every_built_in_role_can_be_read_and_says_who_it_is() {
    for (name, text) in BUILT_IN {
        let (definition, problems) = read_definition(text, name, name, Origin::BuiltIn);
        assert_eq!(problems, [], "{name}");
        let definition = definition.unwrap();
        assert_eq!(definition.name, name);
        assert!(definition.prompt.len() > 100 && !definition.description.is_empty());
        let problem = definition.output_schema.and_then(|schema| ArgumentSchema::new(schema).problem());
        assert_eq!(problem, None, "{name}");
    }
    let all = Definitions::built_in();
    let explore = all.find("explore").unwrap();
    assert!(!["bash", "write_file", "edit_file", "apply_patch", "process"].iter().any(|tool| explore.tools.has(tool)));
    assert!(explore.tools.has("read_file") && all.find("general").unwrap().tools.has("bash"));
    assert!(all.find("reviewer").unwrap().output_schema.is_some());
    assert_eq!(all.find("explorer").unwrap_err().to_string(), "there is no agent \"explorer\"; did you mean explore?");
}

#[test]
fn what_other_agents_write_is_understood() {
    let text = "---\nname: Code Reviewer\ndescription: Use this agent when: code changed. Examples: <example>x: y\n\
                tools: Read, Grep, Bash, Glob, WebFetch, Task, Skill\nmodel: sonnet\ncolor: red\n\
                permissionMode: plan\nmaxTurns: 12\n---\n\nYou review.\n";
    let (definition, problems) = read(text, THEIRS);
    let definition = definition.unwrap();
    assert_eq!(definition.name, "code-reviewer");
    assert!(definition.description.contains("when: code changed"), "{}", definition.description);
    let tools = ["read_file", "grep", "bash", "glob", "web_fetch", "task", "skill"].map(str::to_owned).to_vec();
    assert_eq!(definition.tools.only, Some(tools));
    assert_eq!(definition.model, RoleModel::Named("balanced".to_owned()));
    assert_eq!((definition.narrowing.mode, definition.max_turns), (Some(Mode::Plan), Some(12)));
    assert_eq!(problems.len(), 1, "{problems:?}");
    let switches = good("tools:\n  bash: false\n  write: false\n  read: true");
    assert!(switches.tools.has("read_file") && !switches.tools.has("bash") && !switches.tools.has("write_file"));
    let permissions = good("permission:\n  edit: deny\n  bash:\n    git push: ask\n    \"*\": allow");
    assert_eq!(
        (permissions.narrowing.deny, permissions.narrowing.ask),
        (vec!["edit".into()], vec!["bash(git push)".into()])
    );
    assert_eq!(good("tools: Agent(explore, coder)").tools.only.unwrap(), ["agent__explore", "agent__coder"]);
    assert_eq!(
        good("tools: '*'\ndisallowedTools: [Bash]").tools,
        ToolChoice { only: None, except: vec!["bash".into()] }
    );
}

#[test]
fn our_own_fields_mean_what_they_say() {
    let definition = good(
        "model: acme/big?reasoning=high\ntemperature: 0.5\ntype: act_only\ntimeout: 5m\nbudget: { cost: 0.5, tokens: \
         1000 }\nmode: ask\ndeny: [\"bash(git push *)\"]\noutput:\n  type: object\n  required: [a]",
    );
    assert_eq!(definition.model_name("x", None), "acme/big?reasoning=high");
    assert_eq!(definition.model_name("x", Some("y/z")), "y/z", "what the person chose comes before a role's own");
    assert_eq!((definition.temperature, definition.node_type), (Some(0.5), NodeType::ActOnly));
    assert_eq!(definition.timeout, Some(Duration::from_secs(300)));
    assert_eq!((definition.budget.cost, definition.budget.tokens), (Some(0.5), Some(1000)));
    assert_eq!(definition.output_schema, Some(json!({ "type": "object", "required": ["a"] })));
    let asks = |head: &str, chosen| good(head).model_name("p", chosen).to_owned();
    assert_eq!((asks("type: act_only", None).as_str(), asks("model: inherit", Some("y/z")).as_str()), ("act", "p"));
    assert_eq!(asks("type: act_only", Some("y/z")), "y/z", "what the person chose stands for the group of a type");
    assert_eq!(good("").tool_name(), "agent__a");
    let back: Definition = serde_json::from_value(serde_json::to_value(&definition).unwrap()).unwrap();
    assert_eq!(back, definition);
}

#[test]
fn a_query_makes_the_task_of_typed_inputs() {
    let definition = good(
        "inputs:\n  table: { type: string, description: The table. }\n  columns: string[]\n  reversible: { type: boolean, \
         default: true }\n  note: { type: string, required: false }\nquery: |\n  Change {{ inputs.table }}: {{ inputs.columns \
         | join(\", \") }}.\n  {% if inputs.reversible %}It can be undone.{% endif %}{{ inputs.note }}",
    );
    let task = |inputs: serde_json::Value, said: &str| {
        definition.task(inputs.as_object(), said).map_err(|error| error.message)
    };
    let given = json!({ "table": "users", "columns": ["name", "mail"] });
    assert_eq!(task(given, "").unwrap(), "Change users: name, mail.\nIt can be undone.");
    let all = json!({ "table": "users", "columns": [], "reversible": false, "note": "Carefully." });
    assert_eq!(task(all, " And soon.").unwrap(), "Change users: .\nCarefully.\n\nAnd soon.");
    let takes = "The inputs of the agent a are: columns (string[]), note (string, may be left out), reversible (boolean, \
                 true when left out), table (string)";
    for wrong in [
        json!({}),
        json!({ "table": "users" }),
        json!({ "table": 5, "columns": [] }),
        json!({ "table": "users", "columns": [5] }),
        json!({ "table": "users", "columns": [], "tabel": "x" }),
    ] {
        let said = task(wrong.clone(), "").unwrap_err();
        assert!(said.contains(takes), "{wrong}: {said}");
    }
    let plain = good("");
    assert_eq!(plain.task(None, "do it").unwrap(), "do it");
    let said = plain.task(json!({ "x": 1 }).as_object(), "do it").unwrap_err().message;
    assert_eq!(said, "the agent a takes no inputs: say all of it in its task");
    let back: Definition = serde_json::from_value(serde_json::to_value(&definition).unwrap()).unwrap();
    assert_eq!(back, definition);
}

#[test]
fn what_is_wrong_is_named_with_file_and_line() {
    let cases = [
        ("inputs: [a]", "a.md:3: inputs names what the agent is started with, each with its type"),
        ("inputs: {a: string}", "a.md:3: inputs without query: nothing would be made of them"),
        (
            "inputs: {a: text}\nquery: x",
            "a.md:3: inputs: a needs a type, one of string, number, integer, boolean, string[]",
        ),
        ("inputs: {a b: string}\nquery: x", "a.md:3: inputs: a b is no name"),
        ("inputs: {a: {type: integer, default: x}}\nquery: x", "a.md:3: inputs: a has a default that is no integer"),
        ("inputs: {a: {type: integer, defualt: 1}}\nquery: x", "a.md:3: inputs: a has no defualt"),
        (
            "inputs: {a: {type: integer, default: 1, required: true}}\nquery: x",
            "a.md:3: inputs: a has a default, so it is not required",
        ),
        ("query: '{{ inputs.a }}'", "a.md:3: query reads inputs.a, which is not declared under inputs"),
        ("query: '{{ name }}'", "a.md:3: query reads name, which is not declared under inputs"),
        ("query: '{{ inputs.a'", "a.md:3: query can't be read: "),
        (
            "inputs: {a: string}\nquery: '{{ inputs.a | shout }}'",
            "a.md:4: query can't be read: there is no filter shout",
        ),
        ("tool: read_file", "a.md:3: there is no field tool; did you mean tools?"),
        ("colour: red", "a.md:3: there is no field colour"),
        ("tools: [read_fiel]", "a.md:3: there is no tool \"read_fiel\"; did you mean read_file?"),
        ("tools:\n  - Read\n  - Bsh", "a.md:5: there is no tool \"Bsh\""),
        ("tools: Bash(git:*)", "a.md:3: bash(git:*) names calls and no tool"),
        ("tools: {a: [}", "a.md:3: \"{a: [}\" is no name of a tool"),
        ("model: a b", "a.md:3: \"a b\" is no model"),
        ("temperature: 9", "a.md:3: temperature must be a number from 0 to 2"),
        ("mode: dance", "a.md:3: there is no mode \"dance\""),
        ("type: root", "a.md:3: there is no type \"root\""),
        ("max_turns: 0", "a.md:3: max_turns must be a whole number above 0"),
        ("timeout: soon", "a.md:3: timeout must be seconds"),
        ("output: text", "a.md:3: output must be a JSON schema"),
        ("output:\n  type: no-such-type", "a.md:3: output is no valid JSON schema"),
        ("description: again", "a.md:3: description is there twice"),
        ("deny: ['bash(']", "a.md:3: deny: "),
        ("budget: {cost: -1}", "a.md:3: budget: a cost is an amount in US dollars above 0"),
        ("budget: {tokens: 1.5}", "a.md:3: budget: tokens are a whole number above 0"),
        ("budget: {costs: 1}", "a.md:3: budget has the fields cost (US dollars) and tokens, and no costs"),
        ("max_tokens: -5", "a.md:3: max_tokens: tokens are a whole number above 0"),
        ("output:\n  type: object\n  required: [1]", "a.md:3: output is no valid JSON schema: 1 is not of type"),
    ];
    for (head, words) in cases {
        let said = bad(head);
        assert!(said.contains(words), "{said:?} instead of {words:?}");
    }
    for (text, words) in [
        ("", "a.md:1: there is no head"),
        ("---\nname: a\n", "a.md:1: the head that begins here has no end"),
        ("---\nname: a\n---\nx", "a.md:1: description is missing"),
        ("---\ndescription: d\n---\n\n", "a.md:4: there is no text below the head"),
        ("---\n- x\n---\nb", "a.md:2: this line belongs to no field"),
    ] {
        let (definition, problems) = read(text, OURS);
        assert!(definition.is_none() && problems.join("\n").contains(words), "{problems:?} instead of {words}");
    }
}

#[test]
fn what_is_wrong_with_one_field_hides_nothing_of_the_others() {
    let (definition, problems) = read("---\nname: a\ndescripton: d\ntools: [Bsh]\n---\nbody\n", OURS);
    assert_eq!(definition, None);
    let said = problems.join("\n");
    for words in ["there is no field descripton", "description is missing", "a.md:4: there is no tool \"Bsh\""] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn tools_of_servers_are_there_where_they_are_named_in_any_way() {
    for name in ["mcp__Py__echo", "Py__echo", "mcp__Py", "mcp__Py__*", "Py__*"] {
        let tools = good(&format!("tools: ['{name}', Read]")).tools;
        assert!(tools.has("mcp__Py__echo") && tools.has("read_file") && !tools.has("mcp__other__echo"), "{name}");
    }
    assert!(!good("tools: '*'").tools.has("mcp__Py__echo"));
}

#[test]
fn inputs_are_bounded_as_the_description_is() {
    let many: Vec<String> = (0..33).map(|number| format!("a{number}: string")).collect();
    let said = bad(&format!("inputs: {{{}}}\nquery: x", many.join(", ")));
    assert!(said.contains("inputs has 33; at most 32"), "{said}");
    let long = "x".repeat(3000);
    let said = bad(&format!("inputs: {{a: {{type: string, default: {long}}}}}\nquery: '{{{{ inputs.a }}}}'"));
    assert!(said.contains("a has a default of more than 2000 characters"), "{said}");
    let read = good(&format!("inputs: {{a: {{type: string, description: {long}}}}}\nquery: '{{{{ inputs.a }}}}'"));
    assert_eq!(read.inputs["a"].description.len(), 2000);
}

#[test]
fn settings_of_an_agent_that_is_not_there_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let roles = ["codr", "Coder"].map(|name| (name.to_owned(), RoleSection::default()));
    let places = DefinitionPlaces { roles: roles.into(), ..DefinitionPlaces::default() };
    let found = Definitions::load(&places, folder.path());
    let problems: Vec<(Level, String)> =
        found.problems().iter().map(|problem| (problem.level, problem.what.clone())).collect();
    let words = "agents.roles.codr (or AGENT_MODEL_CODR in the environment) counts for nobody: there is no agent \
                 \"codr\"; did you mean coder?";
    assert_eq!(problems, [(Level::Warning, words.to_owned())]);
}

fn put(folder: &Path, file: &str, head: &str) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("---\n{head}\n---\nbody of {file}\n")).unwrap();
}

#[test]
fn the_nearest_definition_counts_and_an_untrusted_folder_replaces_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (own, repo) = (root.join("own"), root.join("repo"));
    fs::create_dir_all(repo.join(".git")).unwrap();
    fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    put(&own, "mine.md", "name: mine\ndescription: mine");
    put(&own, "planner.md", "name: planner\ndescription: my planner");
    put(&repo, ".claude/agents/db.md", "name: db\ndescription: theirs\nmodel: evil/model");
    put(&repo, ".agents/helper.md", "name: helper\ndescription: helps");
    put(&repo, ".agents/README.md", "title: no definition");
    put(&repo, ".agents/agents/two.md", "name: two\ndescription: from agents");
    put(&repo, ".neco/agents/coder.md", "name: coder\ndescription: a better coder");
    put(&repo, "part/.neco/agents/two.md", "name: two\ndescription: nearer");
    fs::write(repo.join(".neco/agents/broken.md"), "no head").unwrap();
    let places = DefinitionPlaces { own: vec![own], ..DefinitionPlaces::default() };
    let found = Definitions::load(&places, &repo.join("part"));
    let of = |name: &str| found.find(name).unwrap().description.clone();
    assert_eq!(
        (of("mine"), of("planner"), of("helper"), of("two")),
        ("mine".into(), "my planner".into(), "helps".into(), "nearer".into())
    );
    assert_eq!(found.find("coder").unwrap().origin, Origin::BuiltIn);
    assert_eq!(found.find("db").unwrap().model, RoleModel::OfType);
    assert!(found.find("readme").is_err());
    let problems: Vec<String> = found.problems().iter().map(ToString::to_string).collect();
    assert!(
        problems.iter().any(|line| line.ends_with(
            "broken.md:1: there is no head: a definition begins with a line ---, then name and description"
        )),
        "{problems:?}"
    );
    assert_eq!(found.untrusted().len(), 2);
    let trusting = DefinitionPlaces { trusted: Arc::new(|_| true), ..places };
    let trusted = Definitions::load(&trusting, &repo);
    assert_eq!(trusted.find("coder").unwrap().description, "a better coder");
    assert_eq!(trusted.find("db").unwrap().model, RoleModel::Named("evil/model".to_owned()));
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_repository_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    put(&root, "outside.md", "name: outside\ndescription: d");
    fs::create_dir_all(root.join("repo/.neco/agents")).unwrap();
    fs::create_dir_all(root.join("repo/.git")).unwrap();
    std::os::unix::fs::symlink(root.join("outside.md"), root.join("repo/.neco/agents/outside.md")).unwrap();
    let found = Definitions::load(&DefinitionPlaces::default(), &root.join("repo"));
    assert!(found.find("outside").is_err());
}

fn judged(policy: &Policy, command: &str) -> Ruling {
    let who = Who {
        mode: Mode::Agent,
        approval: neco_proto::ApprovalMode::Auto,
        person_present: true,
        role: "coder",
        confinement: Confinement::Boxed,
        network: false,
    };
    let arguments = json!({ "command": command });
    let action = Action {
        tool: "bash",
        origin: neco_proto::ToolOrigin::BUILT_IN,
        arguments: &arguments,
        touch: SideEffect::Runs,
        risk: Risk::High,
        command: Some(command),
        folder: None,
        paths: &[],
        because: None,
        freedom: neco_safety::world::Freedom::AsConfigured,
    };
    policy.judge(&action, &who).ruling
}

#[test]
fn a_definition_narrows_the_rules_of_its_parent_and_never_widens_them() {
    let rule = |deny: &str| Narrowing { deny: vec![deny.to_owned()], ..Narrowing::default() };
    let parent = rule("bash(git push *)").policy(&Policy::default());
    assert_eq!(judged(&parent, "git push origin"), Ruling::Deny);
    let child = rule("bash(make *)").policy(&parent);
    assert_eq!((judged(&child, "git push origin"), judged(&child, "make all")), (Ruling::Deny, Ruling::Deny));
    assert_eq!(judged(&parent, "make all"), Ruling::Allow);
    let asks = Narrowing { ask: vec!["bash".to_owned()], ..Narrowing::default() }.policy(&parent);
    assert_eq!((judged(&asks, "git push origin"), judged(&asks, "make all")), (Ruling::Deny, Ruling::Ask));
    let mode = |own, parent| Narrowing { mode: Some(own), ..Narrowing::default() }.mode(parent);
    assert_eq!(
        (mode(Mode::Agent, Mode::Plan), mode(Mode::Ask, Mode::Plan), mode(Mode::Plan, Mode::Debug)),
        (Mode::Plan, Mode::Ask, Mode::Plan)
    );
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(text in "(---\n)?((name|tools|output|deny|model)?:? ?(\\PC|\n){0,20}){0,6}(\n---\n)?(\\PC|\n){0,20}") {
        let (definition, problems) = read_definition(&text, "f", "f", Origin::BuiltIn);
        prop_assert!(definition.is_some() || problems.iter().any(|problem| problem.level == Level::Error));
        let lines = text.split('\n').count() + 1;
        prop_assert!(problems.iter().all(|problem| problem.line >= 1 && problem.line <= lines));
    }
}

#[test]
fn a_definition_of_a_plugin_is_a_file_or_in_a_folder_and_knows_where_the_plugin_is() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("plugin");
    put(&plugin, "agents/a.md", "name: a\ndescription: a\n---\nRead ${CLAUDE_PLUGIN_ROOT}/x.");
    put(&plugin, "other/b.md", "name: b\ndescription: b\n---\nRead ${HOME}.");
    let own = vec![plugin.join("agents"), plugin.join("other/b.md")];
    let places = DefinitionPlaces { own, plugins: vec![plugin.clone()], ..DefinitionPlaces::default() };
    let found = Definitions::load_own(&places, folder.path());
    let prompt = |name: &str| found.find(name).unwrap().prompt.clone();
    assert!(prompt("a").contains(&format!("Read {}/x.", plugin.display())), "{}", prompt("a"));
    assert!(prompt("b").contains("Read ${HOME}."), "{}", prompt("b"));
}

#[test]
fn an_older_log_has_the_one_skill_that_an_agent_was_started_for() {
    let skill = serde_json::json!({ "name": "reads", "folder": "/a", "allowed_tools": ["Read"], "hooks": true });
    let old = serde_json::json!({ "mode": null, "deny": [], "ask": [], "within": skill });
    let read: Narrowing = serde_json::from_value(old).unwrap();
    assert_eq!((read.within.len(), read.within[0].name.as_str(), read.within[0].hooks), (1, "reads", true));
    let written = serde_json::to_value(&read).unwrap();
    assert_eq!(serde_json::from_value::<Narrowing>(written).unwrap(), read);
}
