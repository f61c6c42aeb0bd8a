//! Processes as the spawner really starts and ends them.
#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use neco_safety::world::{Ending, Exit, Launch, Leftovers, Process, Progress, SpawnError, Stdin, Stop, Stops};
use neco_sandbox::{Running, Spawner};

fn spawner() -> Spawner {
    let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    Spawner::new(
        vec![
            pair("PATH", "/usr/local/bin:/usr/bin:/bin"),
            pair("SECRET_TOKEN", "hush"),
            pair("PLAIN", "visible"),
            pair("SNEAKY", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
            pair("TERM", "xterm"),
            pair("NECO", "0"),
        ],
        &["*_TOKEN".to_owned()],
    )
}

fn shell(command: &str) -> Launch {
    Launch {
        program: "sh".into(),
        arguments: vec!["-c".into(), command.into()],
        folder: PathBuf::from("/"),
        stdin: Stdin::Closed,
        terminal: false,
        leftovers: Leftovers::End,
        variables: Vec::new(),
        errors: None,
    }
}

async fn all(running: &mut Running) -> (String, Ending) {
    let mut text = Vec::new();
    loop {
        match running.next().await {
            Progress::Output(bytes) => text.extend_from_slice(bytes),
            Progress::Ended(ending) => return (String::from_utf8_lossy(&text).into_owned(), ending),
        }
    }
}

async fn run(launch: Launch) -> (String, Ending) {
    let mut running = spawner().start(launch).await.unwrap();
    all(&mut running).await
}

/// Waits for something that happens soon, without counting on when.
async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A number of seconds that no other process sleeps for.
fn unique_sleep(number: u32) -> String {
    format!("9{:07}.{number}", std::process::id())
}

/// How many processes have this argument.
fn with_argument(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let cmdlines = entries.map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
    cmdlines.filter(|cmdline| cmdline.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())).count()
}

fn exists(pid: i32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn output_and_error_come_in_the_order_of_writing() {
    let (text, ending) = run(shell("for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; done; exit 7")).await;
    let expected: String = (1..=5).map(|n| format!("out {n}\nerr {n}\n")).collect();
    assert_eq!(text, expected);
    assert_eq!(ending, Ending { exit: Exit::Code(7), left_others: false });
}

#[tokio::test]
async fn the_environment_has_no_secrets_and_says_whose_child_it_is() {
    let (text, _) = run(Launch { program: "env".into(), arguments: vec![], ..shell("") }).await;
    for absent in ["SECRET_TOKEN", "hush", "SNEAKY", "ghp_"] {
        assert!(!text.contains(absent), "{text}");
    }
    for present in ["PLAIN=visible", "NECO=1", "AI_AGENT=neco", "TERM=dumb", "GIT_TERMINAL_PROMPT=0", "PAGER=cat"] {
        assert_eq!(text.lines().filter(|line| *line == present).count(), 1, "{present} in {text}");
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("NECO=") || line.starts_with("TERM=")).count(), 2);
}

#[tokio::test]
async fn what_one_process_is_given_it_finds_once() {
    let given = ["PLAIN=its own", "TERM=odd", "NECO_COMMAND=none", "GIT_CONFIG_COUNT=9", "GIT_CONFIG_KEY_0=x", "NEW=1"];
    let pair = |entry: &str| entry.split_once('=').map(|(name, value)| (name.into(), value.into())).unwrap();
    let variables = given.iter().map(|entry| pair(entry)).collect();
    let (text, _) = run(Launch { program: "env".into(), arguments: vec![], variables, ..shell("") }).await;
    let mut names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{text}");
    for present in ["PLAIN=its own", "TERM=odd", "NEW=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.bareRepository"]
    {
        assert!(text.lines().any(|line| line == present), "{present} in {text}");
    }
    assert!(!text.contains("NECO_COMMAND=none") && text.contains("NECO_COMMAND="), "by this one it is found: {text}");
}

#[tokio::test]
async fn nothing_is_left_of_what_is_ended_with_all_that_it_started() {
    let sleep = unique_sleep(6);
    let command = format!("setsid sleep {sleep} & while ! grep -qs {sleep} /proc/$!/cmdline; do :; done; echo up");
    let (text, ending) = run(Launch { leftovers: Leftovers::EndAll, ..shell(&command) }).await;
    assert_eq!((text.as_str(), ending.exit), ("up\n", Exit::Code(0)));
    eventually("what left the group is gone", || with_argument(&sleep) == 0).await;
}

#[tokio::test]
async fn errors_go_where_they_are_to_go_and_nowhere_else() {
    use std::io::Read;
    let (mut errors, prints) = std::io::pipe().unwrap();
    let command = "echo fine; echo wrong >&2; ls /proc/self/fd | wc -w";
    let errors_to = Some(std::sync::Arc::new(prints.into()));
    let (text, _) = run(Launch { stdin: Stdin::Piped, errors: errors_to, ..shell(command) }).await;
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["fine", "4"], "three and the one that ls itself opens");
    let mut said = String::new();
    errors.read_to_string(&mut said).unwrap();
    assert_eq!(said, "wrong\n", "nobody else holds the other end");
}

