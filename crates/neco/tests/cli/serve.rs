//! The server: sessions that outlive windows, over HTTP and for other processes of the command line.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::attach::{begun, go};
use crate::support::{House, call, eventually, lives, say};

/// A server in a house, until the test ends.
pub struct Serving<'a> {
    pub house: &'a House,
    pub child: Option<Child>,
    pub url: String,
    pub token: String,
}

impl<'a> Serving<'a> {
    pub fn start(house: &'a House, flags: &[&str]) -> Self {
        let child = house.start(&[&["serve", "--bind", "127.0.0.1:0"], flags].concat());
        let mut serving = Self::there(house);
        serving.child = Some(child);
        serving
    }

    /// One that was started by something else.
    pub fn there(house: &'a House) -> Self {
        let mut url = String::new();
        eventually("the server listens", || {
            let status = house.run(&["serve", "status", "--json"]);
            url = status
                .stdout
                .parse::<Value>()
                .ok()
                .and_then(|found| Some(found["url"].as_str()?.to_owned()))
                .unwrap_or_default();
            status.code == 0
        });
        let token = house.run(&["serve", "token"]).ended_with(0).stdout.trim().to_owned();
        Self { house, child: None, url, token }
    }

    /// A request, and what came back.
    pub fn asked(&self, line: &str, body: &str) -> (u16, Value) {
        let told = self.raw(line, "", body);
        let status = told.split(' ').nth(1).unwrap().parse().unwrap();
        let body = told.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {told}")))
    }

    /// What comes back of a request until the connection is closed.
    fn raw(&self, line: &str, headers: &str, body: &str) -> String {
        let host = self.url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             {headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut told = String::new();
        stream.read_to_string(&mut told).unwrap();
        told
    }

    /// A request, and the items that came back one by one.
    pub fn streamed(&self, line: &str, body: &str) -> Vec<Value> {
        let told = self.raw(line, "Accept: text/event-stream\r\n", body);
        told.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
    }

    pub fn done(&self, line: &str, body: Value) -> Value {
        let (status, told) = self.asked(line, &body.to_string());
        assert!((200..300).contains(&status), "{line}: {status} {told}");
        told
    }

    pub fn open(&self) -> String {
        let wanted = json!({ "folder": self.house.project(), "attended": true });
        self.done("POST /api/v1/sessions", wanted)["id"].as_str().unwrap().to_owned()
    }

    pub fn tell(&self, id: &str, command: Value) -> Value {
        self.done(&format!("POST /api/v1/sessions/{id}/commands"), command)
    }

    pub fn events(&self, id: &str) -> Vec<Value> {
        let (status, told) = self.asked(&format!("GET /api/v1/sessions/{id}/events"), "");
        assert_eq!(status, 200, "{told}");
        told["events"].as_array().unwrap().clone()
    }

    /// Waits for an event of a type.
    pub fn until(&self, id: &str, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        eventually(kind, || {
            events = self.events(id);
            events.iter().any(|event| event["type"] == kind)
        });
        events
    }
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        let stopped = self.house.run(&["serve", "stop"]);
        if let Some(mut child) = self.child.take() {
            if stopped.code != 0 {
                let _ = child.kill();
            }
            let _ = child.wait();
        }
    }
}

pub fn user(words: &str) -> Value {
    json!({ "type": "user_message", "content": words })
}

#[test]
fn a_session_works_in_the_server_and_every_way_in_sees_the_same() {
    let house = House::playing(json!([say("Hello from afar."), say("And again.")]));
    let serving = Serving::start(&house, &[]);
    let second = house.run(&["serve", "--bind", "127.0.0.1:0"]).ended_with(1);
    second.says("is the server already").says(&serving.url);
    let id = serving.open();
    serving.tell(&id, user("hello"));
    let events = serving.until(&id, "agent_complete");
    assert!(events.iter().enumerate().all(|(at, event)| event["seq"] == at as u64 + 1), "a gap: {events:?}");
    let log = house.run(&["session", "log", &id, "--json"]).ended_with(0);
    let mut logged = log.events();
    logged.truncate(events.len());
    assert_eq!(logged, events, "what is streamed is what is logged");
    let afar = |arguments: &[&str]| {
        let mut command = house.neco(&[&["--server", &serving.url], arguments].concat());
        crate::support::Ran::of(&mut command)
    };
    afar(&["session", "list"]).ended_with(0).says("(open)");
    let listed = afar(&["session", "list", "--json"]).ended_with(0).json();
    assert_eq!(listed[0]["id"], json!(id));
    let again = afar(&["-m", "more", "--session", &id, "--output-format", "json"]).ended_with(0).json();
    assert_eq!(again["result"], "And again.");
    afar(&["session", "show", &id]).ended_with(0).says("Hello from afar.").says("And again.");
    house.run(&["serve", "stop"]).ended_with(0);
    house.run(&["serve", "status"]).ended_with(1).says("no server runs");
    house.run(&["session", "show", &id]).ended_with(0).says("And again.");
}

