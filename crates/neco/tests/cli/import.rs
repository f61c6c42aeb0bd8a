//! Set-ups of other agents: each is imported, nothing secret comes along, a second time changes nothing, and a run
//! afterwards uses what came in.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::mcp_use::SERVER;
use crate::support::{House, Ran, call, say};

/// A house with the sample set-up of an agent in its home and its project, and hostile files beside.
fn house(agent: &str) -> House {
    let house = House::playing(json!([say("Hello.")]));
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/setups").join(agent);
    let server = house.path("server.sh");
    fs::write(&server, SERVER).unwrap();
    for (from, to) in [("home", "home"), ("project", "project")] {
        copy(&samples.join(from), &house.path(to), &server.display().to_string());
    }
    house
}

fn copy(from: &Path, to: &Path, server: &str) {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&path, &target, server);
        } else {
            fs::write(&target, fs::read_to_string(&path).unwrap().replace("@SERVER@", server)).unwrap();
        }
    }
}

/// All files below a folder, with what is in them.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.symlink_metadata().unwrap() {
            facts if facts.is_dir() => all.extend(files(&path)),
            facts if facts.is_file() => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
            _ => {}
        }
    }
    all
}

/// What is kept, without the program's own data.
fn settings(house: &House) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = files(&house.path("home"));
    all.extend(files(&house.path("project")));
    all.retain(|path, _| !path.starts_with(house.path("home/data")) || path.extension().is_some_and(|end| end == "md"));
    all
}

fn row<'a>(report: &'a Value, kind: &str, name: &str) -> &'a Value {
    let rows = report["rows"].as_array().unwrap();
    let found = rows.iter().find(|row| row["kind"] == kind && row["name"].as_str().unwrap().starts_with(name));
    found.unwrap_or_else(|| panic!("no {kind} {name} in {report:#}"))
}

#[track_caller]
fn outcome(report: &Value, kind: &str, name: &str, expected: &str) {
    let row = row(report, kind, name);
    assert_eq!(row["outcome"], expected, "{row:#}");
}

/// Runs an import that prints JSON: its exit code says whether a piece failed.
#[track_caller]
fn imports(house: &House, line: &[&str]) -> Ran {
    let ran = house.run(line);
    let failed = ran.json()["rows"].as_array().unwrap().iter().any(|row| row["outcome"] == "failed");
    ran.ended_with(i32::from(failed))
}

/// Imports the set-up: first as a preview, which writes nothing and says the same, then in earnest, then again, where
/// nothing is new and nothing is written.
fn imported(house: &House, agent: &str) -> Value {
    let before = settings(house);
    let preview = imports(house, &["import", agent, "--dry-run", "--json"]);
    assert_eq!(settings(house), before, "a preview writes nothing");
    let ran = imports(house, &["import", agent, "--json"]);
    let (preview, report) = (preview.json(), ran.json());
    let told = |report: &Value| -> Vec<String> {
        let rows = report["rows"].as_array().unwrap().iter();
        // The number of an entry that is remembered is made when it is kept.
        let to = |row: &Value| row["to"].as_str().map(|to| to.split(' ').next().unwrap().to_owned());
        rows.map(|row| format!("{} {} {} {:?} {}", row["kind"], row["name"], row["outcome"], to(row), row["words"]))
            .collect()
    };
    assert_eq!(told(&preview), told(&report), "a preview says the same");
    let after = settings(house);
    for (path, bytes) in &after {
        let is_new = before.get(path) != Some(bytes);
        assert!(!is_new || !String::from_utf8_lossy(bytes).contains("HUSH"), "{} holds a secret", path.display());
    }
    for (path, bytes) in &before {
        let is_ours = path.ends_with("home/config.toml") || path.ends_with("project/.mcp.json");
        assert!(is_ours || after.get(path) == Some(bytes), "{} was changed", path.display());
    }
    let again = imports(house, &["import", agent, "--json"]);
    assert_eq!(settings(house), after, "a second time changes nothing");
    let text = house.run(&["import", agent]).ended_with(again.code);
    for said in [&ran.stdout, &ran.stderr, &again.stdout, &again.stderr, &text.stdout, &text.stderr] {
        assert!(!said.contains("HUSH"), "{said}");
    }
    for row in again.json()["rows"].as_array().unwrap() {
        assert!(!["taken", "changed"].contains(&row["outcome"].as_str().unwrap()), "{row:#}");
    }
    report
}

