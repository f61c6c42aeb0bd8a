//! What people type who come from other agents: it does what they mean, or says what to write, and never goes to a model
//! by mistake.

use std::io::{BufRead, BufReader, Read};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{House, Ran, eventually, lives, say};

fn with_a_session() -> (House, String) {
    let house = House::playing(json!([say("one")]));
    let id = house.run(&["-m", "count", "--output-format", "json"]).ended_with(0).json()["session_id"].clone();
    house.script("script.json", json!([{ "say": "two", "expect": { "messages": 3, "last_user_contains": "go on" } }]));
    (house, id.as_str().unwrap().to_owned())
}

#[test]
fn a_session_is_continued_in_every_way_it_is_written() {
    let (_, id) = with_a_session();
    assert_eq!(id.len(), 36);
    for line in [
        &["--resume", "ID", "-m", "go on"][..],
        &["-r", "ID", "go on"],
        &["resume", "ID", "go on"],
        &["resume", "ID", "-p", "go on"],
        &["resume", "--last", "go on"],
        &["-c", "go on"],
        &["-c", "-p", "go on"],
        &["--continue", "-m", "go on"],
        &["run", "--continue", "go on"],
    ] {
        let (house, id) = with_a_session();
        let line: Vec<&str> = line.iter().map(|word| if *word == "ID" { id.as_str() } else { word }).collect();
        let ran = house.run(&line).ended_with(0);
        assert_eq!(ran.stdout, "two\n", "{line:?}");
    }
}

