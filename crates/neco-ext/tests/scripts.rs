//! Scripted tools: real files, real interpreters, no network.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_config::{Config, Env, LoadOptions, load};
use neco_ext::plugins::{ActivePlugin, Manifest};
use neco_ext::scripts::{self, FoundScripts};
use neco_proto::event::OutputStream;
use neco_proto::{CallId, ErrorCode, ResultPart, Risk};
use neco_safety::SideEffect;
use neco_safety::world::Files;
use neco_sandbox::{LocalNet, LocalWorld, Spawner};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{DynTool, LiveOutput, Spill, ToBackground, ToolContext, ToolError, ToolOutput};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A home, a project, and what calls are handed there.
struct Stage {
    folder: TempDir,
    env: Env,
    path: OsString,
}

impl Stage {
    /// A stage with these files, of which the settings are `home/config.toml`.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("project")).unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        let home = folder.path().join("home");
        let env = Env::for_test([("NECO_HOME", home.to_str().unwrap())], &home);
        let stage = Self { folder, env, path: std::env::var_os("PATH").unwrap() };
        files.iter().for_each(|(path, text)| stage.write(path, text));
        stage
    }

    /// One with a tool of the settings, which has these lines.
    fn with_tool(lines: &str) -> Self {
        Self::new(&[("home/config.toml", &format!("[[scripted_tools]]\n{lines}\n"))])
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    fn found(&self) -> FoundScripts {
        let project = self.project();
        let loaded = load(LoadOptions { env: &self.env, cwd: &project, overrides: &[] }).unwrap();
        scripts::find(&self.env, &project, &loaded, &[])
    }

    fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        scripts::tools(self.found().scripts.into_iter().map(|found| found.script).collect(), None)
    }

    fn context(&self) -> ToolContext {
        let files = Files::new(&self.project(), Vec::new()).unwrap();
        let spawn = Spawner::new(vec![("PATH".into(), self.path.clone())], &[]);
        ToolContext {
            call_id: CallId::from("call-1"),
            world: Arc::new(LocalWorld { files, spawn, net: LocalNet::default() }),
            live: Arc::new(Heard::default()),
            cancel: CancellationToken::new(),
            person: Arc::new(()),
            model: Arc::new(()),
            background: ToBackground::default(),
            spill: Arc::new(NoSpill),
            max_output: 10_000,
            more_writes: false,
            approved: false,
        }
    }

    /// Calls the first tool.
    async fn call(&self, arguments: Value) -> Result<ToolOutput, ToolError> {
        let tool = self.tools().remove(0);
        let prepared = tool.prepare(arguments)?;
        prepared.plan(&self.context()).await?;
        prepared.run(self.context()).await
    }

    async fn said(&self, arguments: Value) -> String {
        let output = self.call(arguments).await.unwrap();
        assert_eq!(output.error_code, None, "{}", output.model);
        output.model
    }
}

#[derive(Default)]
struct Heard(Mutex<String>);