/// Plays these turns with one message, after the box was taken off the server that came in.
fn plays(house: &House, turns: Value, message: &[&str]) -> Ran {
    house.script("script.json", turns);
    house.run(&["config", "set", "mcp_servers.docs.sandbox", "false"]).ended_with(0);
    let mut command = house.neco(message);
    Ran::of(command.env("DOCS_TOKEN", "set-by-hand"))
}

/// The server that came in answers a call, with the rule that allows it.
fn the_server_answers(house: &House) {
    let turns = json!([call("mcp__docs__count", json!({})), say("Counted.")]);
    let ran = plays(house, turns, &["-m", "count", "--allow", "mcp__docs__count"]).ended_with(0);
    assert!(house.path("server.sh.called").exists(), "{}{}", ran.stdout, ran.stderr);
}

/// `echo taken` is run, and `echo refused` is not although nothing is asked about, by the rules that came in.
fn the_rules_hold(house: &House) {
    let turns = json!([
        call("bash", json!({ "command": "echo taken over > taken.txt" })),
        call("bash", json!({ "command": "echo refused over > refused.txt" })),
        say("Done."),
    ]);
    let ran = plays(house, turns, &["-m", "try", "--yes"]);
    assert!(house.path("project/taken.txt").exists(), "{}{}", ran.stdout, ran.stderr);
    assert!(!house.path("project/refused.txt").exists(), "{}{}", ran.stdout, ran.stderr);
    let explained = |line: &str| house.run(&["policy", "explain", "bash", line]).stdout;
    assert!(explained("echo taken over").contains("allow"), "{}", explained("echo taken over"));
    assert!(explained("echo refused over").contains("deny"), "{}", explained("echo refused over"));
}

/// The skill that came in is brought in when a person names it.
fn the_skill_is_used(house: &House) {
    let said = "List the commits since the last tag";
    let turns = json!([{ "expect": { "last_user_contains": said }, "say": "Listed." }]);
    plays(house, turns, &["-m", "$release-notes"]).ended_with(0).says("Listed.");
}

/// The agent that came in is started, with the prompt that it had.
fn the_agent_works(house: &House) {
    let turns =
        json!([call("spawn_agent", json!({ "agent": "reviewer", "task": "look" })), say("Asked."), say("Looked.")]);
    let reviewer = json!([{ "expect": { "system_contains": "You review changes." }, "say": "All is well." }]);
    let script = json!({ "turns": turns, "agents": [{ "role": "reviewer", "turns": reviewer }] });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
    let ran = house.run(&["-m", "review", "--yes"]).ended_with(0);
    assert!(ran.stderr.contains("✓ reviewer-1 · All is well."), "{}{}", ran.stdout, ran.stderr);
}

/// The hook that came in ran before a command.
fn the_hook_ran(house: &House) {
    assert!(house.path("project/hook-ran.txt").exists());
}

/// The command that came in says what it said there.
fn the_command_is_said(house: &House, line: &str, said: &str) {
    let turns = json!([{ "expect": { "last_user_contains": said }, "say": "Shipped." }]);
    plays(house, turns, &["-m", line]).ended_with(0).says("Shipped.");
}

