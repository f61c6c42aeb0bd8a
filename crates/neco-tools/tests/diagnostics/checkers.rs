//! Each built-in checker, as far as it can be had here.

use std::io::Write;

use neco_config::section::DiagnosticsSection;
use neco_proto::Risk;
use neco_proto::{ApprovalMode, Mode};
use neco_safety::command::Place;
use neco_safety::{Action, Confinement, Policy, Ruling, SideEffect, Who};
use serde_json::json;

use crate::bench::{Bench, data};
use crate::packages::{node_modules, python_programs};

fn skipped(what: &str, reason: &str) {
    // Past the harness, which hides what a test that passes prints.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what} was not tried: {reason}");
}

const MANIFEST: &str = "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";

#[tokio::test]
async fn cargo() {
    let bench = Bench::new(DiagnosticsSection::default());
    bench.put("Cargo.toml", MANIFEST);
    bench.put("src/lib.rs", "mod a;\nfn unused() {}\n");
    bench.put("src/a.rs", "pub fn f() -> i32 {\n    \"s\"\n}\n");
    let all = bench.check(json!({})).await;
    assert!(all.model.starts_with("cargo: 1 error"), "{}", all.model);
    let problem = "src/a.rs:2:5: error: mismatched types: expected `i32`, found `&str` [E0308]";
    assert!(data(&all).starts_with(problem), "{}", all.model);
    assert_eq!(all.outside.as_ref().unwrap().source, "cargo");
    assert_eq!(all.error_code, None, "a checker that finds something did its work");
    let other = bench.check(json!({ "path": "src/lib.rs" })).await;
    assert!(
        other.model.contains("in other files are not listed") && !other.model.contains("src/a.rs"),
        "{}",
        other.model
    );
    bench.put("src/a.rs", "");
    bench.put("src/lib.rs", "");
    let clean = bench.check(json!({ "path": "src" })).await;
    assert!(clean.model.starts_with("cargo: nothing found"), "{}", clean.model);
    bench.put("Cargo.toml", "[package\n");
    let broken = bench.check(json!({})).await;
    assert!(data(&broken).starts_with("Cargo.toml:1:9: error:"), "{}", broken.model);
}

#[tokio::test]
async fn a_member_of_a_cargo_workspace_has_paths_of_its_own() {
    let bench = Bench::new(DiagnosticsSection::default());
    bench.put("Cargo.toml", "[workspace]\nmembers = [\"a\"]\nresolver = \"2\"\n");
    bench.put("a/Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    bench.put("a/src/lib.rs", "fn f() { g() }\n");
    let output = bench.check(json!({ "path": "a/src/lib.rs" })).await;
    assert!(data(&output).starts_with("a/src/lib.rs:1:10: error: cannot find function `g`"), "{}", output.model);
}

#[tokio::test]
async fn it_is_judged_as_the_command_it_is() {
    let bench = Bench::new(DiagnosticsSection::default());
    bench.put("sub/Cargo.toml", MANIFEST);
    let plan = bench.plan("diagnostics", json!({ "path": "sub" })).await.unwrap();
    let line = "cargo check --quiet --all-targets --message-format=json";
    assert_eq!((plan.risk, plan.command.as_deref()), (Risk::Low, Some(line)));
    assert_eq!(plan.folder, Some(bench.workspace.join("sub")));
    let policy = Policy::new(Place::new(&bench.workspace), Vec::new());
    let arguments = json!({});
    let action = Action {
        tool: "diagnostics",
        origin: neco_proto::ToolOrigin::BUILT_IN,
        arguments: &arguments,
        touch: SideEffect::Runs,
        risk: plan.risk,
        command: plan.command.as_deref(),
        folder: plan.folder.as_deref(),
        paths: &[],
        because: None,
        freedom: plan.freedom,
    };
    let judged = |mode, approval| {
        let confinement = Confinement::Boxed;
        let who = Who { mode, approval, person_present: true, role: Who::ROOT, confinement, network: false };
        policy.judge(&action, &who).ruling
    };
    assert_eq!(judged(Mode::Agent, ApprovalMode::AskFirst), Ruling::Ask);
    assert_eq!(judged(Mode::Agent, ApprovalMode::Auto), Ruling::Allow);
    assert_eq!(judged(Mode::Plan, ApprovalMode::Auto), Ruling::Deny);
}

#[tokio::test]
async fn tsc_and_eslint() {
    let modules = match node_modules(&["typescript", "eslint"]) {
        Ok(modules) => modules,
        Err(reason) => return skipped("tsc and eslint", &reason),
    };
    let bench = Bench::new(DiagnosticsSection::default());
    std::os::unix::fs::symlink(modules, bench.workspace.join("node_modules")).unwrap();
    bench.put("web/tsconfig.json", r#"{"compilerOptions":{"strict":true},"include":["src"]}"#);
    bench.put("web/src/a.ts", "const x: number = \"s\";\nexport default x;\n");
    bench.put("web/eslint.config.mjs", "export default [{ rules: { \"no-var\": \"error\", eqeqeq: \"warn\" } }];\n");
    bench.put("web/src/b.js", "var y = 1;\nexport const z = y == 2;\n");
    bench.put("web/src/c.js", "var c = 1;\nexport default c;\n");
    let types = bench.check(json!({ "path": "web/src/a.ts", "checker": "tsc" })).await;
    assert_eq!(
        data(&types),
        "web/src/a.ts:1:7: error: Type 'string' is not assignable to type 'number'. [TS2322]",
        "{}",
        types.model
    );
    let lint = bench.check(json!({ "path": "web/src/b.js" })).await;
    assert!(lint.model.starts_with("eslint: 1 error, 1 warning"), "{}", lint.model);
    assert!(data(&lint).starts_with("web/src/b.js:1:1: error:") && !lint.model.contains("c.js"), "{}", lint.model);
    // From the workspace the projects below are found, each in its folder.
    let all = bench.check(json!({})).await;
    assert!(all.model.contains("tsc: 1 error") && all.model.contains("eslint: 2 errors"), "{}", all.model);
}

#[tokio::test]
async fn ruff() {
    let programs = match python_programs("ruff") {
        Ok(programs) => programs,
        Err(reason) => return skipped("ruff", &reason),
    };
    let bench = Bench::with_programs(DiagnosticsSection::default(), &[programs]);
    bench.put("pyproject.toml", "[tool.ruff.lint]\nselect = [\"F\"]\n");
    bench.put("a.py", "import os\nx = nothing\n");
    let output = bench.check(json!({ "path": "a.py" })).await;
    let found = "a.py:1:8: error: `os` imported but unused [F401]\na.py:2:5: error: Undefined name `nothing` [F821]";
    assert_eq!(data(&output), found, "{}", output.model);
}

#[tokio::test]
async fn go_vet() {
    if let Err(error) = std::process::Command::new("go").arg("version").output() {
        return skipped("go vet", &error.to_string());
    }
    let bench = Bench::new(DiagnosticsSection::default());
    bench.put("go.mod", "module example.com/x\n\ngo 1.19\n");
    bench.put("a.go", "package x\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\\n\", \"s\") }\n");
    let output = bench.check(json!({})).await;
    assert!(data(&output).starts_with("a.go:5:12: warning: fmt.Printf format %d"), "{}", output.model);
    assert!(data(&output).ends_with("[printf]"), "{}", output.model);
}