#[test]
fn work_in_the_background_goes_on_and_waits_for_a_person() {
    let write = call("write_file", json!({ "path": "a.txt", "content": "hello" }));
    let house = House::playing(json!([write, say("Written.")]));
    let id = house.run(&["-m", "write it", "--background"]).ended_with(0).stdout.trim().to_owned();
    let serving = Serving::there(&house);
    let follows = house.start(&["logs", "-f", &id]);
    let asked = serving.until(&id, "permission_request");
    let row = || house.run(&["ps", "--json"]).ended_with(0).json()[0].clone();
    eventually("it waits", || row()["asks"] == true);
    house.run(&["ps"]).ended_with(0).says("waits for you");
    let asked = asked.iter().find(|event| event["type"] == "permission_request").unwrap();
    serving.tell(&id, json!({ "type": "approve", "call_id": asked["call_id"], "decision": { "kind": "once" } }));
    serving.until(&id, "agent_complete");
    assert_eq!(std::fs::read_to_string(house.project().join("a.txt")).unwrap(), "hello");
    house.run(&["logs", &id]).ended_with(0).says("Written.");
    // It shows what happens until the session is closed.
    serving.done(&format!("POST /api/v1/sessions/{id}/close"), json!({}));
    let followed = follows.wait_with_output().unwrap();
    let printed = String::from_utf8(followed.stdout).unwrap();
    assert!(followed.status.success() && printed.contains("Written."), "{printed}");
}

#[test]
fn what_waits_for_a_person_is_not_given_up_when_the_server_is_stopped() {
    let write = call("write_file", json!({ "path": "a.txt", "content": "hello" }));
    let house = House::playing(json!([write.clone(), write, say("Written.")]));
    let id = house.run(&["-m", "write it", "--background"]).ended_with(0).stdout.trim().to_owned();
    let serving = Serving::there(&house);
    serving.until(&id, "permission_request");
    house.run(&["serve", "stop"]).ended_with(0).says("neco ps");
    house.run(&["ps"]).ended_with(0).says("write it").says("interrupted");
    house.run(&["-m", "go on", "--session", &id, "--yes"]).ended_with(0).says("Written.");
    assert_eq!(std::fs::read_to_string(house.project().join("a.txt")).unwrap(), "hello");
    house.run(&["ps"]).ended_with(0).says("nothing works");
}

#[test]
fn a_command_line_of_the_person_runs_where_a_session_works() {
    let house = House::playing(json!([say("Never said.")]));
    std::fs::write(house.project().join("a.txt"), "mine").unwrap();
    std::fs::create_dir(house.project().join("sub")).unwrap();
    let serving = Serving::start(&house, &[]);
    let id = serving.open();
    let run = |command: &str| serving.done("POST /api/v1/shell", json!({ "session": id, "command": command }));
    let ran = run("cat a.txt; cd sub; exit 3");
    assert_eq!((&ran["output"], &ran["end"]["code"]), (&json!("mine"), &json!(3)), "{ran}");
    assert!(ran["end"]["folder"].as_str().unwrap().ends_with("/sub"), "{ran}");
    assert!(run("pwd")["output"].as_str().unwrap().trim_end().ends_with("/sub"), "a cd holds");
    let body = json!({ "session": id, "command": "echo one; sleep 0.3; echo two" }).to_string();
    let told = serving.streamed("POST /api/v1/shell", &body);
    let printed: String = told.iter().filter_map(|item| item["text"].as_str()).collect();
    let ended = told.iter().find(|item| item["type"] == "ended").unwrap();
    assert_eq!((printed.as_str(), &ended["code"]), ("one\ntwo\n", &json!(0)), "{told:?}");
    let elsewhere = json!({ "session": neco_proto::SessionId::new(), "command": "true" });
    assert_eq!(serving.asked("POST /api/v1/shell", &elsewhere.to_string()).0, 409);
    let steerer = house.run(&["serve", "token", "--name", "tablet", "--scope", "steer"]).ended_with(0).stdout;
    let steering = Serving { house: &house, child: None, url: serving.url.clone(), token: steerer.trim().to_owned() };
    let request = json!({ "session": id, "command": "true" }).to_string();
    eventually("the token is known", || steering.asked("POST /api/v1/shell", &request).0 == 403);
}