#[test]
fn claude_code_is_taken_over() {
    let house = house("claude-code");
    let report = imported(&house, "claude-code");
    outcome(&report, "model", "sonnet", "yours");
    outcome(&report, "server", "docs", "changed");
    outcome(&report, "server", "tickets", "changed");
    outcome(&report, "server", "old one", "not_supported");
    outcome(&report, "permission", "allow Bash(echo taken", "taken");
    outcome(&report, "permission", "deny Bash(echo refused", "in_place");
    outcome(&report, "permission", "1 that allow", "not_supported");
    for name in
        ["allow Bash(*:*)", "allow mcp__*__*", "allow Bash(GITHUB_TOKEN=", "allow Bash(curl", "allow Bash(PGPASSWORD"]
    {
        outcome(&report, "permission", name, "yours");
    }
    outcome(&report, "server", "linear", "taken");
    outcome(&report, "permission", "allow Skill(pdf)", "not_supported");
    outcome(&report, "hook", "Stop prompt", "not_supported");
    outcome(&report, "hook", "PreToolUse", "in_place");
    outcome(&report, "hook", "WorktreeCreate", "not_supported");
    outcome(&report, "command", "commands", "in_place");
    outcome(&report, "rules", "CLAUDE.md", "in_place");
    outcome(&report, "key", "ANTHROPIC_API_KEY", "yours");
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(config.contains("DOCS_TOKEN = \"${DOCS_TOKEN}\"") && config.contains("DOCS_LEVEL = \"3\""), "{config}");
    assert!(config.contains("Authorization = \"Bearer ${TICKETS_AUTHORIZATION}\""), "{config}");
    assert!(config.contains("\"Authorization: Bearer ${LINEAR_KEY}\""), "{config}");
    the_server_answers(&house);
    the_rules_hold(&house);
    the_hook_ran(&house);
    the_skill_is_used(&house);
    the_agent_works(&house);
    the_command_is_said(&house, "/ship 1.2", "Ship version 1.2.");
}

#[test]
fn plugins_of_claude_code_are_named_with_how_each_is_added() {
    let house = house("claude-code");
    let report = imported(&house, "claude-code");
    let words =
        |report: &Value, name: &str| row(report, "plugin", name)["words"].as_str().unwrap_or_default().to_owned();
    for (name, expected, said) in [
        (
            "format@market",
            "yours",
            "`neco plugin marketplace add acme/market#v2`, then `neco plugin add format@market`",
        ),
        ("charts@shelf", "yours", "`neco plugin marketplace add ~/shelf`, then `neco plugin add charts@shelf`"),
        ("tools@claude-plugins-official", "yours", "marketplace add anthropics/claude-plugins-official`"),
        ("lost@nowhere", "yours", "nothing says where the marketplace nowhere is"),
        ("team@far", "yours", "the project wants it, and can't install it"),
        ("old@shelf", "not_supported", "switched off"),
        ("odd", "not_supported", "which marketplace"),
        ("x;id@shelf", "not_supported", "name"),
        ("marketplace shelf", "yours", "`neco plugin marketplace add ~/shelf`"),
        ("marketplace far", "yours", "acme/plugins"),
        ("marketplace web", "not_supported", "url"),
    ] {
        outcome(&report, "plugin", name, expected);
        assert!(words(&report, name).contains(said), "{name}: {}", words(&report, name));
    }
    assert!(words(&report, "team@far").contains("neco plugin add team@far --project"));
    let add = &row(&report, "plugin", "charts@shelf")["add"];
    assert_eq!(add["from"], "charts@shelf");
    let folder = add["marketplace"].as_str().unwrap().to_owned();
    assert!(row(&report, "plugin", "format@market")["add"].is_null(), "nothing is fetched by itself");
    house.run(&["plugin", "marketplace", "add", &folder]).ended_with(0);
    let known = imports(&house, &["import", "claude-code", "--json"]).json();
    outcome(&known, "plugin", "marketplace shelf", "already");
    assert!(words(&known, "charts@shelf").starts_with("`neco plugin add charts@shelf` shows"));
    house.run(&["plugin", "add", "charts@shelf", "--yes"]).ended_with(0);
    let there = imports(&house, &["import", "claude-code", "--json"]).json();
    outcome(&there, "plugin", "charts@shelf", "already");
}

