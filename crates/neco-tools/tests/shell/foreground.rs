//! `bash` in the foreground.

use std::time::{Duration, Instant};

use neco_proto::{Display, ErrorCode, Risk};
use neco_toolkit::SideEffect;
use serde_json::json;

use crate::world::{
    bench, bench_with, eventually, is_boxed, settings, terminal_name, unique_sleep, with_argument, zombies,
};

#[tokio::test]
async fn output_comes_in_order_and_live_and_the_exit_code_is_said() {
    let bench = bench();
    let output = bench
        .call("bash", json!({"command": "for n in 1 2 3; do echo out $n; echo err $n >&2; done; exit 3"}))
        .await
        .unwrap();
    let expected = "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n";
    assert!(output.model.starts_with(expected), "{}", output.model);
    assert!(output.model.contains("\n[exit code 3 after "), "{}", output.model);
    assert_eq!(*bench.heard.0.lock().unwrap(), expected);
    assert_eq!((output.error_code, output.spilled_to), (None, None), "a code other than zero is a result");
    let Some(Display::Terminal { command, tail, exit_code, .. }) = output.display else { panic!("no terminal") };
    assert!(command.starts_with("for n"));
    assert_eq!((tail.as_str(), exit_code), (expected.trim_end(), Some(3)));
}

#[tokio::test]
async fn success_is_not_talked_about_but_silence_is() {
    let bench = bench();
    assert_eq!(bench.bash("echo hello").await, "hello");
    assert_eq!(bench.bash("true").await, "[no output, exit code 0]");
    assert!(bench.bash("kill -9 $$").await.contains("killed by signal 9, SIGKILL"));
    let missing = bench.bash("no-such-command-anywhere").await;
    assert!(missing.contains("command not found") && missing.contains("exit code 127"), "{missing}");
}

#[tokio::test]
async fn cd_lasts_and_variables_do_not() {
    let bench = bench();
    let workspace = bench.workspace();
    bench.bash("mkdir -p 'a b/c' && cd 'a b' && export LOST=1").await;
    assert_eq!(bench.bash("pwd; echo \"<$LOST>\"").await, format!("{}/a b\n<>", workspace.display()));
    bench.bash("cd c; exit 4").await;
    assert_eq!(bench.bash("pwd").await, format!("{}/a b/c", workspace.display()));
    bench.bash("(cd /); true").await;
    bench.bash("set -eu; cd ..; false").await;
    assert_eq!(bench.bash("pwd").await, format!("{}/a b", workspace.display()));
    bench.bash("set -o noclobber; pwd() { echo /; }; cd c; if then").await;
    assert_eq!(bench.bash("pwd").await, format!("{}/a b", workspace.display()), "a syntax error runs nothing");
    bench.bash("set -o noclobber; pwd() { echo /; }\ncd c").await;
    assert_eq!(bench.bash("pwd").await, format!("{}/a b/c", workspace.display()));
    bench.bash("mkdir \"$(printf 'new\\nline')\"; cd new*").await;
    assert!(bench.bash("pwd").await.ends_with("/a b/c/new\nline"));
    bench.bash("exec true").await;
    assert!(bench.bash("pwd").await.ends_with("/a b/c/new\nline"), "who does not say where it ended changes nothing");
}

#[tokio::test]
async fn nothing_of_the_report_is_seen() {
    let bench = bench();
    let text = bench.bash("set -x; echo one").await;
    assert_eq!(text, "+ echo one\none");
    assert!(bench.bash("echo $#; env | grep -ci neco-shell").await.starts_with("0\n0\n[exit code 1 after "));
    assert!(
        bench.bash("echo a\necho b; foo-bar-x").await.contains("line 2: foo-bar-x"),
        "line numbers are the command's"
    );
    let unread = bench.bash("if then").await;
    assert!(unread.contains("line 1: `if then'") && !unread.contains("trap"), "{unread}");
    assert!(!bench.heard.0.lock().unwrap().contains("trap"));
    let reports = std::fs::read_dir(bench.folder.path().join("tmp")).unwrap().flatten();
    for folder in reports {
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "reports are removed");
    }
}