impl LiveOutput for Heard {
    fn push(&self, _: OutputStream, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

/// What is too big is lost.
struct NoSpill;

impl Spill for NoSpill {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(std::future::ready(Err(ToolError::failed("there is no file for it"))))
    }
}

#[tokio::test]
async fn a_tool_of_a_plugin_knows_where_that_is_and_stays_in_it() {
    let head = "# /// tool\n# name = \"where\"\n# description = \"d\"\n# ///\n";
    let out = "name = \"out\"\ndescription = \"d\"\nscript_type = \"shell\"\nscript = \"../../outside.sh\"\n";
    let stage = Stage::new(&[
        ("plug/tools/a.sh", &format!("{head}echo \"$NECO_PLUGIN_ROOT+$CLAUDE_PLUGIN_ROOT\"\n")),
        ("plug/tools/out.toml", out),
        ("outside.sh", "echo"),
    ]);
    let folder = stage.folder.path().join("plug");
    let manifest = Manifest::read(&folder, &Map::new()).unwrap();
    let plugin = ActivePlugin { name: "plug".to_owned(), folder: folder.clone(), manifest };
    let found = scripts::of_plugin(&stage.env, &Config::built_in().tools, &plugin);
    assert!(found.notices.len() == 1 && found.notices[0].contains("leads out"), "{:?}", found.notices);
    let tool = scripts::tools(found.scripts.into_iter().map(|found| found.script).collect(), None).remove(0);
    let prepared = tool.prepare(json!({})).unwrap();
    prepared.plan(&stage.context()).await.unwrap();
    let said = prepared.run(stage.context()).await.unwrap().model;
    assert!(said.contains(&format!("{0}+{0}", folder.display())), "{said}");
}

/// The example of the founding design.
const FOUNDING: &str = r#"
[[scripted_tools]]
name = "analyze_project"
description = "Analyses the structure of the project"
script_type = "python"
script = """
import os
import json
import sys

path = sys.argv[1] if len(sys.argv) > 1 else "."
structure = []
for root, dirs, files in os.walk(path):
    for file in files:
        if file.endswith(('.rs', '.toml', '.md')):
            structure.append(os.path.join(root, file))

print(json.dumps({"files": structure}))
"""
parameters = { type = "object", properties = { path = { type = "string" } } }
"#;

#[tokio::test]
async fn the_founding_example_runs_as_written() {
    let stage = Stage::new(&[("home/config.toml", FOUNDING), ("project/a.rs", ""), ("project/sub/b.md", "")]);
    assert_eq!(stage.found().notices, Vec::<String>::new());
    let output = stage.call(json!({})).await.unwrap();
    assert_eq!(output.model, r#"{"files": ["./a.rs", "./sub/b.md"]}"#);
    let data = ResultPart::Data { value: json!({"files": ["./a.rs", "./sub/b.md"]}) };
    assert_eq!(output.parts, [data], "JSON stays JSON");
    assert_eq!(stage.said(json!({"path": "sub"})).await, r#"{"files": ["sub/b.md"]}"#);
    let tool = stage.tools().remove(0);
    let origin = tool.origin().to_string();
    assert!(origin.starts_with("script:") && origin.ends_with("config.toml"), "{origin}");
    assert_eq!(tool.most_touch(), SideEffect::Runs);
    let prepared = tool.prepare(json!({})).unwrap();
    assert_eq!(prepared.plan(&stage.context()).await.unwrap().risk, Risk::Medium, "as risky as a command");
}

#[tokio::test]
async fn arguments_come_in_three_ways_and_are_never_run() {
    let script = "name = 'show'\ntype = 'shell'\nscript = 'printf \"%s|%s|%s|\" \"$1\" \"$ARG_DEEP_LIST\" \"$0\"; cat'\n\
        parameters = { properties = { word = { type = 'string' }, deep-list = { type = 'array' } } }";
    let stage = Stage::with_tool(script);
    let said = stage.said(json!({"deep-list": [1, "x"], "word": "$(touch made); `touch made`"})).await;
    let words = r#"$(touch made); `touch made`|[1,"x"]|show|"#;
    assert_eq!(said, format!(r#"{words}{{"deep-list":[1,"x"],"word":"$(touch made); `touch made`"}}"#));
    assert!(!stage.project().join("made").exists());
}

#[tokio::test]
async fn javascript_has_its_arguments_where_a_file_has_them() {
    let script = "name = 'js'\nscript_type = 'javascript'\n\
        script = 'console.log(process.argv[2], JSON.parse(require(\"fs\").readFileSync(0)).n + 1)'\n\
        parameters = { properties = { n = { type = 'integer' } } }";
    assert_eq!(Stage::with_tool(script).said(json!({"n": 41})).await, "41 42");
}

#[tokio::test]
async fn nothing_of_the_folder_that_is_worked_in_is_a_module_of_a_script() {
    let theirs = [
        ("project/json.py", "print('theirs')\n"),
        ("project/theirs.js", "console.log('theirs')\n"),
        ("project/node_modules/theirs/index.js", "console.log('theirs')\n"),
    ];
    let python = "[[scripted_tools]]\nname = 'py'\ntype = 'python'\n\
        script = 'import json, sys; print(json.dumps(sys.argv[1:]), sys.argv[0], __name__)'\n\
        parameters = { properties = { n = { type = 'integer' } } }\n";
    let stage = Stage::new(&[&theirs[..], &[("home/config.toml", python)]].concat());
    assert_eq!(stage.said(json!({"n": 41})).await, "[\"41\"] py __main__");
    for module in ["theirs", "./theirs"] {
        let script =
            format!("[[scripted_tools]]\nname = 'js'\ntype = 'javascript'\nscript = 'require(\"{module}\")'\n");
        let stage = Stage::new(&[&theirs[..], &[("home/config.toml", script.as_str())]].concat());
        let output = stage.call(json!({})).await.unwrap();
        assert!(output.model.contains("Cannot find module"), "{}", output.model);
    }
}

#[tokio::test]
async fn javascript_of_modules_runs_and_its_errors_name_it() {
    let script = "#!/usr/bin/env node\nimport { readFileSync } from 'fs';\nconsole.log(process.argv[2]);\n\
        throw new Error(readFileSync(0, 'utf8'));\n";
    let settings = "[[scripted_tools]]\nname = 'js'\ntype = 'javascript'\nscript = 'one.js'\n\
        parameters = { properties = { n = { type = 'integer' } } }\n";
    let stage = Stage::new(&[("home/one.js", script), ("home/config.toml", settings)]);
    let output = stage.call(json!({"n": 41})).await.unwrap();
    for words in ["41", "one.js:4", "Error: {\"n\":41}"] {
        assert!(output.model.contains(words), "{words}: {}", output.model);
    }
}

#[tokio::test]
async fn the_ending_says_that_a_script_is_for_bash_unless_its_first_line_does() {
    let head = "# /// tool\n# description = 'd'\n# ///\n";
    let array = "words=(one two); echo \"${words[1]}\"\n";
    let stage = Stage::new(&[("home/tools/spell.bash", &format!("{head}{array}"))]);
    assert_eq!(stage.said(json!({})).await, "two");
    let shell = format!("#!/bin/sh\n{head}echo \"${{BASH_VERSION:-none}}\"\n");
    assert_eq!(Stage::new(&[("home/tools/spell.bash", &shell)]).said(json!({})).await, "none");
}

#[test]
fn a_module_is_read_once_and_only_from_a_file_of_bounded_size() {
    let names = |name: &str| format!("type = 'wasm'\nscript = '{name}'\n");
    let stage = Stage::new(&[("project/.neco/tools/one.toml", &names("one.wasm"))]);
    let tools = stage.project().join(".neco/tools");
    for at in 0..6 {
        stage.write(&format!("project/.neco/tools/same{at}.toml"), &names("one.wasm"));
    }
    let sized = |name: &str, megabytes: u64| {
        fs::File::create(tools.join(name)).unwrap().set_len(megabytes * 1024 * 1024).unwrap();
    };
    sized("one.wasm", 20);
    assert_eq!(stage.found().scripts.len(), 7, "{:?}", stage.found().notices);
    let kept = stage.env.data_dir().join("modules.json");
    let known = fs::read_to_string(&kept).unwrap();
    let hash = stage.found().scripts[0].hash.clone();
    fs::write(&kept, known.replace(|char: char| char.is_ascii_digit(), "0")).unwrap();
    assert_eq!(stage.found().scripts[0].hash, hash, "a stamp that does not fit counts for nothing");
    sized("two.wasm", 45);
    stage.write("project/.neco/tools/two.toml", &names("two.wasm"));
    sized("huge.wasm", 65);
    stage.write("project/.neco/tools/huge.toml", &names("huge.wasm"));
    fs::remove_file(&kept).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(tools.join("pipe.wasm")).status().unwrap().success());
    stage.write("project/.neco/tools/pipe.toml", &names("pipe.wasm"));
    let found = stage.found();
    let said = found.notices.join("\n");
    for words in
        ["two.wasm comes behind others", "huge.wasm is larger than 64 MB", "pipe.wasm can't be read: not a file"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(found.scripts.len(), 7);
}

#[test]
fn a_folder_of_tools_that_is_a_link_is_the_projects_only_inside_of_it() {
    let tool = "# /// tool\n# description = 'd'\n# ///\necho 1\n";
    let stage = Stage::new(&[("elsewhere/out.sh", tool), ("project/shared/in.sh", tool), ("project/.neco/x", "")]);
    let link = stage.project().join(".neco/tools");
    std::os::unix::fs::symlink("../../elsewhere", &link).unwrap();
    assert!(stage.found().scripts.is_empty());
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../shared", &link).unwrap();
    assert_eq!(stage.found().scripts[0].script.name, "in");
}

#[tokio::test]
async fn arguments_that_do_not_fit_the_schema_start_nothing() {
    let script = "name = 'x'\nscript = 'touch made'\n\
        parameters = { properties = { n = { type = 'integer' } }, required = ['n'] }";
    let stage = Stage::with_tool(script);
    for wrong in [json!({}), json!({"n": "many"}), json!([1])] {
        assert_eq!(stage.call(wrong).await.unwrap_err().code, ErrorCode::InvalidArguments);
    }
    assert!(!stage.project().join("made").exists());
}

#[tokio::test]
async fn a_failure_is_told_with_the_end_of_its_errors() {
    let script =
        "name = 'bad'\nscript = 'echo out; i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; exit 3'";
    let output = Stage::with_tool(script).call(json!({})).await.unwrap();
    assert_eq!(output.error_code, Some(ErrorCode::ToolFailed));
    assert!(output.model.contains("bad failed with exit code 3:"), "{}", output.model);
    assert!(output.model.ends_with("line 2999") && !output.model.contains("line 5\n"), "only the end");
    assert!(output.outside.is_some(), "what it printed is data");
    let silent = Stage::with_tool("name = 'q'\nscript = 'true'").said(json!({})).await;
    assert_eq!(silent, "[q printed nothing]");
    let killed = Stage::with_tool("name = 'k'\nscript = 'kill -9 $$'").call(json!({})).await.unwrap();
    assert!(killed.model.contains("was killed by signal 9"), "{}", killed.model);
}

#[tokio::test]
async fn a_script_whose_time_is_up_is_ended_with_all_it_started() {
    let script = "name = 'slow'\nscript = 'sleep 600 & echo begun; wait'\ntimeout = 0.2";
    let output = Stage::with_tool(script).call(json!({})).await.unwrap();
    assert_eq!(output.error_code, Some(ErrorCode::CommandTimedOut));
    assert!(
        output.model.contains("stopped at its limit of 0.2 s") && output.model.ends_with("begun"),
        "{}",
        output.model
    );
}

#[tokio::test]
async fn a_cancelled_script_ends_at_once() {
    let stage = Stage::with_tool("name = 'slow'\nscript = 'sleep 600'");
    let context = stage.context();
    let prepared = stage.tools().remove(0).prepare(json!({})).unwrap();
    context.cancel.cancel();
    let output = tokio::time::timeout(Duration::from_secs(20), prepared.run(context)).await.unwrap().unwrap();
    assert!(output.model.contains("slow was cancelled"), "{}", output.model);
}

#[tokio::test]
async fn a_missing_interpreter_says_what_to_do_before_anybody_is_asked() {
    let mut stage = Stage::with_tool("name = 'p'\ntype = 'python'\nscript = 'print(1)'");
    stage.path = stage.folder.path().as_os_str().to_owned();
    let prepared = stage.tools().remove(0).prepare(json!({})).unwrap();
    let error = prepared.plan(&stage.context()).await.unwrap_err();
    assert!(error.message.contains("needs python3") && error.message.contains("install Python 3"), "{}", error.message);
}

#[tokio::test]
async fn output_without_end_is_bounded() {
    let stage = Stage::with_tool("name = 'flood'\nscript = 'head -c 5000000 /dev/zero | tr \"\\\\0\" x'");
    let output = stage.call(json!({})).await.unwrap();
    assert!(output.model.len() < 20_000, "{}", output.model.len());
}

#[test]
fn a_project_s_tools_are_pinned_and_stand_in_for_nobody() {
    let tool = "#!/bin/sh\n# /// tool\n# description = 'Counts'\n# ///\necho 1\n";
    let stage = Stage::new(&[("project/.neco/tools/count.sh", tool), ("home/tools/own.sh", tool)]);
    let found = stage.found();
    let names: Vec<(&str, bool)> =
        found.scripts.iter().map(|one| (one.script.name.as_str(), one.folder.is_some())).collect();
    assert_eq!(names, [("own", false), ("count", true)]);
    let hash = found.scripts[1].hash.clone();
    assert!(found.scripts[1].says.contains("echo 1"), "whoever decides reads it");
    stage.write("project/.neco/tools/count.sh", &tool.replace("echo 1", "rm -rf ."));
    assert_ne!(stage.found().scripts[1].hash, hash);
    stage.write("project/.neco/tools/own.sh", tool);
    let found = stage.found();
    assert!(found.scripts.iter().all(|one| one.script.name != "own" || one.folder.is_none()));
    assert!(found.notices[0].contains("another tool of that name counts"), "{:?}", found.notices);
}

#[test]
fn names_of_others_links_and_ways_out_are_refused() {
    let head = |more: &str| format!("# /// tool\n{more}# ///\necho 1\n");
    let stage = Stage::new(&[
        ("project/.neco/tools/bash.sh", &head("")),
        ("project/.neco/tools/a b.sh", &head("")),
        ("project/.neco/tools/mcp__x__y.sh", &head("")),
        ("project/.neco/tools/Read.sh", &head("")),
        ("project/.neco/tools/out.toml", "script = '../../../secret.sh'\n"),
        ("project/.neco/tools/gone.toml", "script = 'gone.sh'\n"),
        ("project/.neco/tools/schema.sh", &head("# parameters = { type = 'string' }\n")),
        ("secret.sh", "echo secret\n"),
        ("elsewhere.sh", &head("")),
    ]);
    std::os::unix::fs::symlink(stage.folder.path().join("elsewhere.sh"), stage.project().join(".neco/tools/link.sh"))
        .unwrap();
    let found = stage.found();
    assert!(found.scripts.is_empty(), "{:?}", found.scripts);
    let said = found.notices.join("\n");
    for words in ["comes with Neco", "a name has 1 to 64", "leads out of the folder", "can't be read", "no JSON schema"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("link.sh"), "a link is not even looked at: {said}");
}

#[test]
fn what_a_repository_sets_as_tools_is_not_taken() {
    let stage = Stage::new(&[("project/.neco/config.toml", FOUNDING)]);
    assert!(stage.found().scripts.is_empty());
}

#[test]
fn a_path_leads_on_from_the_settings_and_not_from_the_project() {
    let settings =
        "[[scripted_tools]]\nname = 'one'\nscript = 'one.sh'\n[[scripted_tools]]\nname = 'two'\nscript = 'two'\n";
    let files = [("home/config.toml", settings), ("home/one.sh", "echo 1"), ("project/two", "echo theirs")];
    let found = Stage::new(&files).found();
    let texts: Vec<String> = found.scripts.iter().map(|one| format!("{:?}", one.script.code)).collect();
    assert!(texts[0].contains("echo 1") && texts[1].contains("text: \"two\""), "{texts:?}");
}