#[test]
fn codex_is_taken_over() {
    let house = house("codex");
    let report = imported(&house, "codex");
    outcome(&report, "server", "docs", "changed");
    outcome(&report, "server", "issues", "taken");
    outcome(&report, "server", "shared", "taken");
    outcome(&report, "provider", "corner", "changed");
    outcome(&report, "provider", "hosted", "changed");
    outcome(&report, "model", "gpt-5-codex", "yours");
    outcome(&report, "permission", "allow Bash(echo taken", "taken");
    outcome(&report, "command", "prompts", "in_place");
    outcome(&report, "agent", "reviewer", "changed");
    outcome(&report, "skill", "release-notes", "taken");
    outcome(&report, "hook", "PreToolUse", "changed");
    outcome(&report, "setting", "profiles", "not_supported");
    let script = house.path("home/skills/release-notes/scripts/tags.sh");
    assert!(script.exists() && house.path("home/agents/reviewer.md").exists());
    house.run(&["agents", "validate"]).ended_with(0);
    let shared = fs::read_to_string(house.path("project/.mcp.json")).unwrap();
    assert!(shared.contains("\"shared\""), "what a project brings stays with it: {shared}");
    the_server_answers(&house);
    the_rules_hold(&house);
    the_hook_ran(&house);
    the_skill_is_used(&house);
    // Its model has no key here.
    let agent = house.path("home/agents/reviewer.md");
    let text = fs::read_to_string(&agent).unwrap();
    fs::write(&agent, text.replace("model: \"openai/gpt-5-mini\"\n", "")).unwrap();
    assert_ne!(fs::read_to_string(&agent).unwrap(), text, "{text}");
    the_agent_works(&house);
    the_command_is_said(&house, "/ship 1.2", "Ship version 1.2.");
    the_command_is_said(&house, "/prompts:ship 1.3", "Ship version 1.3.");
    the_command_is_said(&house, "/draft TITLE='Two words' FILES=src/a.rs", "Draft \"Two words\" over src/a.rs for $5.");
    house.run(&["-m", "/draft TITLE=x"]).ended_with(2).says("/draft needs FILES").says("FILES=…");
}

#[test]
fn prompts_of_codex_come_in_where_its_variable_leads_elsewhere() {
    let house = house("codex");
    fs::rename(house.path("home/.codex"), house.path("home/elsewhere")).unwrap();
    fs::write(house.path("outside.md"), "HUSH outside\n").unwrap();
    symlink(house.path("outside.md"), house.path("home/elsewhere/prompts/leak.md")).unwrap();
    fs::write(house.path("home/elsewhere/prompts/huge.md"), "x".repeat(2 << 20)).unwrap();
    let import = || {
        let mut command = house.neco(&["import", "codex", "--json"]);
        Ran::of(command.env("CODEX_HOME", house.path("home/elsewhere"))).ended_with(0).json()
    };
    let report = import();
    outcome(&report, "command", "ship", "taken");
    outcome(&report, "command", "leak", "not_supported");
    outcome(&report, "command", "huge", "not_supported");
    outcome(&report, "command", "with-key", "changed");
    outcome(&report, "command", "draft", "changed");
    let words = row(&report, "command", "draft")["words"].as_str().unwrap().to_owned();
    assert!(words.contains("without their names"), "{words}");
    assert!(!fs::read_to_string(house.path("home/commands/with-key.md")).unwrap().contains("HUSH"));
    the_command_is_said(&house, "/draft 'Two words' src/a.rs", "Draft \"Two words\" over src/a.rs for $5.");
}

#[test]
fn gemini_cli_is_taken_over() {
    let house = house("gemini");
    let report = imported(&house, "gemini");
    outcome(&report, "server", "docs", "changed");
    outcome(&report, "server", "stream", "not_supported");
    outcome(&report, "server", "issues", "taken");
    outcome(&report, "permission", "allow run_shell_command(echo kept)", "taken");
    outcome(&report, "permission", "allow run_shell_command(gh pr", "yours");
    outcome(&report, "permission", "allow *", "yours");
    outcome(&report, "command", "commands", "in_place");
    outcome(&report, "hook", "PreToolUse", "changed");
    outcome(&report, "key", "gemini", "yours");
    outcome(&report, "plugin", "charts", "yours");
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(config.contains("X-Api-Key = \"${ISSUES_KEY}\""), "{config}");
    the_server_answers(&house);
    the_rules_hold(&house);
    the_hook_ran(&house);
    the_skill_is_used(&house);
    the_agent_works(&house);
    house.run(&["policy", "explain", "bash", "echo kept"]).ended_with(0).says("allow");
    let turns = json!([call("bash", json!({ "command": "make all > made.txt" })), say("Done.")]);
    plays(&house, turns, &["-m", "make it"]);
    assert!(!house.path("project/made.txt").exists(), "nothing allows every command");
    the_command_is_said(&house, "/ship 1.2", "Ship version 1.2.");
}