#[test]
fn what_works_in_the_background_is_stopped() {
    let first = call("bash", json!({ "command": crate::attach::UNTIL_GO, "timeout": 60 }));
    let house = House::playing(json!([first, say("Never said.")]));
    let id = house.run(&["-m", "wait", "--background", "--yes"]).ended_with(0).stdout.trim().to_owned();
    let serving = Serving::there(&house);
    begun(&house);
    house.run(&["stop", &id[..8]]).ended_with(0).says("Stopped");
    eventually("it ended", || serving.events(&id).iter().any(|event| event["type"] == "tool_call_end"));
    go(&house);
    assert!(!serving.events(&id).iter().any(|event| event.to_string().contains("Never said")));
}

#[test]
fn a_server_that_was_killed_loses_nothing_that_it_acknowledged_and_leaves_no_process() {
    const SESSIONS: usize = 20;
    let first = call("bash", json!({ "command": "mktemp begun-XXXXXXXX; sleep 73317", "timeout": 600 }));
    let house = House::playing(json!([first, say("Done after all.")]));
    let mut serving = Serving::start(&house, &[]);
    let words = |number: usize| format!("drive carefully to number {number}");
    let ids: Vec<String> = (0..SESSIONS).map(|_| serving.open()).collect();
    let at_work = || {
        let names = std::fs::read_dir(house.project()).unwrap().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with("begun-")).count()
    };
    for (number, id) in ids.iter().enumerate() {
        serving.tell(id, json!({ "type": "set_approval", "approval": "auto" }));
        serving.tell(id, user(&words(number)));
        eventually("one more is at work", || at_work() == number + 1);
    }
    let child = serving.child.take().unwrap();
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait_with_output().unwrap();
    eventually("nothing that they began lives", || !lives("73317"));
    house.run(&["serve", "status"]).ended_with(1);
    // What it left behind is no server.
    drop(serving);
    let rows = house.run(&["ps", "--json"]).ended_with(0).json();
    assert_eq!(
        rows.as_array().unwrap().len(),
        SESSIONS,
        "work that a crash cut short is told without a server: {rows}"
    );
    let serving = Serving::start(&house, &[]);
    let interrupted = || {
        let rows = house.run(&["ps", "--json"]).ended_with(0).json();
        let rest = rows.as_array().unwrap().iter().filter(|row| row["state"] == "open" && row["work"] == "paused");
        rest.count()
    };
    eventually("all are back, and nobody has told them to go on", || interrupted() == SESSIONS);
    house.run(&["ps"]).ended_with(0).says("interrupted").says("neco resume ID goes on");
    for (number, id) in ids.iter().enumerate() {
        let events = serving.events(id);
        assert!(events.iter().any(|event| event.to_string().contains(&words(number))), "{events:?}");
        assert!(events.iter().enumerate().all(|(at, event)| event["seq"] == at as u64 + 1), "a gap: {events:?}");
    }
}

