//! Processes in a box behave like processes without one, and leave nothing behind.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use neco_config::section::{SandboxLevel, SandboxNetwork, SandboxSection};
use neco_safety::command::{Opened, Place, examine};
use neco_safety::world::{
    Allowance, Ending, Exit, Freedom, Launch, Leftovers, Process, Processes, Progress, Stdin, Stop, Stops,
};
use neco_sandbox::{Roots, Running, Spawner, Strength};

use crate::stage::{Stage, all, names, run, run_freed, with_argument};

const BOTH: [Strength; 2] = [Strength::Strong, Strength::Weaker];

fn usual() -> SandboxSection {
    SandboxSection::default()
}

/// Waits for something that happens soon, without counting on when.
async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn unique_sleep(number: u32) -> String {
    format!("6{:07}.{number}", std::process::id())
}

#[tokio::test]
async fn output_codes_and_signals_come_through() {
    for strength in BOTH {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let (text, ending) = run(&spawner, stage.shell("echo out; echo err >&2; pwd; exit 7")).await;
        assert_eq!(text, format!("out\nerr\n{}\n", stage.workspace.display()), "{strength:?}");
        assert_eq!(ending, Ending { exit: Exit::Code(7), left_others: false });
        let (_, ending) = run(&spawner, stage.shell("kill -SEGV $$")).await;
        assert_eq!(ending.exit, Exit::Signal(11), "{strength:?}");
        let mut piped = spawner.start(Launch { stdin: Stdin::Piped, ..stage.shell("cat; echo end") }).await.unwrap();
        let mut input = piped.take_input().unwrap();
        input.write_all(b"hello\n").await.unwrap();
        input.end().await.unwrap();
        assert_eq!(all(&mut piped).await.0, "hello\nend\n");
    }
}

#[tokio::test]
async fn a_process_has_three_descriptors_and_its_own_session() {
    for strength in BOTH {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let look = "ls /proc/self/fd | wc -w; cut -d' ' -f1,5,6,7 /proc/$$/stat; grep -c '^SigBlk:.*[1-9a-f]' /proc/self/status";
        let (text, _) = run(&spawner, stage.shell(look)).await;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].trim(), "4", "{strength:?} {text}");
        let ids: Vec<&str> = lines[1].split_whitespace().collect();
        assert!(ids[0] == ids[1] && ids[1] == ids[2] && ids[3] == "0", "{strength:?} {text}");
        assert_eq!(lines[2].trim(), "0", "no signal is blocked: {text}");
    }
}

#[tokio::test]
async fn ending_asks_first_and_kills_who_does_not_listen() {
    for strength in BOTH {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let polite = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done";
        let mut running = spawner.start(stage.shell(polite)).await.unwrap();
        assert_eq!(running.next().await, Progress::Output(b"ready\n"));
        assert_eq!(running.terminate(Duration::from_secs(20)).await.exit, Exit::Code(9), "{strength:?}");
        let deaf = "trap '' TERM; echo ready; while :; do sleep 0.01; done";
        let mut running = spawner.start(stage.shell(deaf)).await.unwrap();
        assert_eq!(running.next().await, Progress::Output(b"ready\n"));
        assert_eq!(running.terminate(Duration::from_millis(50)).await.exit, Exit::Signal(9), "{strength:?}");
    }
}

#[tokio::test]
async fn what_is_left_running_is_seen_waited_for_or_ended() {
    for (number, strength) in BOTH.into_iter().enumerate() {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let sleep = unique_sleep(number as u32);
        let (text, ending) = run(&spawner, stage.shell(&format!("sleep {sleep} & echo done"))).await;
        assert_eq!((text.as_str(), ending), ("done\n", Ending { exit: Exit::Code(0), left_others: true }));
        eventually("the leftover is gone", || with_argument(&sleep).is_empty()).await;
        let late = Launch { leftovers: Leftovers::WaitFor, ..stage.shell("(sleep 0.4; echo late) & echo early") };
        let (text, ending) = run(&spawner, late).await;
        assert_eq!((text.as_str(), ending.exit), ("early\nlate\n", Exit::Code(0)), "{strength:?}");
    }
}