#[test]
fn opencode_is_taken_over() {
    let house = house("opencode");
    let report = imported(&house, "opencode");
    outcome(&report, "server", "docs", "changed");
    outcome(&report, "server", "issues", "taken");
    outcome(&report, "provider", "corner", "changed");
    outcome(&report, "key", "anthropic", "yours");
    outcome(&report, "permission", "allow Bash(echo taken", "taken");
    outcome(&report, "permission", "ask Edit", "already");
    outcome(&report, "permission", "allow Bash(ls", "not_supported");
    outcome(&report, "command", "ship", "in_place");
    outcome(&report, "command", "../../escape", "not_supported");
    outcome(&report, "agent", "reviewer", "changed");
    outcome(&report, "agent", "tester", "taken");
    outcome(&report, "agent", "checker", "changed");
    assert!(fs::read_to_string(house.path("home/agents/checker.md")).unwrap().contains("You check what others say."));
    outcome(&report, "rules", "AGENTS.md", "taken");
    outcome(&report, "setting", "plugin", "not_supported");
    house.run(&["agents", "validate"]).ended_with(0);
    the_server_answers(&house);
    the_rules_hold(&house);
    the_command_is_said(&house, "/ship 1.2", "Ship version 1.2.");
    let turns = json!([{ "expect": { "system_contains": "Prefer small commits." }, "say": "Yes." }]);
    plays(&house, turns, &["-m", "hello"]).ended_with(0).says("Yes.");
    the_skill_is_used(&house);
    the_agent_works(&house);
}

#[test]
fn cursor_is_taken_over() {
    let house = house("cursor");
    let report = imported(&house, "cursor");
    outcome(&report, "server", "docs", "changed");
    outcome(&report, "server", "with-args", "changed");
    outcome(&report, "server", "shared", "taken");
    outcome(&report, "permission", "allow Bash(echo taken", "taken");
    let all = report["rows"].as_array().unwrap().iter().find(|row| row["name"] == "allow Bash").unwrap();
    assert_eq!(all["outcome"], "yours", "what allows every command is left to the person");
    outcome(&report, "permission", "allow mcp__*__*", "yours");
    outcome(&report, "permission", "allow Bash(echo kept:*)", "taken");
    outcome(&report, "permission", "allow mcp__issues__list", "taken");
    outcome(&report, "setting", "autoRun", "not_supported");
    outcome(&report, "agent", "reviewer", "changed");
    assert!(fs::read_to_string(house.path("home/agents/reviewer.md")).unwrap().contains("\nmode: plan\n"));
    house.run(&["agents", "validate"]).ended_with(0);
    house.run(&["policy", "explain", "bash", "echo kept"]).ended_with(0).says("allow");
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(config.contains("\"Authorization:Bearer ${LINEAR_AUTH_HEADER}\""), "{config}");
    outcome(&report, "hook", "beforeShellExecution", "not_supported");
    outcome(&report, "rules", "rules", "in_place");
    outcome(&report, "command", "ship", "taken");
    the_server_answers(&house);
    the_rules_hold(&house);
    the_command_is_said(&house, "/ship 1.2", "Ship the version that I name.");
    the_skill_is_used(&house);
}

#[test]
fn openclaw_is_taken_over() {
    let house = house("openclaw");
    let report = imported(&house, "openclaw");
    outcome(&report, "server", "docs", "changed");
    outcome(&report, "group", "coding", "changed");
    outcome(&report, "group", "openclaw", "changed");
    outcome(&report, "group", "broken", "failed");
    outcome(&report, "provider", "corner", "changed");
    outcome(&report, "permission", "deny web_search", "taken");
    outcome(&report, "permission", "deny canvas", "not_supported");
    outcome(&report, "memory", "MEMORY.md", "taken");
    outcome(&report, "memory", "2026-02-03.md", "changed");
    outcome(&report, "setting", "channels", "not_supported");
    outcome(&report, "setting", "skills.load.extraDirs", "changed");
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(config.contains("\"zhipuai/glm-4.7\",\"minimax-cn/minimax-m2\",\"openai/gpt-5\""), "{config}");
    let remembered = house.run(&["memory", "list", "--json"]).ended_with(0).stdout;
    for title in [
        "MEMORY.md of OpenClaw in ~/.openclaw/workspace",
        "memory/2026-02-03.md of OpenClaw in ~/.openclaw/workspace",
        "memory/2026-02-04.md of OpenClaw in ~/.openclaw/workspace",
        "MEMORY.md of OpenClaw in ~/work",
        "memory/2026-02-03.md of OpenClaw in ~/work",
    ] {
        assert!(remembered.contains(&format!("{title}\"")), "{title} is not in {remembered}");
    }
    house.run(&["memory", "search", "releases", "Mondays"]).ended_with(0).says("~/work");
    the_server_answers(&house);
    the_skill_is_used(&house);
    house.run(&["policy", "explain", "web_search", "x"]).says("deny");
}

