//! `bash` in the background, and `process`.

use std::time::{Duration, Instant};

use futures::future::join_all;
use neco_proto::{Display, ErrorCode, Risk};
use neco_toolkit::{SideEffect, ToBackground, ToolContext};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{Bench, bench, eventually, terminal_name, unique_sleep, with_argument, zombies};

async fn start(bench: &Bench, command: &str) -> String {
    bench.call("bash", json!({"command": command, "background": true})).await.unwrap().model
}

async fn process(bench: &Bench, arguments: serde_json::Value) -> String {
    bench.call("process", arguments).await.unwrap().model
}

#[tokio::test]
async fn a_life_in_the_background() {
    let bench = bench();
    let started = Instant::now();
    let text = start(&bench, "echo ready; while read line; do echo \"you said $line\"; done; echo bye; exit 6").await;
    assert!(text.contains("[runs in the background as bg-1]"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(10));
    let text = process(&bench, json!({"action": "wait", "id": "bg-1", "pattern": "^read.$", "seconds": 20})).await;
    assert!(text.contains("matched: ready"), "{text}");
    let text = process(&bench, json!({"action": "write", "id": "bg-1", "input": "hello"})).await;
    assert!(text.contains("6 bytes written"), "{text}");
    process(&bench, json!({"action": "wait", "pattern": "you said hello", "seconds": 20})).await;
    let text = process(&bench, json!({"action": "write", "input": "half", "newline": false})).await;
    assert!(text.contains("4 bytes written"), "{text}");
    let text = process(&bench, json!({"action": "write", "input": " line", "eof": true})).await;
    assert!(text.contains("input closed"), "{text}");
    let text = process(&bench, json!({"action": "wait", "seconds": 20})).await;
    assert!(text.contains("bg-1 is over: exit code 6"), "{text}");
    let text = process(&bench, json!({"action": "tail", "lines": 3})).await;
    assert!(text.contains("4 lines of output, 0 of them new"), "{text}");
    assert!(text.ends_with("]\nyou said hello\nyou said half line\nbye"), "{text}");
    let closed = bench.call("process", json!({"action": "write", "input": "x"})).await.unwrap_err();
    assert!(closed.message.contains("closed"), "{}", closed.message);
    let text = process(&bench, json!({"action": "list"})).await;
    assert!(text.starts_with("bg-1 is over: exit code 6") && text.contains("echo ready"), "{text}");
}

#[tokio::test]
async fn a_person_sees_what_runs_and_ends_it() {
    let bench = bench();
    assert!(bench.tool("bash").in_background().is_empty());
    let sleep = unique_sleep(91);
    start(&bench, &format!("echo ready; trap '' TERM; while :; do sleep {sleep}; done")).await;
    start(&bench, "exit 3").await;
    let found = bench.tool("bash").in_background();
    let [runs, over] = found.as_slice() else { panic!("{}", found.len()) };
    assert_eq!((runs.name(), runs.ended()), ("bg-1", None));
    eventually("it printed", || runs.tail(5).trim() == "ready").await;
    let text = process(&bench, json!({"action": "tail", "id": "bg-1"})).await;
    assert!(text.contains("ready"), "{text}");
    eventually("it is over", || over.ended().is_some()).await;
    assert_eq!(over.ended().map(|(code, _)| code), Some(Some(3)));
    // It does not heed the first signal.
    std::sync::Arc::clone(runs).end().await;
    assert_eq!(runs.ended().map(|(code, _)| code), Some(None));
    eventually("all of it is gone", || with_argument(&sleep) == 0).await;
    let text = process(&bench, json!({"action": "list"})).await;
    assert!(text.contains("bg-1 is over, ended by the user: "), "{text}");
    assert!(text.contains("bg-2 is over: exit code 3"), "{text}");
}

/// Runs a command in the foreground and sends it to the background once it runs; gives what came of both.
async fn send_away(bench: &Bench, number: u32) -> (Result<String, String>, Result<(), String>) {
    let sleep = unique_sleep(number);
    let cancel = CancellationToken::new();
    let ctx = ToolContext { background: ToBackground::default(), cancel: cancel.clone(), ..bench.ctx.clone() };
    let way = ctx.background.clone();
    let call = bench.tool("bash").prepare(json!({ "command": format!("sleep {sleep}") })).unwrap();
    let sends = async {
        eventually("it runs", || with_argument(&sleep) > 0).await;
        let sent = way.send();
        if sent.is_err() {
            cancel.cancel();
        }
        sent
    };
    let (output, sent) = tokio::join!(call.run(ctx), sends);
    (output.map(|output| output.model).map_err(|error| error.message), sent.map_err(|error| error.message))
}

#[tokio::test]
async fn a_command_is_sent_to_the_background_as_long_as_there_is_room() {
    let bench = bench();
    assert!(bench.ctx.background.send().unwrap_err().message.contains("can't go on in the background"), "nothing runs");
    let (output, sent) = send_away(&bench, 41).await;
    assert_eq!(sent, Ok(()));
    assert!(output.unwrap().contains("goes on as bg-1"));
    join_all((1..32).map(|_| start(&bench, "sleep 100"))).await;
    let (_, sent) = send_away(&bench, 42).await;
    assert_eq!(sent.unwrap_err(), "32 commands run in the background already; end one of them first");
}

#[tokio::test]
async fn a_failure_at_the_start_is_seen_at_once() {
    let bench = bench();
    // A loaded machine may need longer for it than the tool waits.
    for attempt in 1.. {
        let output = bench.call("bash", json!({"command": "echo no; exit 2", "background": true})).await.unwrap();
        if output.model.contains("runs in the background") && attempt < 20 {
            continue;
        }
        assert!(
            output.model.starts_with(&format!("no\n[bg-{attempt} is over: exit code 2 after ")),
            "{}",
            output.model
        );
        let Some(Display::Terminal { tail, exit_code, .. }) = output.display else { panic!("no terminal") };
        assert_eq!((tail.as_str(), exit_code), ("no", Some(2)));
        break;
    }
}

#[tokio::test]
async fn what_a_background_command_starts_with_an_ampersand_goes_on() {
    let bench = bench();
    let text = start(&bench, "(until test -e go; do sleep 0.01; done; echo late) & echo early").await;
    assert!(text.contains("[runs in the background"), "{text}");
    let text = process(&bench, json!({"action": "wait", "pattern": "early", "seconds": 20})).await;
    assert!(text.contains("has been running for"), "{text}");
    std::fs::write(bench.workspace().join("go"), "").unwrap();
    let text = process(&bench, json!({"action": "wait", "seconds": 20})).await;
    assert!(text.contains("exit code 0") && text.ends_with("late"), "{text}");
}

#[tokio::test]
async fn kill_takes_the_whole_group() {
    let bench = bench();
    let sleep = unique_sleep(11);
    start(&bench, &format!("sleep {sleep} & sleep {sleep}")).await;
    eventually("both sleep", || with_argument(&sleep) == 2).await;
    let text = process(&bench, json!({"action": "kill"})).await;
    assert!(text.contains("bg-1 is over: killed by signal 15"), "{text}");
    eventually("the group is gone", || with_argument(&sleep) == 0).await;

    start(&bench, "trap '' TERM; while :; do sleep 0.01; done").await;
    let text = process(&bench, json!({"action": "kill", "id": "bg-2"})).await;
    assert!(text.contains("bg-2 is over: killed by signal 9"), "{text}");

    start(&bench, "trap 'echo interrupted; exit 0' INT; while :; do sleep 0.01; done").await;
    let text = process(&bench, json!({"action": "kill", "id": "bg-3", "signal": "int"})).await;
    assert!(text.contains("bg-3 is over: exit code 0") && text.ends_with("interrupted"), "{text}");
}

#[tokio::test]
async fn dropping_the_tools_ends_what_runs() {
    let bench = bench();
    let sleep = unique_sleep(12);
    start(&bench, &format!("trap '' TERM HUP; sleep {sleep} & sleep {sleep}")).await;
    eventually("both sleep", || with_argument(&sleep) == 2).await;
    let mut tools = bench.tools;
    let last = tools.pop().unwrap();
    drop(tools);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(with_argument(&sleep), 2, "one of the tools still stands");
    drop(last);
    eventually("the group is gone", || with_argument(&sleep) == 0 && zombies("bash") == 0).await;
}

#[tokio::test]
async fn a_flood_is_kept_at_its_end_only() {
    let bench = bench();
    start(&bench, "seq 1 200000; echo end").await;
    let text = process(&bench, json!({"action": "wait", "seconds": 30, "lines": 2})).await;
    assert!(text.contains("200001 lines of output") && text.ends_with("]\n200000\nend"), "{text}");
    let text = process(&bench, json!({"action": "tail", "lines": 1_000_000})).await;
    assert!(text.len() <= bench.ctx.max_output + 200, "{}", text.len());
    let (_, lines) = text.split_once('\n').unwrap();
    assert!(lines.lines().next().unwrap().len() == 6, "the first line is whole");
}

#[tokio::test]
async fn a_terminal_in_the_background_can_be_written_to() {
    let bench = bench();
    let arguments =
        json!({"command": "read -p 'name? ' name; echo \"hi $name\"; tty", "background": true, "pty": true});
    bench.call("bash", arguments).await.unwrap();
    let text = process(&bench, json!({"action": "wait", "pattern": "name\\?", "seconds": 20})).await;
    assert!(text.contains("matched: name?"), "{text}");
    process(&bench, json!({"action": "write", "input": "you"})).await;
    let text = process(&bench, json!({"action": "wait", "seconds": 20})).await;
    assert!(text.contains(&format!("hi you\n{}", terminal_name())), "{text}");
}

#[tokio::test]
async fn a_wait_ends_when_its_time_is_up_or_it_is_cancelled() {
    let bench = bench();
    start(&bench, "sleep 600").await;
    let text = process(&bench, json!({"action": "wait", "seconds": 0.05})).await;
    assert!(text.contains("has been running for") && text.contains("waited in vain"), "{text}");
    let text = process(&bench, json!({"action": "wait", "seconds": 0.05, "pattern": "x"})).await;
    assert!(text.contains("no line matched"), "{text}");
    let cancel = async {
        tokio::task::yield_now().await;
        bench.ctx.cancel.cancel();
    };
    let (text, ()) = tokio::join!(process(&bench, json!({"action": "wait", "seconds": 500})), cancel);
    assert!(text.contains("has been running for"), "{text}");
}

#[tokio::test]
async fn ids_and_patterns_that_make_no_sense_are_refused() {
    let bench = bench();
    let refused = |arguments: serde_json::Value| async { bench.plan("process", arguments).await.unwrap_err() };
    assert!(refused(json!({"action": "tail"})).await.message.contains("no process"));
    start(&bench, "sleep 600").await;
    start(&bench, "sleep 600").await;
    let unclear = refused(json!({"action": "tail"})).await;
    assert_eq!(unclear.code, ErrorCode::InvalidArguments);
    assert!(unclear.message.contains("bg-1, bg-2"), "{}", unclear.message);
    assert!(refused(json!({"action": "tail", "id": "bg-9"})).await.message.contains("bg-1, bg-2"));
    assert!(refused(json!({"action": "wait", "id": "bg-1", "pattern": "("})).await.message.starts_with("pattern:"));
    assert_eq!(refused(json!({"action": "dance"})).await.code, ErrorCode::InvalidArguments);
    let nothing = bench.call("process", json!({"action": "write", "id": "bg-1"})).await.unwrap_err();
    assert_eq!(nothing.code, ErrorCode::InvalidArguments);
}

#[tokio::test]
async fn what_is_judged_before_it_runs() {
    let bench = bench();
    start(&bench, "cat").await;
    let table = [
        (json!({"action": "list"}), SideEffect::Reads, Risk::Safe),
        (json!({"action": "tail"}), SideEffect::Reads, Risk::Safe),
        (json!({"action": "wait"}), SideEffect::Reads, Risk::Safe),
        (json!({"action": "kill"}), SideEffect::Runs, Risk::Low),
        (json!({"action": "write", "input": "rm x"}), SideEffect::Runs, Risk::High),
    ];
    for (arguments, touch, risk) in table {
        let call = bench.tool("process").prepare(arguments.clone()).unwrap();
        let plan = call.plan(&bench.ctx).await.unwrap();
        assert_eq!((call.touch(), plan.risk), (touch, risk), "{arguments}");
        assert_eq!(plan.command, None, "{arguments}");
    }
}

#[tokio::test]
async fn there_is_a_most() {
    let bench = bench();
    let calls = (0..32).map(|_| bench.call("bash", json!({"command": "exec sleep 600", "background": true})));
    for started in join_all(calls).await {
        started.unwrap();
    }
    let refused = bench.call("bash", json!({"command": "exec sleep 600", "background": true})).await.unwrap_err();
    assert!(refused.message.contains("32 processes"), "{}", refused.message);
}

#[tokio::test]
async fn a_job_whose_child_left_the_group_ends_when_it_is_killed() {
    let bench = bench();
    let sleep = unique_sleep(77);
    let command = format!("setsid sleep {sleep} & echo started; sleep {sleep}");
    bench.call("bash", json!({"command": command, "background": true})).await.unwrap();
    eventually("both sleep", || with_argument(&sleep) == 2).await;
    let output = bench.call("process", json!({"action": "kill"})).await.unwrap();
    assert!(output.model.contains("is over"), "{}", output.model);
    eventually("nothing is left", || with_argument(&sleep) == 0).await;
}