#[tokio::test]
async fn dropping_or_killing_it_ends_everything_in_the_box_also_what_hides() {
    let stage = Stage::new();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let sleep = unique_sleep(10);
    let command = format!("env -i setsid sleep {sleep} & setsid sleep {sleep} & sleep {sleep}");
    let running = spawner.start(stage.shell(&command)).await.unwrap();
    eventually("all sleep", || with_argument(&sleep).len() == 3).await;
    drop(running);
    eventually("all are gone", || with_argument(&sleep).is_empty()).await;
    let mut running = spawner.start(stage.shell(&command)).await.unwrap();
    eventually("all sleep", || with_argument(&sleep).len() == 3).await;
    running.group().stop(Stop::Kill);
    assert_eq!(all(&mut running).await.1.exit, Exit::Signal(9));
    assert_eq!(with_argument(&sleep), Vec::<i32>::new(), "gone when the end is seen");
}

#[tokio::test]
async fn a_terminal_in_a_box_is_a_terminal() {
    for strength in BOTH {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let look = "stty size; test -t 0 && test -t 1 && exec </dev/tty && echo controlling; tty";
        let (text, ending) = run(&spawner, Launch { terminal: true, ..stage.shell(look) }).await;
        let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
        assert_eq!(lines[..2], ["40 120", "controlling"], "{strength:?} {text}");
        assert!(lines[2].starts_with("/dev/"), "{strength:?} {text}");
        assert_eq!(ending.exit, Exit::Code(0));
    }
}

#[tokio::test]
async fn stand_ins_are_there_while_a_command_runs_and_gone_after_it() {
    let stage = Stage::new();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let before = names(&stage.workspace);
    let (text, _) = run(&spawner, stage.shell("ls; ls -A; mkdir .claude/x; git status --short; echo mine >new")).await;
    assert!(text.contains(".claude") && text.contains("Read-only file system"), "{text}");
    let seen = |name: &str| text.lines().any(|line| line == name);
    assert!(
        !seen("?? .claude") && !seen("refs") && !seen(".gemini") && !seen(".mcp.json") && !seen(".envrc"),
        "{text}"
    );
    assert_eq!(names(&stage.workspace), [before.clone(), vec!["new".to_owned()]].concat());
    assert!(!stage.work(".git/commondir").exists());
    // One box ends, another goes on: what it needs stays.
    let mut long = spawner.start(Launch { stdin: Stdin::Piped, ..stage.shell("echo up; cat") }).await.unwrap();
    assert_eq!(long.next().await, Progress::Output(b"up\n"));
    run(&spawner, stage.shell("true")).await;
    assert!(stage.work(".claude").is_dir());
    drop(long.take_input());
    all(&mut long).await;
    assert_eq!(names(&stage.workspace).len(), before.len() + 1);
}

#[tokio::test]
async fn settings_that_a_command_makes_are_put_aside_and_named() {
    for strength in BOTH {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let make = "mkdir -p .gemini refs/x && echo '{}' >.gemini/settings.json && echo '{}' >.mcp.json && echo fine";
        let mut running = spawner.start(stage.shell(make)).await.unwrap();
        let (text, _) = all(&mut running).await;
        assert_eq!(text, "fine\n", "{strength:?}");
        let mut taken = running.taken_away().to_vec();
        taken.sort();
        assert_eq!(taken, [stage.work(".gemini"), stage.work(".mcp.json")], "{strength:?}");
        let left = names(&stage.workspace);
        assert!(!left.iter().any(|name| name == ".gemini" || name == ".mcp.json"), "{left:?}");
        assert!(stage.work(".gemini.refused-1/settings.json").is_file() && stage.work("refs/x").is_dir());
        // What lasts makes none either, and what others make beside it stays.
        what_lasts_makes_no_settings(&stage, &spawner, strength).await;
    }
}

