//! The probe set: every attempt in every kind of box, as root and as a plain user, in one table.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::{Command, Stdio};

use neco_config::section::SandboxSection;
use neco_safety::world::Launch;
use neco_sandbox::Strength;
use serde_json::{Value, json};

use crate::expected;
use crate::stage::{LAUNCHER, Stage, beside_for_all, launcher, names, run, skipped, with_argument};

/// What a probe found: by kind and name, whether it succeeded.
type Findings = BTreeMap<(String, String), bool>;

/// A kind of box, as the environment of another process names it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Strong,
    Bubblewrap,
    Weaker,
}

impl Kind {
    const ALL: [(Self, &str); 3] =
        [(Self::Strong, "strong"), (Self::Bubblewrap, "bubblewrap"), (Self::Weaker, "weaker")];

    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    fn strength(self) -> Strength {
        match self {
            Self::Strong | Self::Bubblewrap => Strength::Strong,
            Self::Weaker => Strength::Weaker,
        }
    }
}

const COLUMNS: [(&str, Kind, bool); 6] = [
    ("strong, root", Kind::Strong, true),
    ("strong, user", Kind::Strong, false),
    ("bubblewrap, root", Kind::Bubblewrap, true),
    ("bubblewrap, user", Kind::Bubblewrap, false),
    ("weaker, root", Kind::Weaker, true),
    ("weaker, user", Kind::Weaker, false),
];

/// A plain user, whose name and number every system has.
const NOBODY: &str = "65534";

#[test]
fn nothing_gets_out_and_what_must_work_works() {
    let is_root = rustix::process::geteuid().is_root();
    let mut table: Vec<(&str, Findings)> = Vec::new();
    for (name, kind, root) in COLUMNS {
        let findings = match (root, is_root) {
            (true, true) | (false, false) => probe_here(kind),
            (false, true) => probe_as_nobody(kind),
            (true, false) => None,
        };
        match findings {
            Some(findings) => table.push((name, findings)),
            None if root && !is_root => eprintln!("skipped: {name}: the tests do not run as root"),
            None => skipped(kind.strength(), name),
        }
    }
    eprintln!("{}", drawn(&table));
    let wrong: Vec<String> = table.iter().flat_map(|(name, findings)| expected::differences(name, findings)).collect();
    assert!(wrong.is_empty(), "not as expected:\n{}", wrong.join("\n"));
    assert!(expected::counts(&table.first().map(|(_, findings)| findings.clone()).unwrap_or_default()));
}

fn drawn(table: &[(&str, Findings)]) -> String {
    let mut text = String::new();
    let columns: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(text, "{:<58} {}", "", columns.join(" | "));
    for (kind, name) in
        table.iter().flat_map(|(_, findings)| findings.keys()).collect::<std::collections::BTreeSet<_>>()
    {
        let cell = |findings: &Findings| match (kind.as_str(), findings.get(&(kind.clone(), name.clone()))) {
            ("escape", Some(true)) => "OPEN",
            ("escape", Some(false)) => "closed",
            (_, Some(true)) => "works",
            (_, Some(false)) => "FAILS",
            (_, None) => "?",
        };
        let cells: Vec<String> =
            table.iter().map(|(name, findings)| format!("{:<width$}", cell(findings), width = name.len())).collect();
        let _ = writeln!(text, "{:<58} {}", format!("{kind}: {name}"), cells.join(" | "));
    }
    for (name, findings) in table {
        let count = |kind: &str, succeeded: bool| {
            findings.iter().filter(|((own, _), result)| own == kind && **result == succeeded).count()
        };
        let _ = writeln!(
            text,
            "{name}: {} of {} escapes closed, {} of {} things work",
            count("escape", false),
            count("escape", false) + count("escape", true),
            count("works", true),
            count("works", false) + count("works", true)
        );
    }
    text
}

/// Runs this test program again as a plain user.
fn probe_as_nobody(kind: Kind) -> Option<Findings> {
    let folder = tempfile::Builder::new().prefix("nobody-").tempdir_in(beside_for_all()).ok()?;
    std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).ok()?;
    let (program, own_launcher) = (folder.path().join("tests"), folder.path().join("launcher"));
    fs::copy(std::env::current_exe().ok()?, &program).ok()?;
    fs::copy(launcher(), &own_launcher).ok()?;
    let output = Command::new("setpriv")
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"])
        .arg(program)
        .args(["--exact", "probe::as_this_user", "--ignored", "--nocapture"])
        .env("NECO_TEST_BOX", kind.name())
        .env("NECO_TEST_STAGE", folder.path())
        .env(LAUNCHER, own_launcher)
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .stderr(Stdio::inherit())
        .output();
    let text = match output {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => {
            eprintln!("skipped: setpriv: {error}");
            return None;
        }
    };
    let found = text.lines().find_map(|line| line.split_once("FINDINGS ").map(|(_, found)| found.to_owned()))?;
    let found: Vec<(String, String, bool)> = serde_json::from_str(&found).unwrap();
    Some(found.into_iter().map(|(kind, name, succeeded)| ((kind, name), succeeded)).collect())
}