#[test]
fn a_session_that_comes_back_after_a_crash_may_no_more_than_it_was_opened_with() {
    let waits = call("bash", json!({ "command": crate::attach::UNTIL_GO, "timeout": 60 }));
    let house = House::playing(json!([waits, say("Done.")]));
    let config = std::fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("approval = \"auto\"\n{config}"));
    let mut serving = Serving::start(&house, &[]);
    let wanted = json!({
        "folder": house.project(), "attended": true, "approval": "auto", "given": { "deny": ["write_file"] },
        "max_turns": 9, "environment": { "DRIVER": "careful", "PATH": std::env::var("PATH").unwrap() },
    });
    let id = serving.done("POST /api/v1/sessions", wanted)["id"].as_str().unwrap().to_owned();
    serving.tell(&id, user("wait for it"));
    begun(&house);
    // Said after it was opened, and kept as well.
    serving.tell(&id, json!({ "type": "set_approval", "approval": "manual" }));
    let child = serving.child.take().unwrap();
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait_with_output().unwrap();
    drop(serving);
    let write = json!({ "name": "write_file", "arguments": { "path": "a.txt", "content": "x" } });
    let tells = json!({ "name": "bash", "arguments": { "command": "echo \"the driver is $DRIVER\"", "timeout": 20 } });
    house.script("script.json", json!([{ "calls": [write, tells] }, say("Done.")]));
    let serving = Serving::start(&house, &[]);
    let snapshot = || serving.asked(&format!("GET /api/v1/sessions/{id}"), "").1;
    eventually("it is back", || snapshot()["approval"] == "manual");
    serving.tell(&id, user("write it"));
    let asked = || {
        let events = serving.events(&id);
        let of = |kind: &str| events.iter().rfind(|event| event["type"] == kind).cloned();
        (of("permission_request"), of("tool_call_end"), events)
    };
    eventually("it asks, as the settings would not have it", || asked().0.is_some());
    let (request, ..) = asked();
    let request = request.unwrap();
    assert_eq!(request["tool"], "bash", "what is denied is not asked about: {request}");
    serving.tell(&id, json!({ "type": "approve", "call_id": request["call_id"], "decision": { "kind": "once" } }));
    let events = serving.until(&id, "agent_complete");
    assert!(json!(events).to_string().contains("the driver is careful"), "{events:?}");
    assert!(!house.project().join("a.txt").exists());
}

#[test]
fn a_server_goes_on_without_its_terminal_and_writes_down_what_it_does() {
    let house = House::playing(json!([say("Hello.")]));
    let url = house.run(&["serve", "--detach", "--bind", "127.0.0.1:0"]).ended_with(0).stdout.trim().to_owned();
    let serving = Serving::there(&house);
    assert_eq!(serving.url, url);
    house.run(&["serve", "--detach"]).ended_with(1).says("is the server already");
    serving.tell(&serving.open(), user("hello"));
    let log = find(&house.path("home"), "log.jsonl").expect("a log that nobody asked for");
    let lines = std::fs::read_to_string(log).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!((&lines[0]["message"], &lines[0]["level"]), (&json!("neco starts"), &json!("info")), "{lines:?}");
    assert!(lines[0]["at"].is_string() && lines[0]["pid"].is_u64() && lines[0]["room"].is_string(), "{lines:?}");
}

#[test]
fn of_two_who_decide_about_one_call_one_is_taken() {
    let write = call("write_file", json!({ "path": "a.txt", "content": "hello" }));
    let house = House::playing(json!([write, say("Written.")]));
    let serving = Serving::start(&house, &[]);
    let id = serving.open();
    serving.tell(&id, user("write it"));
    let asked = serving.until(&id, "permission_request");
    let asked = asked.iter().find(|event| event["type"] == "permission_request").unwrap();
    let body = |kind: &str| {
        json!({ "type": "approve", "call_id": asked["call_id"], "decision": { "kind": kind } }).to_string()
    };
    let line = format!("POST /api/v1/sessions/{id}/commands");
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| serving.asked(&line, &body("once")).0)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 202).count(), 1, "{statuses:?}");
    let events = serving.until(&id, "agent_complete");
    assert_eq!(events.iter().filter(|event| event["type"] == "permission_decision").count(), 1, "{events:?}");
    assert_eq!(std::fs::read_to_string(house.project().join("a.txt")).unwrap(), "hello");
}