/// The person works in the folder all the time: what they make stays, and they see no stand-ins.
#[tokio::test]
async fn beside_a_server_a_folder_stays_as_the_person_has_it() {
    for strength in BOTH {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        fs::write(stage.work(".mcp.json"), "the person's").unwrap();
        let make = "(echo changed >.mcp.json) 2>/dev/null; echo up; cat";
        let mut running = up(&spawner, Launch { leftovers: Leftovers::EndAll, ..stage.shell(make) }).await;
        let seen = names(&stage.workspace);
        assert!(!seen.iter().any(|name| name == ".envrc" || name == ".cursor" || name == ".zed"), "{seen:?}");
        fs::create_dir(stage.work(".zed")).unwrap();
        fs::write(stage.work(".zed/settings.json"), "the person's").unwrap();
        drop(running.take_input());
        all(&mut running).await;
        assert!(stage.work(".zed/settings.json").is_file(), "{strength:?}");
        // The weaker box holds nothing in its place, and nobody can tell afterwards whose change it is.
        let kept = fs::read_to_string(stage.work(".mcp.json")).unwrap();
        assert!(strength == Strength::Weaker || kept == "the person's", "{kept}");
    }
}

/// What was started with an open input, and has said `up`.
pub(crate) async fn up(spawner: &Spawner, launch: Launch) -> Running {
    let mut running = spawner.start(Launch { stdin: Stdin::Piped, ..launch }).await.unwrap();
    let mut text = String::new();
    while !text.contains("up\n") {
        match running.next().await {
            Progress::Output(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
            Progress::Ended(ending) => panic!("{ending:?}: {text}"),
        }
    }
    running
}

async fn what_lasts_makes_no_settings(stage: &Stage, spawner: &Spawner, strength: Strength) {
    let make = "echo '{}' >.envrc; mkdir -p .cursor/x; echo up; cat";
    let mut running = up(spawner, Launch { leftovers: Leftovers::WaitFor, ..stage.shell(make) }).await;
    let persons = stage.work(".zed/settings.json");
    if strength == Strength::Strong {
        assert!(!stage.work(".envrc").is_file(), "not even while it runs");
        fs::write(&persons, "the person's").unwrap();
    }
    drop(running.take_input());
    all(&mut running).await;
    assert!(!stage.work(".envrc").exists() && !stage.work(".cursor").exists(), "{strength:?}");
    assert!(strength == Strength::Weaker || persons.is_file());
    drop(fs::remove_dir_all(stage.work(".zed")));
}

/// The loader of programs writes down what it does if its environment says so: where boxes can't write, nobody else can
/// have.
#[tokio::test]
async fn what_a_command_alone_is_given_does_not_reach_what_builds_its_box() {
    for (strength, bubblewrap) in [(Strength::Strong, false), (Strength::Strong, true), (Strength::Weaker, false)] {
        let stage = Stage { bubblewrap, ..Stage::new() };
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let traces = stage.outside.join("traces");
        fs::create_dir(&traces).unwrap();
        let given =
            [("LD_DEBUG", "files".into()), ("LD_DEBUG_OUTPUT", traces.join("of").into()), ("OWN", "mine".into())];
        let variables = given.map(|(name, value)| (name.into(), value)).into();
        let (text, _) = run(&spawner, Launch { variables, ..stage.shell("echo it is $OWN") }).await;
        assert!(text.contains("it is mine\n"), "{strength:?} {bubblewrap} {text}");
        assert_eq!(names(&traces), Vec::<String>::new(), "{strength:?} {bubblewrap}");
    }
}

#[tokio::test]
async fn read_only_writes_nothing_but_temporary_files() {
    for strength in BOTH {
        let stage = Stage::new();
        let section = SandboxSection { level: SandboxLevel::ReadOnly, ..usual() };
        let Some(spawner) = stage.spawner(strength, &section) else { continue };
        assert_eq!(spawner.has_own_tmp(), strength == Strength::Strong, "the weaker box has the machine's");
        let (text, _) = run(&spawner, stage.shell("touch new || echo refused; touch $TMPDIR/x && echo fine")).await;
        assert!(text.contains("refused") && text.ends_with("fine\n"), "{strength:?} {text}");
        assert!(!stage.work("new").exists());
    }
}

#[tokio::test]
async fn more_folders_and_secrets_can_be_allowed() {
    let stage = Stage::new();
    let cache = stage.outside.join("cache");
    fs::create_dir(&cache).unwrap();
    let section = SandboxSection {
        writable: vec![cache.display().to_string()],
        readable: vec![".env".to_owned(), "~/.netrc".to_owned()],
        hidden: vec![stage.outside.join("file").display().to_string()],
        ..usual()
    };
    let Some(spawner) = stage.spawner(Strength::Strong, &section) else { return };
    let command = format!(
        "cat .env ~/.netrc; echo; touch {0}/x; cat {1}/file || echo hidden",
        cache.display(),
        stage.outside.display()
    );
    let (text, _) = run(&spawner, stage.shell(&command)).await;
    assert!(text.starts_with("secretsecret\n") && text.ends_with("hidden\n"), "{text}");
    assert!(cache.join("x").is_file());
}

#[tokio::test]
async fn a_home_with_thousands_of_files_beside_secrets_is_seen_in_the_weaker_box() {
    let stage = Stage::new();
    let long = "a-name-that-is-long-enough-to-fill-an-argument";
    for number in 0..4000 {
        fs::write(stage.home.join(format!("{long}-{number}")), "x").unwrap();
    }
    let Some(spawner) = stage.spawner(Strength::Weaker, &usual()) else { return };
    let look = format!("for i in 0 1999 3999; do cat ../{long}-$i; done; cat ../.netrc || echo hidden");
    let (text, _) = run(&spawner, stage.shell(&look)).await;
    assert!(text.starts_with("xxx") && text.ends_with("hidden\n"), "{text}");
}

#[tokio::test]
async fn a_workspace_among_temporary_files_is_seen_and_the_others_are_not() {
    for bubblewrap in [false, true] {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let stage = Stage::new();
        let workspace = folder.path().join("work");
        fs::rename(&stage.workspace, &workspace).or_else(|_| fs::create_dir(&workspace)).unwrap();
        let stage = Stage { workspace: workspace.clone(), folder, bubblewrap, ..stage };
        let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
        fs::write(stage.folder.path().join("beside"), "x").unwrap();
        let look = format!(
            "echo x >new; cat ../beside || echo unseen; test -w {} && echo shared",
            spawner.temporary_folder().display()
        );
        let (text, _) = run(&spawner, stage.shell(&look)).await;
        assert!(text.ends_with("unseen\nshared\n"), "{text}");
        assert!(workspace.join("new").is_file());
    }
}

#[tokio::test]
async fn the_home_folder_with_what_is_ours_in_it_can_be_worked_in() {
    for (strength, bubblewrap) in [(Strength::Strong, false), (Strength::Strong, true), (Strength::Weaker, false)] {
        let stage = Stage { bubblewrap, ..Stage::new() };
        let data = stage.home.join(".local/share/neco");
        fs::create_dir_all(&data).unwrap();
        fs::write(data.join("sessions"), "secret").unwrap();
        let mut setup = stage.setup(strength, &usual());
        setup.own.push(data.clone());
        setup.state = data.join("sandbox");
        let Some(sandbox) = stage.sandbox_of(strength, setup) else { continue };
        let plain = Spawner::new(vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())], &[]);
        let roots = Roots { writable: vec![stage.home.clone()], readable: Vec::new() };
        let spawner = plain.boxed(&sandbox, roots).unwrap();
        let look = "echo it >made; cat .local/share/neco/sessions; echo cached >$GOCACHE-x && cat $GOCACHE-x";
        let launch = Launch { folder: stage.home.clone(), ..stage.shell(look) };
        let (text, ending) = run(&spawner, launch).await;
        assert!(ending.exit == Exit::Code(0) && text.ends_with("cached\n"), "{strength:?} {bubblewrap}: {text}");
        assert_eq!(fs::read_to_string(stage.home.join("made")).unwrap(), "it\n");
        // Nothing in a folder that is worked in can be hidden by the weaker box, which says so.
        assert!(!text.contains("secret") || strength == Strength::Weaker, "{text}");
        assert_eq!(fs::read_to_string(data.join("sessions")).unwrap(), "secret");
    }
}