#[tokio::test]
async fn a_folder_that_is_gone_or_outside_is_said_and_left() {
    let bench = bench();
    let workspace = bench.workspace();
    bench.bash("mkdir -p sub && cd sub").await;
    std::fs::remove_dir(workspace.join("sub")).unwrap();
    let text = bench.bash("pwd").await;
    assert!(text.starts_with(&workspace.display().to_string()) && text.contains("/sub is gone"), "{text}");
    bench.bash("mkdir -p gone && cd gone && rmdir ../gone").await;
    assert!(bench.bash("pwd").await.starts_with(&workspace.display().to_string()));
    let text = bench.bash("cd /").await;
    assert!(text.contains("ended in /, outside the workspace"), "{text}");
    assert_eq!(bench.bash("pwd").await, workspace.display().to_string());
    std::os::unix::fs::symlink("/", workspace.join("way-out")).unwrap();
    assert!(bench.bash("cd way-out/usr").await.contains("outside the workspace"));
}

#[tokio::test]
async fn a_link_out_of_the_workspace_is_found_before_it_is_followed() {
    let bench = bench();
    for (target, link) in [("/etc/passwd", "n.txt"), ("/etc", "od"), ("sub", "inner")] {
        std::os::unix::fs::symlink(target, bench.workspace().join(link)).unwrap();
    }
    std::fs::create_dir(bench.workspace().join("sub")).unwrap();
    for command in ["cat n.txt", "ls od", "cd od && cat passwd", "cat *.txt", "cat inner/../n.txt"] {
        let plan = bench.plan("bash", json!({ "command": command })).await.unwrap();
        let because = plan.because.unwrap_or_default();
        assert!(plan.risk == Risk::High && because.contains(" leads to /"), "{command}: {because}");
    }
    for command in ["ls inner", "cat inner/x", "echo n.txt", "ls"] {
        let plan = bench.plan("bash", json!({ "command": command })).await.unwrap();
        assert_eq!((plan.risk, plan.because), (Risk::Low, None), "{command}");
    }
}

#[tokio::test]
async fn cwd_is_for_one_call_and_inside_the_workspace() {
    let bench = bench();
    std::fs::create_dir(bench.workspace().join("sub")).unwrap();
    let output = bench.call("bash", json!({"command": "pwd", "cwd": "sub"})).await.unwrap();
    assert_eq!(output.model, bench.workspace().join("sub").display().to_string());
    assert_eq!(bench.bash("pwd").await, bench.workspace().display().to_string());
    let outside = bench.plan("bash", json!({"command": "pwd", "cwd": "/"})).await.unwrap_err();
    assert_eq!(outside.code, ErrorCode::PathOutsideWorkspace);
    let missing = bench.plan("bash", json!({"command": "pwd", "cwd": "nope"})).await.unwrap_err();
    assert_eq!(missing.code, ErrorCode::FileNotFound);
}

#[tokio::test]
async fn a_timeout_kills_grandchildren_and_gives_the_output_so_far() {
    let bench = bench();
    let sleep = unique_sleep(1);
    let command = format!("echo before; (sleep {sleep} & sleep {sleep}) & cd /; sleep {sleep}");
    let call = bench.call("bash", json!({"command": command, "timeout": 0.5}));
    let output = call.await.unwrap();
    assert_eq!(output.error_code, Some(ErrorCode::CommandTimedOut));
    assert!(
        output.model.starts_with("before\n[killed: not done after 0.5 s; give a longer timeout"),
        "{}",
        output.model
    );
    eventually("nobody sleeps", || with_argument(&sleep) == 0).await;
    assert_eq!(bench.bash("pwd").await, bench.workspace().display().to_string(), "a killed shell moves nothing");
}