#[test]
fn a_command_of_a_session_reaches_neither_the_token_nor_the_port() {
    let house = House::playing(json!([say("x")]));
    let serving = Serving::start(&house, &["--sandbox", "full"]);
    let address = serving.url.trim_start_matches("http://").to_owned();
    let (host, port) = address.split_once(':').unwrap();
    let knock = format!(
        "exec 3<>/dev/tcp/{host}/{port}; printf 'GET /health/live HTTP/1.1\\r\\nHost: {address}\\r\\nConnection: close\\r\\n\\r\\n' >&3; echo \"heard: $(cat <&3 | head -c 400)\""
    );
    let outside = std::process::Command::new("bash").args(["-c", &knock]).output().unwrap();
    assert!(String::from_utf8_lossy(&outside.stdout).contains("200 OK"), "whoever else knocks is heard");
    let knocks = call("bash", json!({ "command": knock, "timeout": 20 }));
    let token = find(&house.path("home"), "token").expect("the token is somewhere");
    let reads = call("read_file", json!({ "path": token }));
    house.script("script.json", json!([knocks, reads, say("Done.")]));
    let id = serving.open();
    serving.tell(&id, json!({ "type": "set_approval", "approval": "auto" }));
    serving.tell(&id, user("knock"));
    let mut answered = Vec::<String>::new();
    let mut events = Vec::new();
    eventually("it is done", || {
        events = serving.events(&id);
        for event in events.iter().filter(|event| event["type"] == "permission_request") {
            let call_id = event["call_id"].as_str().unwrap().to_owned();
            if !answered.contains(&call_id) {
                let decision = match answered.is_empty() {
                    true => json!({ "kind": "once" }),
                    false => json!({ "kind": "reject", "reason": null }),
                };
                serving.tell(&id, json!({ "type": "approve", "call_id": call_id, "decision": decision }));
                answered.push(call_id);
            }
        }
        events.iter().any(|event| event["type"] == "agent_complete")
    });
    let told = json!(events).to_string();
    assert!(told.contains("heard:") && !told.contains("200 OK"), "{told}");
    assert!(!told.contains(&serving.token), "the token was told");
}

#[test]
fn nobody_gets_the_tokens_of_a_server_by_a_yes() {
    let house = House::playing(json!([say("x")]));
    let serving = Serving::start(&house, &["--sandbox", "full"]);
    let token = find(&house.path("home"), "token").expect("the token is somewhere");
    let run = token.parent().unwrap();
    std::os::unix::fs::symlink(run, house.project().join("innocent")).unwrap();
    std::fs::hard_link(&token, house.project().join("notes.txt")).unwrap();
    let written = json!({ "path": run.join("tokens.json"), "content": "[]" });
    house.script(
        "script.json",
        json!([
            call("read_file", json!({ "path": token })),
            call("read_file", json!({ "path": "innocent/token" })),
            call("read_file", json!({ "path": "notes.txt" })),
            call("grep", json!({ "pattern": "neco_", "path": "." })),
            call("write_file", written),
            call("bash", json!({ "command": format!("cat {}", token.display()), "timeout": 20 })),
            call("bash", json!({ "command": format!("cp -r {} stolen", run.display()), "timeout": 20 })),
            say("Done."),
        ]),
    );
    // The folder above the data folder is open, as the person may have wished.
    let wanted = json!({ "folder": house.project(), "attended": true, "given": { "add_dir": [house.path("home")] } });
    let id = serving.done("POST /api/v1/sessions", wanted)["id"].as_str().unwrap().to_owned();
    serving.tell(&id, user("steal"));
    let mut answered = Vec::<String>::new();
    let mut events = Vec::new();
    eventually("it is done", || {
        events = serving.events(&id);
        for event in events.iter().filter(|event| event["type"] == "permission_request") {
            let call_id = event["call_id"].as_str().unwrap().to_owned();
            if !answered.contains(&call_id) {
                serving.tell(&id, json!({ "type": "approve", "call_id": call_id, "decision": { "kind": "once" } }));
                answered.push(call_id);
            }
        }
        events.iter().any(|event| event["type"] == "agent_complete")
    });
    let ends: Vec<&Value> = events.iter().filter(|event| event["type"] == "tool_call_end").collect();
    assert_eq!(ends.len(), 7, "{ends:?}");
    assert!(ends.iter().all(|end| end["status"] == "error" || end["tool"] == "grep"), "{ends:?}");
    let told = json!(events).to_string();
    assert!(!told.contains(&serving.token), "the token was told");
    assert!(!house.project().join("stolen").exists());
    assert!(serving.asked("GET /api/v1/sessions", "").0 == 200, "the token is what it was");
}