#[test]
fn where_nothing_can_be_chosen_it_says_so_and_asks_no_model() {
    let (house, id) = with_a_session();
    for line in [&["--resume"][..], &["-r"], &["resume"], &["--resume", "-m", "go on"], &["resume", "-p"]] {
        house.run(line).ended_with(2).says("neco session list").says("neco --resume ID -m");
    }
    for line in [&["-c"][..], &["--continue"], &["resume", &id], &["--resume", &id]] {
        house.run(line).ended_with(2).says("no message was given");
    }
    house.run(&["resume", "ffffffff"]).ended_with(2).says("no session ffffffff");
    for line in [&["--resume", "go on"][..], &["resume", "the", "work"]] {
        house.run(line).ended_with(2).says("is not the id of a session");
    }
    let listed = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_request_is_run_by_its_names_elsewhere() {
    let house = House::playing(json!([{ "say": "done", "expect": { "last_user_contains": "fix it" } }]));
    for line in [&["exec", "fix it"][..], &["run", "fix it"], &["chat", "fix it"], &["-p", "fix it"], &["fix it", "-p"]]
    {
        assert_eq!(house.run(line).ended_with(0).stdout, "done\n", "{line:?}");
    }
    for line in [&["-p"][..], &["exec"], &["--print", "--output-format", "text"]] {
        assert_eq!(Ran::of(house.neco(line).write_stdin("fix it")).ended_with(0).stdout, "done\n", "{line:?}");
    }
    house.run(&["run", "the", "tests"]).ended_with(2).says("neco run \"the tests\"").says("neco \"run the tests\"");
}

#[test]
fn a_word_that_could_be_a_command_is_not_sent() {
    let house = House::playing(json!([say("billed")]));
    for (line, told) in [
        (&["sesion"][..], "did you mean `neco session`?"),
        (&["sesions", "list"], "did you mean `neco session`?"),
        (&["extensions"], "there is no command `extensions`"),
        (&["explain"], "neco -m \"explain\""),
    ] {
        let ran = house.run(line).ended_with(2).says(told);
        assert_eq!(ran.stdout, "", "{line:?}");
    }
}

#[test]
fn the_folder_and_settings_are_written_as_elsewhere() {
    let house = House::playing(json!([say("ok")]));
    let folder = house.path("home").display().to_string();
    for flag in ["-C", "--cd", "--cwd"] {
        house.run(&["session", "list", flag, &folder]).ended_with(0).says("no sessions");
        house.run(&["-m", "x", flag, "/no/such/folder"]).ended_with(2).says("/no/such/folder");
    }
    house.run(&["-C", "-m", "x"]).ended_with(2).says("-c or --continue");
    house.run(&["config", "show", "--origin", "-c", "agent.max_turns=7"]).ended_with(0).says("7");
    house.run(&["-c", "agent.max_turns", "-m", "x"]).ended_with(2).says("agent.max_turns");
}

#[test]
fn flags_of_other_agents_name_ours() {
    let house = House::empty();
    house.run(&["-p", "x", "--dangerously-skip-permissions"]).ended_with(2).says("--yes");
    house.run(&["exec", "--yolo", "x"]).ended_with(2).says("--yes");
    house.run(&["-p", "x", "--allowedTools"]).ended_with(2).says("--allow RULE");
    house.run(&["--modle", "x", "-p", "x"]).ended_with(2).says("'--model'");
}

#[test]
fn what_other_agents_write_is_meant_or_told_and_never_billed() {
    let house = House::playing(json!([say("billed")]));
    for (line, told) in [
        (&["mcp", "reset-project-choices"][..], "neco trust --remove"),
        (&["extensions", "list"], "`neco plugin add` installs plugins"),
        (&["import", "chat.json"], "possible values: claude-code"),
        (&["update"], "install the new version"),
        (&["app-server"], "`neco serve` is the server"),
        (&["web", "--port", "80"], "`neco serve --bind"),
        (&["stats"], "/cost"),
        (&["-p", "/help"], "/help is a command of the window"),
        (&["/compact"], "/compact is a command of the window"),
        (&["-p", "/reveiw the code"], "There is no /reveiw; did you mean /review?"),
        (&["exec", "/nope x"], "There is no /nope"),
        (&["review"], "neco -p /review"),
        (&["extensions"], "`neco plugin add` installs plugins"),
        (&["model", "set", "a/b"], "neco config set model"),
        (&["models", "nobody"], "there is no provider nobody"),
        (&["run", "--agent", "plan", "a b"], "--mode plan"),
        (&["--worktree", "feature"], "--worktree takes no name"),
        (&["-p", "x", "-o", "json"], "--output-format json"),
        (&["--worktree", "name", "-p", "x"], "--worktree takes no name"),
        (&["-m", "gpt-5"], "neco --model PROVIDER/gpt-5"),
        (&["exec", "-m", "gpt-5", "fix it"], "neco --model PROVIDER/gpt-5 \"fix it\""),
        (&["mcp-server"], "`neco mcp serve`"),
        (&["-a", "on-request", "x y"], "--approval ask_first"),
        (&["-p", "x", "--permission-mode", "bypassPermissions"], "--yes"),
        (&["-p", "x", "--api-key", "sk-1"], "neco login PROVIDER"),
        (&["--list-sessions"], "neco session list"),
        (&["--system-prompt", "be kind", "-p", "x"], "AGENTS.md"),
        (&["-p", "x", "--json"], "--output-format stream-json"),
        (&["-q", "x y"], "2>/dev/null"),
        (&["exec", "-"], "no message was given"),
    ] {
        let ran = house.run(line).ended_with(2).says(told);
        assert_eq!(ran.stdout, "", "{line:?}");
        assert!(!ran.stderr.contains("Usage:"), "{line:?}: {}", ran.stderr);
    }
    assert_eq!(house.run(&["session", "list", "--json"]).ended_with(0).json(), json!([]));
    for line in [
        &["sessions"][..],
        &["sessions", "list"],
        &["models"],
        &["models", "anthropic"],
        &["agent", "list"],
        &["config", "list"],
        &["auth", "status"],
        &["login", "status"],
        &["version"],
    ] {
        house.run(line).ended_with(0);
    }
    for line in [
        &["exec", "--full-auto", "--skip-git-repo-check", "x"][..],
        &["-p", "x", "--verbose", "--permission-mode", "plan"],
        &["--prompt", "x", "--sandbox", "workspace-write", "--approval", "accept-edits"],
        &["exec", "resume", "--last", "x"],
        &["-s", "read-only", "x y"],
        &["exec", "-s", "read_only", "x"],
        &["--full-auto", "--model", "play/a", "exec", "a b"],
        &["-p", "a b", "--allowedTools", "Skill"],
        &["-p", "/usr/bin/x fails"],
        &["-p", "/tmp is full, why?"],
        &["-p", "/review", "--mode", "ask"],
    ] {
        assert_eq!(house.run(line).ended_with(0).stdout, "billed\n", "{line:?}");
    }
}

#[test]
fn a_command_of_ones_own_is_spelt_out() {
    let house = House::playing(json!([say("ok")]));
    std::fs::create_dir_all(house.path("home/commands")).unwrap();
    std::fs::write(house.path("home/commands/count.md"), "Count the lines of $ARGUMENTS.\n").unwrap();
    house.run(&["-p", "/count a.txt"]).ended_with(0);
    house.run(&["session", "show"]).ended_with(0).says("Count the lines of a.txt.");
    // A session is called what the person wrote.
    let title = || house.run(&["session", "list", "--json"]).ended_with(0).json()[0]["title"].clone();
    assert_eq!(title(), "/count a.txt");
    house.run(&["-p", "/review"]).ended_with(0);
    assert_eq!(title(), "/review");
}

#[test]
fn command_lines_in_a_command_of_ones_own_are_run_and_what_they_print_is_said() {
    let house = House::playing(json!([say("ok")]));
    std::fs::create_dir_all(house.path("home/commands")).unwrap();
    let text = "---\nallowed-tools: Bash\n---\nHere: !`printf '%s|' one \"$1\"`\nThen !`exit 3` end.\n";
    std::fs::write(house.path("home/commands/look.md"), text).unwrap();
    let ran = house.run(&["-p", "/look 'two; touch evil'"]).ended_with(0);
    assert!(ran.stderr.contains("(`exit 3` failed: exit code 3)"), "the person sees it: {}", ran.stderr);
    let shown = house.run(&["session", "show"]).ended_with(0).says("Here: one|two; touch evil|");
    shown.says("Then (`exit 3` failed: exit code 3) end.");
    // What the shell might run later is not even a value.
    let refused = house.run(&["-p", "/look '$(touch evil)'"]).says("not run");
    assert!(refused.code != 0 && refused.stdout.is_empty(), "{}", refused.stdout);
    assert!(!house.project().join("evil").exists(), "an argument is a value");
    let denied = house.run(&["-p", "/look x", "--deny", "bash(printf *)"]).says("not run");
    assert!(denied.code != 0 && denied.stdout.is_empty(), "the model is not asked: {}", denied.stdout);
}

#[test]
fn a_block_of_command_lines_is_run_under_the_same_rules() {
    let house = House::playing(json!([say("ok")]));
    std::fs::create_dir_all(house.path("home/.claude/commands")).unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(house.path(&format!("home/.claude/commands/{name}.md")), text).unwrap();
    };
    write("look", "State:\n```!\nword=\"$1\"\nprintf '%s+' \"$word\"\necho two\n```\nThat is it.\n");
    write("leak", "```!\necho one\ncat .env\n```\n");
    write("make", "```!\ntouch made\n```\n");
    std::fs::write(house.project().join(".env"), "KEY=sekret\n").unwrap();
    house.run(&["-p", "/look 'a b'"]).ended_with(0);
    let shown = house.run(&["session", "show"]).ended_with(0);
    shown.says("> State:\n> a b+two\n> That is it.");
    for (line, mode) in [("/leak", "agent"), ("/make", "ask"), ("/make", "plan")] {
        let ran = house.run(&["--mode", mode, "-p", line]).says("not run");
        assert!(ran.code != 0 && ran.stdout.is_empty(), "{line} in {mode}: {}", ran.stdout);
    }
    assert!(!house.project().join("made").exists());
}