#[tokio::test]
async fn who_ignores_the_timeout_is_killed() {
    let bench = bench();
    let start = Instant::now();
    let output =
        bench.call("bash", json!({"command": "trap '' TERM; while :; do sleep 0.01; done", "timeout": 0.1})).await;
    assert_eq!(output.unwrap().error_code, Some(ErrorCode::CommandTimedOut));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn cancelling_kills_the_group_at_once() {
    let bench = bench();
    let sleep = unique_sleep(2);
    let command = format!("echo started; trap '' TERM; sleep {sleep} & sleep {sleep}");
    let cancel = async {
        eventually("both sleep", || with_argument(&sleep) == 2).await;
        bench.ctx.cancel.cancel();
    };
    let (output, ()) = tokio::join!(bench.call("bash", json!({"command": command})), cancel);
    let output = output.unwrap();
    assert!(output.model.starts_with("started\n[cancelled after"), "{}", output.model);
    assert_eq!(output.error_code, Some(ErrorCode::ToolFailed));
    eventually("the group is gone", || with_argument(&sleep) == 0).await;
}

#[tokio::test]
async fn a_dropped_call_kills_the_group() {
    let bench = bench();
    let sleep = unique_sleep(3);
    let call = bench.tool("bash").prepare(json!({"command": format!("sleep {sleep} & sleep {sleep}")})).unwrap();
    let task = tokio::spawn(call.run(bench.ctx.clone()));
    eventually("both sleep", || with_argument(&sleep) == 2).await;
    task.abort();
    eventually("the group is gone", || with_argument(&sleep) == 0).await;
}

#[tokio::test]
async fn input_is_closed_and_there_is_no_terminal() {
    let bench = bench();
    assert_eq!(bench.bash("cat; read line; echo \"got $?\"").await, "got 1");
    assert!(bench.bash("cat </dev/tty").await.contains("exit code 1"));
}

#[tokio::test]
async fn big_output_is_cut_for_the_model_and_whole_in_the_file() {
    let bench = bench();
    let output = bench
        .call(
            "bash",
            json!({"command": r"printf '\033[1mfirst\033[0m\n'; yes 0123456789 | head -c 2000000; echo; echo last"}),
        )
        .await
        .unwrap();
    assert!(output.model.len() < 52_000, "{}", output.model.len());
    assert!(output.model.starts_with("first\n0123456789\n") && output.model.ends_with("\nlast"), "both ends are there");
    assert!(output.model.contains("left out"), "the gap is said");
    let file = std::fs::read(output.spilled_to.unwrap()).unwrap();
    assert!(file.starts_with(b"\x1b[1mfirst"), "every byte is kept");
    assert_eq!(file.len(), b"\x1b[1mfirst\x1b[0m\n".len() + 2_000_000 + b"\nlast\n".len());
}

#[tokio::test]
async fn bytes_that_are_no_text_and_escapes_do_no_harm() {
    let bench = bench();
    let text = bench.bash(r"printf 'caf\351 \377\n\033]0;title\007\033[31mred\033[0m\n10%%\r20%%\rdone\n'").await;
    assert_eq!(text, "caf\u{fffd} \u{fffd}\nred\ndone");
    let heard = bench.heard.0.lock().unwrap().clone();
    assert!(!heard.contains('\u{1b}') && !heard.contains("title") && heard.contains("red"), "{heard:?}");
}

#[tokio::test]
async fn what_ends_early_in_a_pipe_ends() {
    let bench = bench();
    assert_eq!(bench.bash("yes | head -n 2").await, "y\ny");
    assert!(bench.bash("set -o pipefail; yes | head -n 1").await.contains("exit code 141"), "SIGPIPE works as usual");
}

#[tokio::test]
async fn what_is_left_running_is_ended_and_said() {
    let bench = bench();
    let sleep = unique_sleep(4);
    let start = Instant::now();
    let text = bench.bash(&format!("sleep {sleep} & echo started")).await;
    assert!(text.starts_with("started\n[exit code 0; what it left running was ended"), "{text}");
    let quiet = bench.bash(&format!("nohup sleep {sleep} >/dev/null 2>&1 & echo started")).await;
    assert!(quiet.contains("what it left running was ended"), "{quiet}");
    assert!(start.elapsed() < Duration::from_secs(15));
    eventually("nobody sleeps", || with_argument(&sleep) == 0).await;
}

#[tokio::test]
async fn a_daemon_that_left_the_group_does_not_hold_the_call() {
    let bench = bench();
    let start = Instant::now();
    let text = bench.bash("setsid sleep 60 & echo $!").await;
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let daemon = text.lines().next().unwrap();
    let gone = bench.bash(&format!("kill {daemon} && echo gone")).await;
    if is_boxed() {
        assert!(gone.contains("No such process"), "nothing outlives its box: {text}");
    } else {
        assert_eq!(gone, "gone", "it left the group and lives: {text}");
    }
}

#[tokio::test]
async fn a_terminal_on_request() {
    let bench = bench();
    let output = bench.call("bash", json!({"command": "tty; stty size; cd /; exit 5", "pty": true})).await.unwrap();
    let lines: Vec<&str> = output.model.lines().collect();
    assert!(lines[0].starts_with(terminal_name()), "{}", output.model);
    assert_eq!(lines[1], "40 120");
    assert!(lines[2].starts_with("[exit code 5"), "{}", output.model);
    assert!(lines[3].contains("outside the workspace"), "{}", output.model);
    assert!(bench.bash("tty").await.starts_with("not a tty"));
}

#[tokio::test]
async fn secrets_stay_here_and_children_know_whose_they_are() {
    let bench = bench();
    let text = bench.bash("env").await;
    assert!(!text.contains("hush") && !text.contains("AKIA"), "{text}");
    for line in ["NECO=1", "AI_AGENT=neco", "PLAIN=visible", "TERM=dumb"] {
        assert!(text.lines().any(|one| one == line), "{line} in {text}");
    }
}

#[tokio::test]
async fn a_missing_shell_is_replaced_and_said() {
    let bench = bench_with(&neco_config::section::ToolsSection { shell: "no-such-shell".to_owned(), ..settings() });
    let text = bench.bash("mkdir -p sub; cd sub; echo hi").await;
    assert!(text.starts_with("hi\n[there is no shell \"no-such-shell\""), "{text}");
    assert!(bench.bash("pwd").await.contains("/sub\n"));
}

#[tokio::test]
async fn arguments_that_make_no_sense_are_refused_before_anyone_is_asked() {
    let bench = bench();
    for arguments in [
        json!({}),
        json!({"command": "  "}),
        json!({"command": "a\u{0}b"}),
        json!({"command": "true", "timeout": "soon"}),
        json!({"command": "true", "where": "x"}),
    ] {
        assert_eq!(
            bench.plan("bash", arguments.clone()).await.unwrap_err().code,
            ErrorCode::InvalidArguments,
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn the_fields_that_other_agents_have_are_understood() {
    let bench = bench();
    std::fs::create_dir(bench.workspace().join("sub")).unwrap();
    let folder = bench.workspace().join("sub").display().to_string();
    for arguments in [
        json!({"command": "pwd", "working_directory": "sub", "timeout": 5000}),
        json!({"command": ["bash", "-lc", "pwd"], "workdir": "sub", "timeout_ms": 5000}),
        json!({"command": ["pwd", "-P"], "cwd": "sub", "timeout": 60_000}),
    ] {
        let output = bench.call("bash", arguments.clone()).await.unwrap();
        assert_eq!(output.model, folder, "{arguments}");
    }
    let prepared =
        |arguments: serde_json::Value| bench.tool("bash").prepare(arguments).unwrap().arguments()["timeout"].clone();
    assert_eq!(prepared(json!({"command": "pwd", "timeout": 30_000})), json!(30.0));
    assert_eq!(prepared(json!({"command": "pwd", "is_background": false, "timeout": 2000})), json!(2.0));
    assert_eq!(prepared(json!({"command": "pwd", "timeout": 3600})), json!(3600), "an hour is an hour");
}

#[tokio::test]
async fn a_time_that_can_t_be_given_is_said() {
    let bench = bench();
    for timeout in [json!(0), json!(-1), json!("100000000"), json!(5000)] {
        let output = bench.call("bash", json!({"command": "echo hi", "timeout": timeout})).await.unwrap();
        assert!(output.model.starts_with("hi\n[timeout: "), "{timeout}: {}", output.model);
    }
    let as_wished = bench.call("bash", json!({"command": "echo hi", "timeout": "5", "cwd": ""})).await.unwrap();
    assert_eq!(as_wished.model, "hi");
}

#[tokio::test]
async fn what_is_judged_and_shown_before_it_runs() {
    let bench = bench();
    let plan = bench.plan("bash", json!({"command": "cargo test"})).await.unwrap();
    assert_eq!((plan.risk, plan.command.as_deref()), (Risk::Low, Some("cargo test")));
    let long = format!("echo {}", "é".repeat(200));
    let call = |arguments| bench.tool("bash").prepare(arguments).unwrap();
    assert_eq!(call(json!({"command": "cargo test"})).summary(), "Run cargo test");
    assert_eq!(
        call(json!({"command": "cargo test", "description": "see it pass"})).summary(),
        "Run cargo test (see it pass)"
    );
    assert_eq!(call(json!({"command": long})).summary().chars().count(), "Run ".len() + 80 + 1);
    assert_eq!(call(json!({"command": "true"})).touch(), SideEffect::Runs);
    assert_eq!(call(json!({"command": "true"})).timeout(), Some(Duration::from_secs(60 + 17)));
    assert_eq!(call(json!({"command": "true", "timeout": 120_000})).timeout(), Some(Duration::from_secs(90 + 17)));
}

#[tokio::test]
async fn what_the_model_reads_about_the_tools_is_short() {
    let bench = bench();
    let size = |name: &str| bench.tool(name).description().len() + bench.tool(name).schema().to_string().len();
    assert!(bench.tool("bash").description().len() <= 700 && bench.tool("process").description().len() <= 400);
    assert!(size("bash") < 1500, "{}", size("bash"));
    assert!(size("process") < 1500, "{}", size("process"));
}

#[tokio::test]
async fn no_zombie_is_left() {
    let bench = bench();
    for _ in 0..5 {
        bench.bash("true").await;
    }
    // Other tests run beside this one: theirs come and go.
    eventually("no zombie", || zombies("bash") == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement, not a test"]
async fn speed_of_the_shortest_command() {
    let bench = bench();
    bench.bash("true").await;
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..300 {
        let start = Instant::now();
        bench.bash("true").await;
        times.push(start.elapsed());
    }
    times.sort();
    println!("median {:?}, 90 % under {:?}", times[times.len() / 2], times[times.len() * 9 / 10]);
    let start = Instant::now();
    bench.call("bash", json!({"command": "head -c 200000000 /dev/zero | tr '\\0' 'a'"})).await.unwrap();
    println!("200 MB in {:?}", start.elapsed());
}

#[tokio::test]
async fn what_is_judged_names_the_folder_it_starts_in() {
    let bench = bench();
    std::fs::create_dir_all(bench.workspace().join("sub/dir")).unwrap();
    let workspace = bench.workspace().canonicalize().unwrap();
    let folder = |arguments: serde_json::Value| {
        let plan = bench.plan("bash", arguments);
        async move {
            let plan = plan.await.unwrap();
            assert_eq!(plan.command.as_deref(), Some("make"));
            plan.folder.unwrap()
        }
    };
    assert_eq!(folder(json!({"command": "make"})).await, workspace);
    assert_eq!(folder(json!({"command": "make", "cwd": "sub/../sub/dir"})).await, workspace.join("sub/dir"));
    assert_eq!(folder(json!({"command": "make", "cwd": ".", "background": true})).await, workspace);
    bench.bash("cd sub/dir").await;
    assert_eq!(folder(json!({"command": "make"})).await, workspace.join("sub/dir"));
    std::fs::remove_dir_all(bench.workspace().join("sub")).unwrap();
    assert_eq!(folder(json!({"command": "make"})).await, workspace);
}
