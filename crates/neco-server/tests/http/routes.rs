//! What can be asked: the same as in process, once, by whoever may.

use std::time::Duration;

use futures::StreamExt;
use neco_proto::app::opening::{OpenSession, WhichSession};
use neco_proto::app::sessions::ListSessions;
use neco_proto::app::{App, Caller, Scope};
use neco_proto::event::PermissionRequest;
use neco_proto::{Actor, Answer, ApprovalMode, Command, Query, QuestionId};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::stage::Stage;

const SAY: &str = r#"{"type":"steer","text":"turn left"}"#;

#[tokio::test]
async fn a_session_is_opened_told_asked_and_paged() {
    let stage = Stage::new().await;
    let opened = stage.json("POST /api/v1/sessions", r#"{"which":"new","folder":"/project"}"#).await;
    assert_eq!(
        (opened["id"].as_str().unwrap(), &opened["folder"]),
        (&*stage.session.id.to_string(), &json!("/project"))
    );
    assert_eq!(stage.asked("POST /api/v1/sessions", &[], "").await.0, 400, "in which folder?");
    let line = format!("POST {}", stage.path("/commands"));
    let taken = stage.json(&line, SAY).await;
    assert_eq!(taken["seq"], 0);
    stage.session.babble(4);
    let shown = stage.json(&format!("GET {}", stage.path("")), "").await;
    assert_eq!(shown["last_seq"], 5);
    let asked = stage.json(&format!("POST {}", stage.path("/queries")), r#"{"type":"snapshot"}"#).await;
    assert_eq!(asked["last_seq"], 5);
    let page = stage.json(&format!("GET {}", stage.path("/events?since=1&limit=3")), "").await;
    let seqs: Vec<u64> =
        page["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!((seqs, &page["next"], &page["more"]), (vec![2, 3, 4], &json!(4), &json!(true)));
    let (actor, command) = stage.session.commands.lock().unwrap()[0].clone();
    assert_eq!((actor, command), (Actor::Person, Command::Steer { text: "turn left".to_owned() }));
}

#[tokio::test]
async fn the_page_stands_at_all_its_addresses_and_the_api_at_none_of_them() {
    let stage = Stage::new().await;
    let pages = [
        "/",
        "/login",
        "/s/1/changes?file=a.rs",
        "/sessions?q=x",
        "/tasks",
        "/tasks/7",
        "/workflows",
        "/workflows/7",
        "/usage",
        "/settings",
        "/settings/models",
    ];
    for address in pages {
        let asked = format!("GET {address} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", stage.address);
        let answer = stage.raw(asked.as_bytes()).await;
        let policy = answer.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap_or_default();
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("<html>"), "{address}: {answer}");
        for rule in ["worker-src 'self'", "require-trusted-types-for 'script'; trusted-types neco", "'nonce-"] {
            assert!(policy.contains(rule), "{address}: {policy}");
        }
    }
    for address in ["/tasksheet", "/usage/7", "/api/v1/sessions", "/api/v1/usage"] {
        assert_eq!(stage.asked_as(&format!("GET {address}"), &[], "").await.0, 401, "{address}");
    }
}

#[tokio::test]
async fn calls_take_their_arguments_from_path_query_and_body() {
    let stage = Stage::new().await;
    let listed = stage.json("GET /api/v1/sessions?limit=3&states=true&folder=%2Fa%20b", "").await;
    assert_eq!(listed["more"], 7);
    let forked = stage.json("POST /api/v1/sessions/12345678/fork", r#"{"folder":"/x","session":"other"}"#).await;
    assert_eq!(forked["arguments"], json!({ "folder": "/x", "session": "12345678" }));
    let bytes = stage.json(&format!("GET {}", stage.path("/events/7/bytes?part=0&start=3&end=9")), "").await;
    assert!(bytes["total"].as_u64().unwrap() > 9);
    let (status, told) = stage.asked("GET /api/v1/sessions?limit=many", &[], "").await;
    assert_eq!(status, 400);
    let problem: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&problem["status"], &problem["type"]), (&json!(400), &json!("urn:neco:invalid")), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("sessions.list"), "{problem}");
}

#[tokio::test]
async fn a_write_with_a_key_is_done_once() {
    let stage = Stage::new().await;
    let line = format!("POST {}", stage.path("/commands"));
    let key = ["Idempotency-Key: one"];
    let first = stage.asked(&line, &key, SAY).await;
    assert_eq!(first.0, 202);
    assert_eq!(stage.asked(&line, &key, SAY).await, first);
    assert_eq!(stage.session.commands.lock().unwrap().len(), 1);
    let (status, told) = stage.asked(&line, &key, r#"{"type":"steer","text":"right"}"#).await;
    assert_eq!(status, 422, "{told}");
    assert_eq!(stage.asked(&line, &["Idempotency-Key: two"], SAY).await.0, 202);
    assert_eq!(stage.session.commands.lock().unwrap().len(), 2);
    let busy = stage.session.busy.lock().await;
    let (slow, second) = (["Idempotency-Key: three"], async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let answer = stage.asked(&line, &["Idempotency-Key: three"], SAY).await;
        drop(busy);
        answer
    });
    let (first, second) = tokio::join!(stage.asked(&line, &slow, SAY), second);
    assert_eq!((first.0, second.0), (202, 409));
}

#[tokio::test]
async fn a_write_is_done_although_whoever_asked_is_gone() {
    let stage = Stage::new().await;
    stage.json("POST /api/v1/sessions", r#"{"folder":"/project"}"#).await;
    let busy = stage.session.busy.lock().await;
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{SAY}",
        stage.path("/commands"),
        stage.address,
        stage.token,
        SAY.len(),
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let metrics = async || stage.asked("GET /metrics", &[], "").await.1;
    while !metrics().await.contains("\nneco_commands_total 1\n") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(stream);
    // The server has one connection less when it has seen that.
    while !metrics().await.contains("\nneco_http_connections 1\n") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(busy);
    while stage.session.commands.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_token_may_what_it_was_made_for() {
    let stage = Stage::new().await;
    stage.json("POST /api/v1/sessions", r#"{"folder":"/project"}"#).await;
    let token = stage.named("phone", Scope::Read).await;
    let reader = format!("Authorization: Bearer {token}");
    let commands = format!("POST {}", stage.path("/commands"));
    assert_eq!(stage.asked_as(&commands, &[&reader], SAY).await.0, 403);
    assert_eq!(stage.asked_as(&format!("GET {}", stage.path("/events")), &[&reader], "").await.0, 200);
    assert_eq!(stage.asked_as("POST /api/v1/auth/link", &[&reader], "").await.0, 403);
    assert_eq!(stage.asked_as(&format!("POST {}", stage.path("/close")), &[&reader], "").await.0, 403);
    assert_eq!(stage.asked_as("POST /mcp?folder=/project", &[&reader], "{}").await.0, 403);
    let steerer = format!("Authorization: Bearer {}", stage.named("tablet", Scope::Work).await);
    assert_eq!(stage.asked_as(&commands, &[&steerer], SAY).await.0, 202);
    let loosens = r#"{"type":"set_approval","approval":"auto"}"#;
    assert_eq!(stage.asked_as(&commands, &[&steerer], loosens).await.0, 403);
    let tablet = Actor::Device { name: "tablet".to_owned() };
    assert_eq!(stage.session.commands.lock().unwrap().last().unwrap().0, tablet, "it speaks for itself");
    assert_eq!(stage.asked_as(&format!("POST {}", stage.path("/close")), &[&steerer], "").await.0, 200);
    let noted = |file: &str| std::fs::read_to_string(stage.folder.path().join(file)).unwrap();
    let (done, refused) = (noted("audit.jsonl"), noted("audit.refused.jsonl"));
    assert!(done.contains(r#""does":"sessions.close""#) && !done.contains(r#""name":"phone""#), "{done}");
    for does in ["sessions.close", "steer", "auth.link", "mcp"] {
        assert!(refused.contains(&format!(r#""does":"{does}""#)), "{does}: {refused}");
    }
}

#[tokio::test]
async fn the_person_alone_makes_and_removes_tokens_and_reads_what_was_done() {
    let stage = Stage::new().await;
    let made = stage.json("POST /api/v1/tokens", r#"{"name":"phone","scope":"manage"}"#).await;
    let phone = format!("Authorization: Bearer {}", made["token"].as_str().unwrap());
    assert_eq!(stage.asked("POST /api/v1/tokens", &[], r#"{"name":" ","scope":"read"}"#).await.0, 400);
    let listed = stage.json("GET /api/v1/tokens", "").await;
    assert_eq!(listed, json!({ "tokens": [{ "name": "phone", "scope": "manage" }] }));
    let reader = format!("Authorization: Bearer {}", stage.named("tablet", Scope::Read).await);
    assert_eq!(stage.asked_as("GET /api/v1/tokens", &[&reader], "").await.0, 403);
    assert_eq!(stage.asked_as("GET /api/v1/audit", &[&reader], "").await.0, 403);
    assert_eq!(stage.asked_as("GET /api/v1/tokens", &[&phone], "").await.0, 200);
    let more = r#"{"name":"mine","scope":"manage"}"#;
    assert_eq!(stage.asked_as("POST /api/v1/tokens", &[&phone], more).await.0, 403, "nobody outlives their token");
    assert_eq!(stage.asked_as("DELETE /api/v1/tokens/tablet", &[&phone], "").await.0, 403);
    stage.json("DELETE /api/v1/tokens/tablet", "").await;
    assert_eq!(stage.asked("DELETE /api/v1/tokens/tablet", &[], "").await.0, 404);
    let did = |page: &Value| -> Vec<String> {
        let lines = page["lines"].as_array().unwrap().iter();
        lines.map(|line| format!("{} {}", line["does"], line["token"])).collect()
    };
    let first = stage.json("GET /api/v1/audit?limit=1", "").await;
    assert_eq!(did(&first), [r#""tokens.remove" "tablet""#], "{first}");
    let next = first["next"].as_str().unwrap();
    let second = stage.json(&format!("GET /api/v1/audit?limit=1&cursor={next}"), "").await;
    assert_eq!(
        (&second["lines"][0]["by"]["name"], &second["lines"][0]["does"]),
        (&json!("phone"), &json!("tokens.remove"))
    );
    assert!(second["lines"][0]["refused"].is_string(), "{second}");
    assert_eq!(stage.asked("GET /api/v1/audit?cursor=x", &[], "").await.0, 400);
}

#[tokio::test]
async fn whoever_may_steer_gets_no_more_than_that_by_saying_yes() {
    let stage = Stage::new().await;
    stage.json("POST /api/v1/sessions", r#"{"folder":"/project"}"#).await;
    let asked = |call_id: &str, more: Value| {
        let mut asked =
            json!({ "call_id": call_id, "tool": "bash", "summary": "x", "args": {}, "risk": "high", "reason": "" });
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value::<PermissionRequest>(asked).unwrap()
    };
    *stage.session.pending.lock().unwrap() = vec![
        asked("boxed", json!({ "sandboxed": true })),
        asked("unboxed", json!({ "sandboxed": false })),
        asked("sensitive", json!({ "risk": "critical", "tool": "write_file" })),
        asked("file", json!({ "risk": "medium", "tool": "write_file" })),
    ];
    let tablet = format!("Authorization: Bearer {}", stage.named("tablet", Scope::Work).await);
    let commands = format!("POST {}", stage.path("/commands"));
    let approve = |call_id: &str, kind: &str| {
        json!({ "type": "approve", "call_id": call_id, "decision": { "kind": kind } }).to_string()
    };
    let edit = json!({ "type": "approve", "call_id": "unboxed", "decision": { "kind": "edit", "arguments": {} } });
    let set = |approval: &str| json!({ "type": "set_approval", "approval": approval }).to_string();
    let plan = |approval: &str| {
        let reply = json!({ "kind": "accept_plan", "approval": approval });
        json!({ "type": "answer", "question_id": QuestionId::new(), "reply": reply }).to_string()
    };
    *stage.session.approval.lock().unwrap() = ApprovalMode::Manual;
    for (what, body, expected) in [
        ("a command in the sandbox", approve("boxed", "once"), 202),
        ("the same for the session", approve("boxed", "session"), 202),
        ("the same for good", approve("boxed", "always"), 403),
        ("a command that nothing holds", approve("unboxed", "once"), 403),
        ("the same in other words", edit.to_string(), 403),
        ("what is sensitive", approve("sensitive", "once"), 403),
        ("a no to it", approve("sensitive", "reject"), 202),
        ("a file of the folder", approve("file", "once"), 202),
        ("what does not wait yet", approve("later", "once"), 400),
        ("from manual to less", set("ask_first"), 403),
        ("as it is", set("manual"), 202),
        ("a plan, and less is asked", plan("ask_first"), 403),
        ("a plan", plan("manual"), 202),
    ] {
        let (status, told) = stage.asked_as(&commands, &[&tablet], &body).await;
        assert_eq!(status, expected, "{what}: {told}");
    }
    *stage.session.approval.lock().unwrap() = ApprovalMode::Auto;
    assert_eq!(stage.asked_as(&commands, &[&tablet], &set("ask_first")).await.0, 202, "asking more is for everybody");
    assert_eq!(stage.asked(&commands, &[], &approve("sensitive", "once")).await.0, 202, "the person says yes");
    let audit = std::fs::read_to_string(stage.folder.path().join("audit.jsonl")).unwrap();
    let lines: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let refused = lines.iter().find(|line| line["by"]["name"] == "tablet" && line["refused"].is_string()).unwrap();
    assert_eq!((&refused["does"], &refused["session"]), (&json!("approve"), &json!(stage.session.id)), "{refused}");
    assert!(lines.iter().any(|line| line["does"] == "sessions.open" && line["scope"] == "manage"), "{audit}");
}

#[tokio::test]
async fn a_field_that_nobody_knows_is_refused_and_named() {
    let stage = Stage::new().await;
    let path = |rest: &str| stage.path(rest);
    for (line, body, name) in [
        ("GET /api/v1/sessions?limt=3".to_owned(), "", "limt"),
        ("POST /api/v1/sessions".to_owned(), r#"{"folder":"/project","aproval":"auto"}"#, "aproval"),
        ("POST /api/v1/sessions?folder=/project".to_owned(), r#"{"folder":"/project"}"#, "folder"),
        ("POST /api/v1/sessions/12345678/fork".to_owned(), r#"{"folder":"/x","sesion":"other"}"#, "sesion"),
        (format!("POST {}", path("/commands")), r#"{"type":"steer","text":"left","urgent":true}"#, "urgent"),
        (format!("POST {}", path("/queries")), r#"{"type":"snapshot","deep":true}"#, "deep"),
        (format!("GET {}", path("/events?from=1")), "", "from"),
        (format!("GET {}", path("?since=1")), "", "since"),
    ] {
        let (status, told) = stage.asked(&line, &[], body).await;
        let is_named = [format!("field {name} "), format!("no {name};")].iter().any(|words| told.contains(words));
        assert!(status == 400 && is_named, "{line}: {status} {told}");
    }
    assert!(stage.session.commands.lock().unwrap().is_empty());
}

#[tokio::test]
async fn events_stream_from_where_a_reader_was() {
    let stage = Stage::new().await;
    stage.session.babble(3);
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\nLast-Event-ID: 1\r\n\r\n",
        stage.path("/events"),
        stage.address,
        stage.token,
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut told = String::new();
    let mut until = async |words: &str| {
        let mut piece = [0; 4096];
        while !told.contains(words) {
            let read = stream.read(&mut piece).await.unwrap();
            assert!(read > 0, "{words:?} never came: {told}");
            told.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        }
        told.clone()
    };
    let told = until("id: 3").await;
    assert!(told.contains("text/event-stream") && !told.contains("id: 1\n"), "{told}");
    stage.session.babble(1);
    until("id: 4").await;
    stage.stop.cancel();
    let told = until("event: cut").await;
    assert!(told.contains(r#"{"since":4"#), "{told}");
}

#[tokio::test]
async fn the_program_of_a_server_is_a_program_like_any_other() {
    let stage = Stage::new().await;
    let server = stage.window().await;
    let (app, person): (&dyn App, _) = (&server, Caller::person());
    assert_eq!(app.ask(&person, &ListSessions::default()).await.unwrap().more, 7);
    let items: Vec<_> = app.watch(&person, &ListSessions::default()).collect().await;
    assert_eq!(items.len(), 4, "three that are no rows, and the end: {items:?}");
    let wanted = OpenSession { which: WhichSession::New, folder: "/project".to_owned(), ..OpenSession::default() };
    let opened = app.open(&person, wanted).await.unwrap();
    assert_eq!((opened.id, opened.folder.as_str(), opened.owner), (stage.session.id, "/project", None));
    opened.client.send(Command::Steer { text: "left".to_owned() }).await.unwrap();
    let Answer::Snapshot(snapshot) = opened.client.ask(Query::Snapshot).await.unwrap() else { panic!() };
    assert_eq!(snapshot.last_seq, 1);
    let mut events = opened.client.events(0);
    assert_eq!(events.next().await.unwrap().unwrap(), stage.session.log()[0]);
    stage.stop.cancel();
    stage.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn health_and_numbers_are_told() {
    let stage = Stage::new().await;
    assert_eq!(stage.asked_as("GET /health/live", &[], "").await, (200, "ok\n".to_owned()));
    assert_eq!(stage.asked_as("GET /health/ready", &[], "").await.0, 200);
    stage.json("POST /api/v1/sessions", r#"{"folder":"/project"}"#).await;
    let (status, told) = stage.asked("GET /metrics", &[], "").await;
    assert_eq!(status, 200);
    assert!(told.contains("\nneco_sessions 1\n"), "{told}");
}

#[tokio::test]
async fn the_description_has_every_route_and_refers_to_nothing_that_is_missing() {
    let stage = Stage::new().await;
    let told = stage.json("GET /api/v1/openapi.json", "").await;
    assert_eq!(told["openapi"], "3.1.0");
    for (path, verb) in [
        ("/sessions", "get"),
        ("/sessions", "post"),
        ("/sessions/{session}/fork", "post"),
        ("/sessions/{session}/commands", "post"),
        ("/sessions/{session}/events", "get"),
    ] {
        assert!(told["paths"][path][verb]["operationId"].is_string(), "{verb} {path}");
    }
    let of_list = told["paths"]["/sessions"]["get"]["parameters"].as_array().unwrap();
    for name in ["folder", "since", "limit", "cursor", "states", "sizes"] {
        assert!(of_list.iter().any(|one| one["name"] == name && one["in"] == "query"), "{name}: {of_list:?}");
    }
    let of_events = told["paths"]["/sessions/{session}/events"]["get"]["parameters"].as_array().unwrap();
    let names: Vec<&str> = of_events.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["session", "since", "limit", "Last-Event-ID"]);
    assert!(told["paths"]["/ws"]["get"]["responses"]["101"].is_object());
    let text = told.to_string();
    let named = text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
    for name in named {
        assert!(told["components"]["schemas"].get(name).is_some(), "{name} is not defined");
    }
}