#[test]
fn the_model_comes_in_where_none_is_chosen() {
    for (agent, theirs, own) in [
        ("claude-code", "sonnet", "anthropic/claude-sonnet-5-5"),
        ("codex", "gpt-5-codex", "openai/gpt-5-codex?reasoning=high"),
        ("gemini", "gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("opencode", "corner/qwen3-coder", "corner/qwen3-coder"),
        ("openclaw", "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
    ] {
        let house = house(agent);
        let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
        house.configure(&config.replace("model = \"play/a\"\n", ""));
        let report = imported(&house, agent);
        let row = row(&report, "model", theirs);
        assert!(["taken", "changed"].contains(&row["outcome"].as_str().unwrap()), "{agent}: {row:#}");
        let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
        assert!(config.contains(&format!("model = \"{own}\"")), "{agent}: {config}");
        house.run(&["config", "show"]).ended_with(0).says(own);
    }
}

#[test]
fn memory_that_has_changed_since_stays_and_is_told() {
    let house = house("openclaw");
    imported(&house, "openclaw");
    fs::write(house.path("home/work").join("MEMORY.md"), "Releases are made on Tuesdays now.\n").unwrap();
    fs::write(house.path("home/work").join("USER.md"), "All of this is known.\n".repeat(1000)).unwrap();
    for line in [&["import", "openclaw", "--dry-run", "--json"][..], &["import", "openclaw", "--json"]] {
        let report = imports(&house, line).json();
        let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == "memory");
        let of_work: Vec<&Value> = rows.filter(|row| row["from"].as_str().unwrap().starts_with("~/work")).collect();
        let told = |name: &str| of_work.iter().find(|row| row["name"] == name).unwrap().to_string();
        assert!(told("MEMORY.md").contains("yours") && told("MEMORY.md").contains("neco memory rm"), "{report:#}");
        for part in ["USER.md (1 of 2)", "USER.md (2 of 2)"] {
            assert!(told(part).contains("taken"), "what is too long for one is several: {report:#}");
        }
    }
}

#[test]
fn two_skills_of_one_name_are_told_before_and_after() {
    let house = house("openclaw");
    let skill = house.path("home/work").join("skills/release-notes");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: release-notes\ndescription: Others.\n---\nOther ones.\n").unwrap();
    let told = |line: &[&str]| -> Vec<String> {
        let report = imports(&house, line).json();
        let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == "skill");
        rows.map(|row| format!("{} {}", row["from"], row["outcome"])).collect()
    };
    let preview = told(&["import", "openclaw", "--dry-run", "--json"]);
    assert_eq!(preview, told(&["import", "openclaw", "--json"]));
    assert!(preview[0].ends_with("\"taken\"") && preview[1].ends_with("\"yours\""), "{preview:?}");
}