#[test]
fn whoever_may_only_read_looks_where_sessions_work_and_nowhere_else() {
    let house = House::playing(json!([say("x")]));
    let mut serving = Serving::start(&house, &[]);
    serving.open();
    std::fs::write(house.project().join("seen.txt"), "x").unwrap();
    let reader = house.run(&["serve", "token", "--name", "phone", "--scope", "read"]).ended_with(0);
    let person = std::mem::replace(&mut serving.token, reader.stdout.trim().to_owned());
    let list = |folder: &std::path::Path| format!("GET /api/v1/files?folder={}", folder.display());
    eventually("the new token is good", || serving.asked("GET /api/v1/sessions", "").0 == 200);
    let (status, told) = serving.asked(&list(&house.project()), "");
    assert!(status == 200 && told.to_string().contains("seen.txt"), "{status} {told}");
    for line in [list(&house.path("home")), list("/etc".as_ref()), "GET /api/v1/settings?folder=/etc".to_owned()] {
        let (status, told) = serving.asked(&line, "");
        assert!(status == 403 && told["detail"].as_str().unwrap().contains("no session works in"), "{line}: {told}");
    }
    let file = house.project().join("keys.toml");
    let name = file.display().to_string().replace('/', "%2F");
    let (status, told) =
        serving.asked(&format!("GET /api/v1/workflows/{name}?folder={}", house.project().display()), "");
    assert_eq!(status, 403, "a file by its path: {told}");
    serving.token = person;
    assert_eq!(serving.asked(&list("/etc".as_ref()), "").0, 200);
}

#[test]
fn a_command_that_only_this_machine_can_do_says_so_where_a_server_is_named() {
    let house = House::empty();
    for arguments in [&["doctor"][..], &["config", "edit"], &["workflow", "run", "x"], &["login", "openai"], &["demo"]]
    {
        let told = house.run(&[&["--server", "http://127.0.0.1:9"], arguments].concat()).ended_with(2);
        told.says("is about this machine").says("Leave --server out");
    }
    let token = ("NECO_SERVER_TOKEN", "x");
    let mut asked = house.neco(&["--server", "http://127.0.0.1:9", "model", "test"]);
    crate::support::Ran::of(asked.env(token.0, token.1)).ended_with(1).says("no server listens at");
    let mut noted = house.neco(&["completions", "bash"]);
    assert!(!crate::support::Ran::of(noted.env("NECO_SERVER", "http://127.0.0.1:9")).stderr.contains("this machine"));
    let mut noted = house.neco(&["doctor"]);
    crate::support::Ran::of(noted.env("NECO_SERVER", "http://127.0.0.1:9")).says("NECO_SERVER does not count for it");
}

/// A file of this name somewhere below a folder.
fn find(folder: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let entries: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let here = entries.iter().find(|path| path.is_file() && path.file_name().is_some_and(|own| own == name));
    here.cloned().or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find(path, name)))
}

#[test]
fn the_description_of_the_api_has_every_call_of_the_program() {
    let house = House::empty();
    let serving = Serving::start(&house, &[]);
    let (status, told) = serving.asked("GET /api/v1/openapi.json", "");
    assert_eq!(status, 200);
    let paths = told["paths"].as_object().unwrap();
    let operations = paths.values().flat_map(|path| path.as_object().unwrap().values());
    let names: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    for route in neco_app::app::ROUTES {
        let found = &paths[route.path];
        assert!(found.as_object().unwrap().values().any(|told| told["operationId"] == route.name), "{route:?}");
    }
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "a name that two operations have");
    let text = told.to_string();
    for name in text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(told["components"]["schemas"].get(name).is_some(), "{name} is not defined");
    }
    let (status, listed) = serving.asked("GET /api/v1/settings?folder=%2Ftmp", "");
    assert!(status == 200 && listed.is_object(), "{status} {listed}");
}

#[test]
fn a_server_beyond_this_machine_needs_somebody_who_does_tls() {
    let house = House::empty();
    house.run(&["serve", "--bind", "0.0.0.0:0"]).ended_with(2).says("not encrypted").says("--behind-proxy");
    house.run(&["--server", "http://127.0.0.1:9", "session", "list"]).ended_with(2).says("NECO_SERVER_TOKEN");
    house.run(&["--server", "http://192.0.2.1:9", "session", "list"]).ended_with(2).says("ssh -L");
    house.run(&["ps"]).ended_with(0).says("nothing works in the background");
}