#[tokio::test]
async fn a_process_has_three_descriptors_its_own_session_and_nothing_to_read() {
    let (text, _) = run(shell("ls /proc/self/fd | wc -w; cat; cut -d' ' -f1,5,6,7 /proc/$$/stat")).await;
    let (count, ids) = text.trim().split_once('\n').unwrap();
    assert_eq!(count.trim(), "4", "three and the one that ls itself opens: {text}");
    let ids: Vec<&str> = ids.split_whitespace().collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2] && ids[3] == "0", "{text}");
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_does_not_hold_the_end() {
    let sleep = unique_sleep(1);
    let start = Instant::now();
    let (text, ending) = run(shell(&format!("sleep {sleep} & echo done"))).await;
    assert_eq!(text, "done\n");
    assert_eq!(ending, Ending { exit: Exit::Code(0), left_others: true });
    assert!(start.elapsed() < Duration::from_secs(10));
    eventually("the leftover is gone", || with_argument(&sleep) == 0).await;
}

#[tokio::test]
async fn a_leftover_that_prints_without_end_does_not_hold_the_end() {
    let (text, ending) = run(shell("yes & exit 3")).await;
    assert!(text.is_empty() || text.starts_with("y\n"));
    assert_eq!(ending, Ending { exit: Exit::Code(3), left_others: true });
}

#[tokio::test]
async fn leftovers_can_be_waited_for() {
    let launch = Launch { leftovers: Leftovers::WaitFor, ..shell("(sleep 0.4; echo late) & echo early") };
    let (text, ending) = run(launch).await;
    assert_eq!((text.as_str(), ending.exit), ("early\nlate\n", Exit::Code(0)));
}

#[tokio::test]
async fn a_process_that_closes_its_output_is_still_waited_for() {
    let (_, ending) = run(shell("exec >/dev/null 2>&1; sleep 0.1; exit 5")).await;
    assert_eq!(ending.exit, Exit::Code(5));
}

#[tokio::test]
async fn dropping_it_kills_the_whole_group_and_leaves_no_zombie() {
    let sleep = unique_sleep(2);
    let running = spawner().start(shell(&format!("sleep {sleep} & sleep {sleep}"))).await.unwrap();
    let leader = running.group().id();
    eventually("both sleep", || with_argument(&sleep) == 2).await;
    drop(running);
    eventually("the group is gone", || with_argument(&sleep) == 0 && !exists(leader)).await;
}

#[tokio::test]
async fn a_cancelled_wait_kills_the_group() {
    let sleep = unique_sleep(3);
    let command = format!("sleep {sleep} & wait");
    let waiting = tokio::spawn(async move { run(shell(&command)).await });
    eventually("it sleeps", || with_argument(&sleep) == 1).await;
    waiting.abort();
    eventually("the group is gone", || with_argument(&sleep) == 0).await;
}

#[tokio::test]
async fn terminate_asks_first_and_kills_who_does_not_listen() {
    let mut polite =
        spawner().start(shell("trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done")).await.unwrap();
    assert_eq!(polite.next().await, Progress::Output(b"ready\n"));
    assert_eq!(polite.terminate(Duration::from_secs(20)).await.exit, Exit::Code(9));

    let mut deaf = spawner().start(shell("trap '' TERM; echo ready; while :; do sleep 0.01; done")).await.unwrap();
    assert_eq!(deaf.next().await, Progress::Output(b"ready\n"));
    assert_eq!(deaf.terminate(Duration::from_millis(50)).await.exit, Exit::Signal(9));
}

#[tokio::test]
async fn a_group_that_is_over_is_not_signalled() {
    let mut running = spawner().start(shell("exit 0")).await.unwrap();
    let group = running.group().clone();
    let (_, ending) = all(&mut running).await;
    group.stop(Stop::Kill);
    assert_eq!(running.next().await, Progress::Ended(ending), "the end stays the end");
    assert!(!exists(group.id()), "reaped at once");
}

#[tokio::test]
async fn what_is_written_is_read_and_the_end_is_seen() {
    let mut running = spawner().start(Launch { stdin: Stdin::Piped, ..shell("cat; echo end") }).await.unwrap();
    let mut input = running.take_input().unwrap();
    assert!(running.take_input().is_none());
    let text = "x".repeat(300_000);
    let writing = async {
        input.write_all(text.as_bytes()).await.unwrap();
        input.end().await.unwrap();
    };
    let ((), (printed, _)) = tokio::join!(writing, all(&mut running));
    assert_eq!(printed, format!("{text}end\n"));
}