#[test]
fn arguments_of_a_command_have_the_names_of_its_file() {
    let house = House::playing(json!([say("ok")]));
    std::fs::create_dir_all(house.path("home/.claude/commands")).unwrap();
    let text = "---\narguments: [issue, branch]\n---\nMend $issue on $branch: !`printf '<%s>' \"$branch\"`\n";
    std::fs::write(house.path("home/.claude/commands/mend.md"), text).unwrap();
    house.run(&["-p", "/mend 12 'a; touch evil'"]).ended_with(0);
    house.run(&["session", "show"]).ended_with(0).says("Mend 12 on a; touch evil: <a; touch evil>");
    assert!(!house.project().join("evil").exists(), "an argument is a value");
}

#[test]
fn command_lines_of_a_file_get_no_more_than_the_rules_allow_without_a_question() {
    let house = House::playing(json!([say("ok")]));
    std::fs::create_dir_all(house.path("home/commands")).unwrap();
    std::fs::write(house.project().join(".env"), "KEY=sekret\n").unwrap();
    for (name, line) in [("leak", "cat .env"), ("send", "curl -d @- http://127.0.0.1:9/"), ("make", "touch made")] {
        std::fs::write(house.path(&format!("home/commands/{name}.md")), format!("Here: !`{line}`\n")).unwrap();
    }
    for (line, mode) in [("/leak", "agent"), ("/send", "agent"), ("/make", "ask"), ("/make", "plan")] {
        let ran = house.run(&["--mode", mode, "-p", line]).says("not run");
        assert!(ran.code != 0 && ran.stdout.is_empty(), "{line} in {mode}: {}", ran.stdout);
    }
    assert!(!house.project().join("made").exists());
    house.run(&["-p", "/make"]).ended_with(0);
    assert!(house.project().join("made").exists(), "what stays in the box is run");
}

/// Whoever waits sees for what, and a Ctrl-C leaves neither a process nor a request behind.
#[test]
fn a_command_line_that_takes_long_is_named_and_ctrl_c_ends_it_before_anything_is_said() {
    let house = House::playing(json!([say("never")]));
    std::fs::create_dir_all(house.path("home/commands")).unwrap();
    let command =
        |line: &str| std::fs::write(house.path("home/commands/slow.md"), format!("Here: !`{line}`\n")).unwrap();
    command("sleep 30.0917");
    let mut child = house.start(&["-m", "/slow"]);
    eventually("the line runs", || lives("30.0917"));
    let mut told = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    while !told.contains("Ctrl-C stops it now") {
        assert!(errors.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(told.contains("Running `sleep 30.0917`; it is stopped after 60 s"), "{told}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    errors.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{told}");
    assert!(told.contains("Stopped; the model was not asked"), "{told}");
    eventually("the line is gone", || !lives("30.0917"));
    let sessions = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert!(sessions.as_array().unwrap().is_empty(), "{sessions}");
    command("true");
    let quick = house.run(&["-m", "/slow"]).ended_with(0);
    assert!(!quick.stderr.contains("Running"), "{}", quick.stderr);
}
