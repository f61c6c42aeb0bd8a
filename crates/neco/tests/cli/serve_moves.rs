//! A server whose place another one takes: its sessions go on there, and whoever connects meanwhile waits.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::attach::{UNTIL_GO, begun, go};
use crate::serve::{Serving, user};
use crate::support::{House, call, eventually, say};

fn pid(house: &House) -> u64 {
    let status = house.run(&["serve", "status", "--json"]).ended_with(0).json();
    status["pid"].as_u64().unwrap()
}

/// Asks at an address and waits at most so long; nothing when no answer came.
fn ready(address: &str, patience: Duration) -> std::io::Result<Option<String>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(patience))?;
    write!(stream, "GET /health/live HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut told = String::new();
    Ok(stream.read_to_string(&mut told).ok().map(|_| told))
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn another_server_takes_the_place_of_one_and_its_sessions_go_on_there() {
    let house = House::playing(json!([call("bash", json!({ "command": UNTIL_GO, "timeout": 60 })), say("Not here.")]));
    let mut serving = Serving::start(&house, &[]);
    let (id, address) = (serving.open(), serving.url.trim_start_matches("http://").to_owned());
    let (rests, silent) = (serving.open(), serving.open());
    serving.tell(&id, json!({ "type": "set_approval", "approval": "auto" }));
    serving.tell(&id, user("run it"));
    begun(&house);
    let before = pid(&house);
    // The new one reads its script anew.
    house.script("script.json", json!([say("Done over there."), say("Done over there.")]));
    let (asks, over, answered) = (&house, &AtomicBool::new(false), &AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let knocking = scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                let told = ready(&address, Duration::from_secs(50)).expect("nobody is turned away");
                assert!(told.is_some_and(|told| told.contains("200 OK")));
                answered.fetch_add(1, Ordering::SeqCst);
            }
        });
        let taking = asks.start(&["serve", "take-over"]);
        eventually("it is asked to hand over", || logged(asks, "another process wants to take over"));
        // Everybody is served until the turn is over; what is said now is done by the new one.
        serving.tell(&rests, user("and this"));
        go(asks);
        let taken = taking.wait_with_output().unwrap();
        assert!(taken.status.success(), "{}", String::from_utf8_lossy(&taken.stderr));
        assert_eq!(String::from_utf8_lossy(&taken.stdout).trim(), serving.url);
        over.store(true, Ordering::SeqCst);
        knocking.join().unwrap();
    });
    assert!(answered.load(Ordering::SeqCst) > 0);
    assert_ne!(pid(&house), before);
    let old = serving.child.take().unwrap().wait_with_output().unwrap();
    assert!(old.status.success(), "{}", String::from_utf8_lossy(&old.stderr));
    let events = serving.until(&id, "agent_complete");
    assert!(events.iter().enumerate().all(|(at, event)| event["seq"] == at as u64 + 1), "a gap: {events:?}");
    let told = json!(events).to_string();
    assert!(told.contains("Done over there.") && !told.contains("Not here.") && !told.contains("nterrupted"), "{told}");
    let ends = of_type(&events, "tool_call_end");
    assert!(ends.len() == 1 && ends[0]["status"] == "success", "{ends:?}");
    let events = serving.until(&rests, "agent_complete");
    assert!(json!(events).to_string().contains("Done over there."), "what was said meanwhile is not lost: {events:?}");
    let (status, told) = serving.asked(&format!("GET /api/v1/sessions/{silent}"), "");
    assert_eq!(status, 200, "what nobody said anything in is there as well: {told}");
}

/// Whether the server has logged something.
fn logged(house: &House, words: &str) -> bool {
    let log = find(&house.path("home"), "log.jsonl").and_then(|log| std::fs::read_to_string(log).ok());
    let lines = log.unwrap_or_default();
    // Whoever writes a line may not be done with it.
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["level"].is_string()).any(|line| line["message"] == words)
}