#[tokio::test]
async fn a_terminal_is_a_terminal() {
    let launch = Launch {
        terminal: true,
        ..shell("tty; stty size; echo $TERM; test -t 0 && test -t 1 && test -t 2 && exec </dev/tty && echo controlling")
    };
    let (text, ending) = run(launch).await;
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    assert!(lines[0].starts_with("/dev/pts/"), "{text}");
    assert_eq!(lines[1..], ["40 120", "xterm-256color", "controlling"]);
    assert_eq!(ending.exit, Exit::Code(0));
}

#[tokio::test]
async fn input_and_its_end_reach_a_terminal() {
    let mut running = spawner().start(Launch { terminal: true, ..shell("cat; echo end") }).await.unwrap();
    let mut input = running.take_input().unwrap();
    input.write_all(b"hello\n").await.unwrap();
    input.end().await.unwrap();
    let (text, ending) = all(&mut running).await;
    assert!(text.contains("hello\r\n") && text.ends_with("end\r\n"), "{text:?}");
    assert_eq!(ending.exit, Exit::Code(0));
}

#[tokio::test]
async fn what_can_not_start_says_why() {
    let spawner = spawner();
    let missing = spawner.start(Launch { program: "no-such-program".into(), ..shell("") }).await;
    assert!(matches!(missing, Err(SpawnError::NoProgram(_))));
    let folder = spawner.start(Launch { folder: "/no/such/folder".into(), ..shell("true") }).await;
    assert!(matches!(folder, Err(SpawnError::Folder(..))), "{folder:?}");
    let zero = spawner.start(shell("echo \0")).await;
    assert!(matches!(zero, Err(SpawnError::ZeroByte)));
}

#[tokio::test]
async fn what_left_the_group_is_killed_with_a_killed_command_and_does_not_hold_its_end() {
    let sleep = unique_sleep(4);
    let launch = Launch {
        leftovers: Leftovers::WaitFor,
        ..shell(&format!("setsid sleep {sleep} & (setsid sh -c 'sleep {sleep} & sleep {sleep}' &); sleep {sleep}"))
    };
    let mut running = spawner().start(launch).await.unwrap();
    eventually("all sleep", || with_argument(&sleep) == 4).await;
    let group = running.group().clone();
    let ended = tokio::time::timeout(Duration::from_secs(20), async {
        group.stop(Stop::Kill);
        all(&mut running).await.1
    });
    assert_eq!(ended.await.unwrap().exit, Exit::Signal(9));
    eventually("the strays are gone", || with_argument(&sleep) == 0).await;
}

#[tokio::test]
async fn killing_ends_the_wait_for_someone_who_hides() {
    // Without its environment it can't be found, and it holds the output.
    let sleep = unique_sleep(5);
    let command = format!("env -i setsid sh -c 'echo $$; exec sleep {sleep}' & sleep 0.1");
    let launch = Launch { leftovers: Leftovers::WaitFor, ..shell(&command) };
    let mut running = spawner().start(launch).await.unwrap();
    let Progress::Output(hidden) = running.next().await else { panic!("no number") };
    let hidden = String::from_utf8_lossy(hidden).trim().to_owned();
    let group = running.group().clone();
    eventually("it hides", || with_argument(&sleep) == 1).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let waiting = tokio::spawn(async move { all(&mut running).await.1 });
    group.stop(Stop::Kill);
    let ended = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    std::process::Command::new("kill").args(["-9", &hidden]).status().unwrap();
    assert!(ended.is_ok(), "the end never came");
}

#[tokio::test]
async fn what_was_printed_before_the_exit_is_read_however_slowly() {
    let expected: Vec<String> = (1..=3000).map(|n| n.to_string()).collect();
    for terminal in [true, false] {
        let mut running = spawner().start(Launch { terminal, ..shell("seq 1 3000") }).await.unwrap();
        let mut text = Vec::new();
        loop {
            match running.next().await {
                Progress::Output(bytes) => text.extend_from_slice(bytes),
                Progress::Ended(_) => break,
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let text = String::from_utf8_lossy(&text).replace('\r', "");
        assert!(text.lines().eq(expected.iter()), "{} bytes, terminal {terminal}", text.len());
    }
}

#[tokio::test]
async fn a_dead_watchdog_is_replaced() {
    let spawner = spawner();
    let first = spawner.start(shell("sleep 9000")).await.unwrap();
    let watchdog = || {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let own = entries.filter(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<u32>().ok());
            let cmdline = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            parent == Some(std::process::id()) && cmdline.ends_with(b"neco-watchdog\0")
        });
        own.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    eventually("a watchdog", || !watchdog().is_empty()).await;
    let old = watchdog();
    for pid in &old {
        std::process::Command::new("kill").args(["-9", pid]).status().unwrap();
    }
    eventually("it is reaped", || watchdog().iter().all(|pid| !old.contains(pid))).await;
    let second = spawner.start(shell("sleep 9000")).await.unwrap();
    eventually("a new one", || watchdog().iter().any(|pid| !old.contains(pid))).await;
    drop((first, second, spawner));
}