#[test]
#[ignore = "run by the test above, as another user"]
#[allow(clippy::print_stdout)]
fn as_this_user() {
    let wanted = std::env::var("NECO_TEST_BOX").unwrap();
    let kind = Kind::ALL.into_iter().find(|(_, name)| *name == wanted).unwrap().0;
    if let Some(findings) = probe_here(kind) {
        let list: Vec<(String, String, bool)> =
            findings.into_iter().map(|((kind, name), succeeded)| (kind, name, succeeded)).collect();
        println!("FINDINGS {}", serde_json::to_string(&list).unwrap());
    }
}

fn probe_here(kind: Kind) -> Option<Findings> {
    let strength = kind.strength();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stage = Stage { bubblewrap: kind == Kind::Bubblewrap, ..Stage::new() };
    let spawner = runtime.block_on(async { stage.spawner(strength, &SandboxSection::default()) })?;
    let before = names(&stage.workspace);
    let mut victim = Command::new("sleep").arg("600").spawn().unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let echo = udp.try_clone().unwrap();
    std::thread::spawn(move || {
        while let Ok((_, from)) = echo.recv_from(&mut [0; 64]) {
            let _ = echo.send_to(b"pong", from);
        }
    });
    let unix = stage.outside.join("engine.sock");
    let _engine = UnixListener::bind(&unix).unwrap();
    let datagrams = stage.outside.join("log.sock");
    let _log = UnixDatagram::bind(&datagrams).unwrap();
    let abstract_name = format!("neco-probe-{}-{}", std::process::id(), strength == Strength::Strong);
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name).unwrap()).unwrap();
    let places = json!({
        "workspace": stage.workspace, "outside": stage.outside, "home": stage.home,
        "outer_pid": std::process::id(), "tcp_port": tcp.local_addr().unwrap().port(),
        "udp_port": udp.local_addr().unwrap().port(), "unix_socket": unix, "datagram_socket": datagrams,
        "abstract_socket": abstract_name, "victim_pid": victim.id(),
    });
    // Where the test was built may be a place that boxes don't see.
    let program = stage.work("probe");
    fs::copy(launcher(), &program).unwrap();
    let launch = Launch { program: program.into(), arguments: vec![places.to_string().into()], ..stage.shell("") };
    let (text, ending) = runtime.block_on(run(&spawner, launch));
    let mut findings = Findings::new();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let found: Value = serde_json::from_str(line).unwrap();
        let key = (found["kind"].as_str().unwrap().to_owned(), found["name"].as_str().unwrap().to_owned());
        findings.insert(key, found["succeeded"].as_bool().unwrap());
    }
    assert!(findings.len() > 50, "{ending:?}: {text}");
    let daemon = format!("61000000.{}", std::process::id());
    std::thread::sleep(std::time::Duration::from_millis(100));
    let survived = with_argument(&daemon);
    findings.insert(("escape".to_owned(), "a daemon that survives".to_owned()), !survived.is_empty());
    for pid in survived {
        let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
    }
    // What can be made for as long as the command runs.
    let weaker = strength == Strength::Weaker;
    for (path, attempt, for_a_moment) in [
        (".claude", "make the missing settings of an agent", weaker),
        (".neco", "make our own missing settings", weaker),
        (".mcp.json", "make a missing settings file", true),
        (".gemini", "make missing settings of a program that is not used here", true),
    ] {
        if for_a_moment {
            findings.insert(("escape".to_owned(), attempt.to_owned()), stage.work(path).exists());
        }
    }
    let died = victim.try_wait().unwrap().is_some();
    findings.insert(("escape".to_owned(), "the victim outside died".to_owned()), died);
    let _ = victim.kill();
    let _ = victim.wait();
    let _ = fs::remove_file("/tmp/neco-probe-outer");
    if strength == Strength::Strong {
        assert_eq!(fs::read_to_string(stage.outside.join("file")).unwrap(), "outside", "changed outside");
        let stayed = names(&stage.workspace).iter().filter(|name| before.contains(name)).count();
        assert_eq!(stayed, before.len(), "something of the workspace is gone");
        for mask in [".claude", ".neco", ".mcp.json", ".cursor"] {
            assert!(!stage.work(mask).exists(), "{mask} was left behind");
        }
    }
    Some(findings)
}