/// A server at work in a session until it may go on, and a process that wants to take over from it.
fn asked_to_hand_over(house: &House) -> (Serving<'_>, std::process::Child) {
    let serving = Serving::start(house, &[]);
    let id = serving.open();
    serving.tell(&id, json!({ "type": "set_approval", "approval": "auto" }));
    serving.tell(&id, user("run it"));
    begun(house);
    let taking = house.start(&["serve", "take-over"]);
    eventually("it is asked to hand over", || logged(house, "another process wants to take over"));
    (serving, taking)
}

#[test]
fn a_server_that_nobody_takes_over_from_in_the_end_goes_on() {
    let house = House::playing(json!([call("bash", json!({ "command": UNTIL_GO, "timeout": 60 })), say("Done here.")]));
    let (serving, mut taking) = asked_to_hand_over(&house);
    let before = pid(&house);
    let rows = std::fs::read_dir("/proc").unwrap().flatten();
    let is_it = |path: &std::path::Path| {
        let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap_or_default();
        let home = format!("NECO_HOME={}", house.path("home").display());
        read("cmdline").contains("--take-over") && read("environ").contains(&home)
    };
    let successor = rows.map(|row| row.path()).find(|path| is_it(path)).expect("whoever wants to take over");
    let successor: i32 = successor.file_name().unwrap().to_str().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(successor).unwrap(), Signal::KILL).unwrap();
    assert!(!taking.wait().unwrap().success());
    go(&house);
    let (_, listed) = serving.asked("GET /api/v1/sessions", "");
    let id = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    let events = serving.until(&id, "agent_complete");
    assert!(json!(events).to_string().contains("Done here."), "{events:?}");
    assert_eq!(pid(&house), before);
}

#[test]
fn a_server_whose_successor_falls_at_the_last_moment_opens_everything_again() {
    let house = House::playing(json!([call("bash", json!({ "command": UNTIL_GO, "timeout": 60 })), say("Done here.")]));
    let serving = Serving::start(&house, &[]);
    let id = serving.open();
    serving.tell(&id, json!({ "type": "set_approval", "approval": "auto" }));
    serving.tell(&id, user("run it"));
    begun(&house);
    let before = pid(&house);
    let told = find(&house.path("home"), "server.json").unwrap();
    let data = told.parent().and_then(std::path::Path::parent).unwrap();
    let mut successor = UnixStream::connect(data.join("sockets/server.sock")).unwrap();
    eventually("it is asked to hand over", || logged(&house, "another process wants to take over"));
    // It reads its script anew.
    house.script("script.json", json!([say("Done after all.")]));
    go(&house);
    // All has ended for whoever takes over, who is told how much comes, and is gone.
    successor.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    successor.read_exact(&mut [0; 8]).unwrap();
    drop(successor);
    eventually("it goes on", || logged(&house, "no other server takes over: this one goes on"));
    let events = serving.until(&id, "agent_complete");
    assert!(json!(events).to_string().contains("Done after all."), "{events:?}");
    assert_eq!(pid(&house), before);
    house.run(&["serve", "stop"]).ended_with(0);
    house.run(&["serve", "status"]).ended_with(1);
}

#[test]
fn a_server_that_is_stopped_while_it_hands_over_is_stopped() {
    let house = House::playing(json!([call("bash", json!({ "command": UNTIL_GO, "timeout": 60 })), say("Done here.")]));
    let (mut serving, mut taking) = asked_to_hand_over(&house);
    let stopping = house.start(&["serve", "stop"]);
    eventually("it takes nothing new", || house.run(&["serve", "status"]).code == 1);
    go(&house);
    assert!(!taking.wait().unwrap().success(), "nobody took over");
    assert!(stopping.wait_with_output().unwrap().status.success());
    serving.child.take().unwrap().wait().unwrap();
    house.run(&["serve", "status"]).ended_with(1).says("no server runs");
}