#[tokio::test]
async fn one_command_can_be_freed() {
    for strength in BOTH {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let reach = format!(
            "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' && echo reached; sh -c 'echo x >{}/x' || echo refused",
            stage.outside.display()
        );
        let (text, _) = run(&spawner, stage.shell(&reach)).await;
        assert!(!text.contains("reached") && text.ends_with("refused\n"), "{strength:?} {text}");
        let (text, _) = run_freed(&spawner, stage.shell(&reach), Freedom::Network).await;
        assert!(text.starts_with("reached") && text.ends_with("refused\n"), "{strength:?} {text}");
        let (text, _) = run_freed(&spawner, stage.shell(&reach), Freedom::Unboxed).await;
        assert_eq!(text, "reached\n", "{strength:?}");
        let on = SandboxSection { network: SandboxNetwork::On, ..usual() };
        let (text, _) = run(&stage.spawner(strength, &on).unwrap(), stage.shell(&reach)).await;
        assert!(text.starts_with("reached") && text.ends_with("refused\n"), "{strength:?} {text}");
    }
}

#[tokio::test]
async fn what_a_person_said_yes_to_is_open_to_that_command_and_nothing_else_is() {
    let stage = Stage::new();
    fs::write(stage.home.join(".ssh/config"), "host").unwrap();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let line = "cat .env ~/.ssh/config; echo; cat ~/.ssh/id_ed25519 || ls ~/.ssh; echo x >.vscode/new; \
        cat ~/.config/neco/keys.toml || echo closed";
    let (text, _) = run(&spawner, stage.shell(line)).await;
    assert!(!text.contains("secret") && !text.contains("host\n") && !stage.work(".vscode/new").exists(), "{text}");
    let place = Place::new(&stage.workspace).with_home(&stage.home);
    let named = |words: &str| Allowance { opens: examine(words, &place).opens, ..Allowance::default() };
    let (text, _) =
        run_freed(&spawner, stage.shell(line), named("cat .env ~/.ssh/config ~/.config/neco/keys.toml")).await;
    assert!(text.starts_with("secrethost\n") && text.ends_with("closed\n"), "{text}");
    assert!(
        text.lines().any(|line| line == "config") && !stage.work(".vscode/new").exists(),
        "only what is named: {text}"
    );
    let both = "echo x >.vscode/tasks.json; echo x >.vscode/other; cp .vscode/tasks.json .git/hooks/pre-commit";
    run_freed(&spawner, stage.shell(both), named("echo x >.vscode/tasks.json")).await;
    assert!(
        stage.work(".vscode/tasks.json").is_file() && !stage.work(".vscode/other").exists(),
        "one file is one file"
    );
    assert!(!stage.work(".git/hooks/pre-commit").exists());
    run_freed(&spawner, stage.shell("true"), named("echo x >.vscode/launch.json")).await;
    assert!(!stage.work(".vscode/launch.json").exists(), "what was not made is not there");
    let made = "mkdir -p .claude && echo 1 >.claude/settings.json && echo 2 >.claude/hooks.json; echo x >.env";
    run_freed(&spawner, stage.shell(made), named("echo 1 >.claude/settings.json; cat .env")).await;
    assert_eq!(names(&stage.work(".claude")), ["hooks.json.refused-1", "settings.json"]);
    assert_eq!(fs::read_to_string(stage.work(".env")).unwrap(), "secret", "reading is not writing");
    fs::remove_dir_all(stage.work(".claude")).unwrap();
    let look = "cat .git/hooks/pre-commit.sample .vscode/tasks.json >/dev/null; ls * >/dev/null; bash x.sh";
    let write = "for f in .git/hooks/x .vscode/x .neco/x .mcp.json; do mkdir -p $(dirname $f); echo x >$f; done";
    run_freed(&spawner, stage.shell(write), named(look)).await;
    for path in [".git/hooks/x", ".vscode/x", ".neco", ".mcp.json"] {
        assert!(!stage.work(path).exists(), "{path}: a look opens nothing for writing");
    }
    let (text, _) = run(&spawner, stage.shell("cat .env || echo closed")).await;
    assert!(text.ends_with("closed\n"), "the next command was not asked about: {text}");
}