#[test]
fn a_skill_comes_whole_without_files_of_secrets_or_not_at_all() {
    let house = house("codex");
    let skill = house.path("home/.codex/skills/release-notes");
    fs::write(skill.join(".env"), "A=HUSH").unwrap();
    fs::create_dir_all(skill.join(".git")).unwrap();
    fs::write(skill.join(".git/config"), "HUSH").unwrap();
    let deep = house.path("home/.codex/skills/deep");
    fs::create_dir_all(deep.join("1/2/3/4/5/6/7/8")).unwrap();
    fs::write(deep.join("SKILL.md"), "---\nname: deep\ndescription: d\n---\n").unwrap();
    symlink(&deep, house.path("home/.codex/skills/elsewhere")).unwrap();
    fs::create_dir_all(house.path("home/.agents/skills/shared")).unwrap();
    fs::write(house.path("home/.agents/skills/shared/SKILL.md"), "---\nname: shared\ndescription: d\n---\n").unwrap();
    symlink(house.path("home/.agents/skills/shared"), house.path("home/.codex/skills/shared")).unwrap();
    for number in 0..1100 {
        fs::write(house.path(&format!("home/.codex/agents/p{number}.toml")), "name = \"x\"").unwrap();
    }
    let report = imported(&house, "codex");
    outcome(&report, "skill", "release-notes", "changed");
    let words = row(&report, "skill", "release-notes")["words"].as_str().unwrap().to_owned();
    assert!(words.contains(".env") && words.contains(".git"), "{words}");
    outcome(&report, "skill", "deep", "failed");
    outcome(&report, "skill", "elsewhere", "not_supported");
    outcome(&report, "skill", "shared", "in_place");
    outcome(&report, "file", "agents", "yours");
    for gone in ["deep", "elsewhere", "shared", "release-notes/.env", "release-notes/.git"] {
        assert!(!house.path("home/skills").join(gone).exists(), "{gone}");
    }
    the_skill_is_used(&house);
}

#[test]
fn sessions_of_an_older_openclaw_are_found_where_they_are_counted() {
    let house = House::playing(json!([say("Hello.")]));
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sessions/openclaw-legacy.jsonl");
    let folder = house.path("home/.clawdbot/agents/main/sessions");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(sample, folder.join("1.jsonl")).unwrap();
    let report = imports(&house, &["import", "openclaw", "--json"]).json();
    outcome(&report, "sessions", "1", "yours");
    let report = imports(&house, &["import", "openclaw", "--all", "--json"]).json();
    outcome(&report, "sessions", "1", "taken");
}

#[test]
fn no_setting_of_codex_passes_in_silence() {
    let house = house("codex");
    let text = r#"
[tools]
web_search = false
view_image = true
[features]
unified_exec = true
[sandbox_workspace_write]
writable_roots = ["/srv/cache"]
network_access = true
exclude_slash_tmp = true
[history]
persistence = "none"
[shell_environment_policy]
inherit = "core"
exclude = ["AWS_*"]
[mcp_servers.one]
command = "one"
env = { API_KEY = "HUSH-first-one" }
required = true
[mcp_servers.two]
command = "two"
env = { API_KEY = "HUSH-second-one" }
"#;
    fs::write(house.path("home/.codex/deep.config.toml"), "model = \"gpt-5\"\n").unwrap();
    let file = house.path("home/.codex/config.toml");
    fs::write(&file, format!("{}{text}", fs::read_to_string(&file).unwrap())).unwrap();
    let report = imported(&house, "codex");
    for (name, expected) in [
        ("tools", "not_supported"),
        ("features", "not_supported"),
        ("writable_roots", "changed"),
        ("network_access", "yours"),
        ("sandbox_workspace_write", "not_supported"),
        ("history", "not_supported"),
        ("shell_environment_policy.exclude", "changed"),
        ("notify", "not_supported"),
        ("profile deep", "not_supported"),
    ] {
        outcome(&report, "setting", name, expected);
    }
    outcome(&report, "permission", "deny WebSearch", "taken");
    assert!(row(&report, "setting", "tools")["words"].as_str().unwrap().contains("view_image"));
    assert!(row(&report, "server", "one")["words"].as_str().unwrap().contains("without required"));
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(config.contains("${ONE_API_KEY}") && config.contains("${TWO_API_KEY}"), "{config}");
    assert!(config.contains("writable = [\"/srv/cache\"]") && config.contains("\"+AWS_*\""), "{config}");
}

#[test]
fn a_server_of_one_project_stays_with_it() {
    let house = house("claude-code");
    let server = |name: &str| json!({ "mcpServers": { name: { "command": "sh", "args": ["-c", "true"] } } });
    let here = house.project().canonicalize().unwrap().display().to_string();
    let state = json!({ "numStartups": 7, "projects": { here: server("near"), "/elsewhere": server("far") } });
    fs::write(house.path("home/.claude.json"), state.to_string()).unwrap();
    let report = imported(&house, "claude-code");
    outcome(&report, "server", "near", "changed");
    outcome(&report, "server", "far", "yours");
    outcome(&report, "setting", "the rest", "not_supported");
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(!config.contains("near") && !config.contains("far"), "{config}");
    assert!(fs::read_to_string(house.path("project/.mcp.json")).unwrap().contains("\"near\""));
}