#[test]
fn what_waits_for_a_person_waits_in_the_new_one() {
    let write = |name: &str| json!({ "name": "write_file", "arguments": { "path": name, "content": name } });
    let reads = json!({ "name": "list_files", "arguments": { "path": "." } });
    let house = House::playing(json!([{ "calls": [reads, write("a.txt"), write("b.txt")] }, say("Not here.")]));
    let serving = Serving::start(&house, &[]);
    let id = serving.open();
    serving.tell(&id, user("write them"));
    let asked = serving.until(&id, "permission_request");
    let call_id = of_type(&asked, "permission_request")[0]["call_id"].clone();
    house.script("script.json", json!([{ "expect": { "last_tool_contains": "b.txt" }, "say": "Written there." }]));
    house.run(&["serve", "take-over"]).ended_with(0);
    let again = || {
        let events = serving.events(&id);
        let asked = of_type(&events, "permission_request").into_iter().map(|asked| asked["call_id"].clone());
        asked.collect::<Vec<_>>()
    };
    eventually("it is asked again", || again().len() == 2);
    assert_eq!(again()[1], call_id, "about the same call");
    serving.tell(&id, json!({ "type": "approve", "call_id": call_id, "decision": { "kind": "once" } }));
    eventually("the other is asked about", || again().len() == 3);
    serving.tell(&id, json!({ "type": "approve", "call_id": again()[2], "decision": { "kind": "once" } }));
    let events = serving.until(&id, "agent_complete");
    assert!(json!(events).to_string().contains("Written there."), "{events:?}");
    let ends = of_type(&events, "tool_call_end");
    assert!(ends.len() == 3 && ends.iter().all(|end| end["status"] == "success"), "{ends:?}");
    for name in ["a.txt", "b.txt"] {
        assert_eq!(std::fs::read_to_string(house.project().join(name)).unwrap(), name);
    }
}

#[test]
fn a_server_of_an_older_version_is_replaced_by_whoever_needs_one() {
    let house = House::playing(json!([say("Hello.")]));
    let serving = Serving::start(&house, &[]);
    let before = pid(&house);
    let told = house.path("home/run/server.json");
    let told = if told.exists() { told } else { find(&house.path("home"), "server.json").unwrap() };
    let mut found: Value = serde_json::from_str(&std::fs::read_to_string(&told).unwrap()).unwrap();
    found["version"] = json!("0.0.1");
    std::fs::write(&told, found.to_string()).unwrap();
    let ran = house.run(&["-m", "hello", "--background"]).ended_with(0);
    assert!(ran.stderr.contains("takes its place"), "{}", ran.stderr);
    assert_ne!(pid(&house), before);
    serving.until(ran.stdout.trim(), "agent_complete");
    house.run(&["serve", "stop"]).ended_with(0);
    house.run(&["serve", "take-over"]).ended_with(1).says("no server runs");
}

/// A file of this name somewhere below a folder.
fn find(folder: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let entries: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let here = entries.iter().find(|path| path.is_file() && path.file_name().is_some_and(|own| own == name));
    here.cloned().or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find(path, name)))
}

#[test]
fn a_server_serves_the_socket_that_systemd_passes_and_says_when_it_is_ready() {
    let house = House::playing(json!([say("Hello.")]));
    let (listener, notify) = (TcpListener::bind("127.0.0.1:0").unwrap(), house.path("notify"));
    let address = listener.local_addr().unwrap().to_string();
    let told = UnixDatagram::bind(&notify).unwrap();
    told.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let heard = || {
        let mut bytes = [0; 64];
        let count = told.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    };
    let line = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" serve --bind 127.0.0.1:1";
    let mut child = Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_neco")])
        .env_clear()
        .envs(house.variables())
        .env("NOTIFY_SOCKET", &notify)
        .current_dir(house.project())
        .stdin(Stdio::from(OwnedFd::from(listener)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(heard(), "READY=1");
    let serving = Serving::there(&house);
    assert_eq!(serving.url, format!("http://{address}"));
    let id = serving.open();
    serving.tell(&id, user("hello"));
    serving.until(&id, "agent_complete");
    house.run(&["serve", "take-over"]).ended_with(1).says("systemctl --user restart");
    house.run(&["serve", "stop"]).ended_with(0);
    assert_eq!(heard(), "STOPPING=1");
    child.wait().unwrap();
}