#[tokio::test]
async fn a_yes_to_a_file_outside_opens_that_file_and_nothing_beside_it() {
    for strength in BOTH {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        let at = |name: &str| stage.outside.join(name);
        let keys = stage.home.join(".config/neco/keys.toml");
        let opened = [at("file"), at("new"), at("unused"), keys.clone()].map(|path| Opened { path, changes: true });
        let allowed = Allowance { opens: opened.to_vec(), ..Allowance::default() };
        let line = format!(
            "cd {}; echo more >>file; echo made >new; echo no >beside; echo no >taken; \
             echo no >~/.config/neco/keys.toml",
            stage.outside.display()
        );
        let (text, _) = run_freed(&spawner, stage.shell(&line), allowed).await;
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        assert_eq!((read(&at("file")), read(&at("new"))), ("outsidemore\n".into(), "made\n".into()), "{text}");
        assert!(!at("beside").exists() && !at("unused").exists(), "{strength:?} {text}");
        assert_eq!((read(&at("taken")), read(&keys)), ("outside".into(), "secret".into()), "{strength:?} {text}");
        run(&spawner, stage.shell(&line)).await;
        assert_eq!(read(&at("file")), "outsidemore\n", "the next command was not asked about");
    }
}

#[tokio::test]
async fn allowed_hosts_go_through_the_proxy_and_others_are_named() {
    let stage = Stage::new();
    let section = SandboxSection { hosts: vec!["allowed.example".to_owned()], ..usual() };
    let Some(spawner) = stage.spawner(Strength::Strong, &section) else { return };
    let ask = "port=${HTTP_PROXY##*:}; bash -c 'exec 3<>/dev/tcp/127.0.0.1/'$port'; \
        printf \"CONNECT other.example:443 HTTP/1.1\\r\\n\\r\\n\" >&3; head -1 <&3'; echo $https_proxy $NO_PROXY";
    let mut running = spawner.start(stage.shell(ask)).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert!(text.starts_with("HTTP/1.1 403"), "{text}");
    assert!(text.contains("http://127.0.0.1:") && text.contains("localhost"), "{text}");
    assert_eq!(running.refused_hosts(), ["other.example"]);
}