#[test]
fn a_server_that_has_changed_since_is_told() {
    let house = house("codex");
    imported(&house, "codex");
    let file = house.path("home/.codex/config.toml");
    let text = fs::read_to_string(&file).unwrap().replace("startup_timeout_sec = 20", "env_vars = [\"TEAM\"]");
    fs::write(&file, text).unwrap();
    let report = imports(&house, &["import", "codex", "--json"]).json();
    outcome(&report, "server", "docs", "yours");
    assert!(row(&report, "server", "docs")["words"].as_str().unwrap().contains("(env_vars)"), "{report:#}");
}

#[test]
fn sessions_come_in_when_they_are_asked_for() {
    let house = house("codex");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sessions/codex.jsonl");
    let folder = house.path("home/.codex/sessions/2026/01/02");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(sample, folder.join("rollout-1.jsonl")).unwrap();
    let report = imports(&house, &["import", "codex", "--json"]).json();
    outcome(&report, "sessions", "1", "yours");
    let report = imports(&house, &["import", "codex", "--all", "--json"]).json();
    outcome(&report, "sessions", "1", "taken");
    let report = imports(&house, &["import", "codex", "--all", "--json"]).json();
    outcome(&report, "sessions", "1", "already");
}

#[test]
fn hostile_files_lead_nowhere() {
    let house = house("codex");
    let (home, project) = (house.path("home/.codex"), house.path("project"));
    fs::write(house.path("outside.md"), "HUSH outside\n").unwrap();
    symlink(house.path("outside.md"), home.join("skills/release-notes/leak.md")).unwrap();
    fs::write(home.join("hooks.json"), "{\"hooks\": [[[[").unwrap();
    fs::write(project.join(".codex/config.toml"), format!("HUSH = {}", "[".repeat(5000))).unwrap();
    fs::create_dir_all(house.path("elsewhere")).unwrap();
    fs::create_dir_all(project.join(".codex/skills/own")).unwrap();
    fs::write(project.join(".codex/skills/own/SKILL.md"), "---\nname: own\ndescription: x\n---\n").unwrap();
    symlink(house.path("elsewhere"), project.join(".neco")).unwrap();
    let report = imported(&house, "codex");
    outcome(&report, "file", "hooks.json", "failed");
    outcome(&report, "file", "config.toml", "failed");
    outcome(&report, "skill", "own", "failed");
    outcome(&report, "skill", "release-notes", "failed");
    assert!(row(&report, "skill", "release-notes")["words"].as_str().unwrap().contains("leads out"), "{report:#}");
    assert!(fs::read_dir(house.path("elsewhere")).unwrap().next().is_none(), "no link is followed");
    assert!(!house.path("home/skills/release-notes").exists(), "half a skill is none");
}

#[test]
fn what_is_set_here_stays() {
    let house = house("codex");
    let own = "[mcp_servers.docs]\ncommand = \"mine\"\n";
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("# my own\n{config}{own}"));
    fs::create_dir_all(house.path("home/agents")).unwrap();
    fs::write(house.path("home/agents/reviewer.md"), "mine\n").unwrap();
    let report = imports(&house, &["import", "codex", "--json"]).json();
    outcome(&report, "server", "docs", "yours");
    outcome(&report, "agent", "reviewer", "yours");
    outcome(&report, "model", "gpt-5-codex", "yours");
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(
        config.starts_with("# my own\n") && config.contains(own) && config.contains("model = \"play/a\""),
        "{config}"
    );
    assert_eq!(fs::read_to_string(house.path("home/agents/reviewer.md")).unwrap(), "mine\n");
}

#[test]
fn without_a_name_the_set_ups_are_listed() {
    let house = house("codex");
    house.run(&["import"]).ended_with(0).says("Codex").says("neco import codex --dry-run");
    let found = house.run(&["import", "--json"]).ended_with(0).json();
    assert_eq!(found[0]["agent"], "codex");
    House::playing(json!([])).run(&["import"]).ended_with(0).says("no set-up of another agent was found");
    house.run(&["import", "vim"]).ended_with(2);
}