#[tokio::test]
async fn the_root_folder_is_no_workspace_and_nothing_is_left_in_the_temporary_folder() {
    let stage = Stage::new();
    let Some(sandbox) = stage.sandbox(Strength::Strong, &usual()) else { return };
    let spawner = || Spawner::new(Vec::new(), &[]);
    for folder in ["/", "/dev", "/proc/self"] {
        let roots = Roots { writable: vec![folder.into()], readable: Vec::new() };
        assert!(spawner().boxed(&sandbox, roots).is_err(), "{folder}");
    }
    let own = |names: Vec<String>| names.into_iter().filter(|name| name.starts_with("neco-")).count();
    let roots = Roots { writable: vec![stage.workspace.clone()], readable: Vec::new() };
    let boxed = spawner().boxed(&sandbox, roots).unwrap();
    assert_eq!(own(names(stage.folder.path())), 1);
    drop(boxed);
    assert_eq!(own(names(stage.folder.path())), 0);
}

/// What a box costs: `cargo test -p neco-sandbox --test sandbox -- --ignored --nocapture figures`.
#[tokio::test]
#[ignore = "prints figures"]
async fn figures() {
    let stage = Stage::new();
    let plain = Spawner::new(vec![("PATH".into(), "/usr/bin:/bin".into())], &[]);
    let spawners = [
        ("plain", Some(plain)),
        ("weaker", stage.spawner(Strength::Weaker, &usual())),
        ("strong", stage.spawner(Strength::Strong, &usual())),
    ];
    for (name, spawner) in spawners {
        let Some(spawner) = spawner else { continue };
        let mut times = Vec::new();
        for _ in 0..60 {
            let begun = Instant::now();
            run(&spawner, stage.shell("true")).await;
            times.push(begun.elapsed());
        }
        times.sort();
        eprintln!("{name}: median {:?}, least {:?}", times[30], times[0]);
    }
}
