//! Who means harm is refused, each in its own way.

use std::time::{Duration, Instant};

use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, Caller, Scope};
use neco_server::http::access::remove_token;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::stage::Stage;

fn status(told: &str) -> u16 {
    told.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

#[tokio::test]
async fn a_table_of_hostile_requests() {
    let stage = Stage::new().await;
    let (host, token) = (format!("Host: {}\r\n", stage.address), format!("Authorization: Bearer {}\r\n", stage.token));
    let close = "Connection: close\r\n\r\n";
    let list = "GET /api/v1/sessions HTTP/1.1\r\n";
    let say = format!("POST {} HTTP/1.1\r\n", stage.path("/commands"));
    let json = "Content-Type: application/json\r\n";
    let socket = "GET /api/v1/ws HTTP/1.1\r\n";
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let long = format!("X-Long: {}\r\n", "a".repeat(20_000));
    let many: String = (0..100).map(|number| format!("X-{number}: a\r\n")).collect();
    let wrong = format!("Authorization: Bearer neco_{}\r\n", "0".repeat(64));
    let cases: &[(&str, String, &[u16])] = &[
        ("no token", format!("{list}{host}{close}"), &[401]),
        ("a wrong token", format!("{list}{host}{wrong}{close}"), &[401]),
        ("an empty token", format!("{list}{host}Authorization: Bearer \r\n{close}"), &[401]),
        ("two tokens", format!("{list}{host}{token}{wrong}{close}"), &[401]),
        (
            "the token in the path",
            format!("GET /api/v1/sessions?token={} HTTP/1.1\r\n{host}{close}", stage.token),
            &[401],
        ),
        ("a name that was made to lead here", format!("{list}Host: evil.example\r\n{token}{close}"), &[421]),
        ("the right address, another port", format!("{list}Host: 127.0.0.1:1\r\n{token}{close}"), &[421]),
        ("no name", format!("{list}{token}{close}"), &[400, 421]),
        ("two names", format!("{list}{host}Host: evil.example\r\n{token}{close}"), &[400, 421]),
        (
            "another name in the first line",
            format!("GET http://evil.example/api/v1/sessions HTTP/1.1\r\n{host}{token}{close}"),
            &[421],
        ),
        ("a page of another server", format!("{list}{host}{token}Origin: http://evil.example\r\n{close}"), &[403]),
        ("a page of another port", format!("{list}{host}{token}Origin: http://127.0.0.1:1\r\n{close}"), &[403]),
        (
            "a page whose address begins like ours",
            format!("{list}{host}{token}Origin: http://{}.evil.example\r\n{close}", stage.address),
            &[403],
        ),
        (
            "a page whose address names ours as a user",
            format!("{list}{host}{token}Origin: http://{}@evil.example\r\n{close}", stage.address),
            &[403],
        ),
        ("our address as a user of it", format!("{list}Host: me@{}\r\n{token}{close}", stage.address), &[400, 421]),
        ("a name with its dot", format!("{list}Host: localhost.:{}\r\n{token}{close}", stage.address.port()), &[421]),
        ("a way to another server", format!("CONNECT evil.example:80 HTTP/1.1\r\n{host}{token}{close}"), &[400, 421]),
        ("a page without a home", format!("{list}{host}{token}Origin: null\r\n{close}"), &[403]),
        ("a page of another site", format!("{list}{host}{token}Sec-Fetch-Site: cross-site\r\n{close}"), &[403]),
        ("a page of the same site", format!("{list}{host}{token}Sec-Fetch-Site: same-site\r\n{close}"), &[403]),
        (
            "asking what is allowed to others",
            format!(
                "OPTIONS /api/v1/sessions HTTP/1.1\r\n{host}Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n{close}"
            ),
            &[403],
        ),
        (
            "a form",
            format!(
                "{say}{host}{token}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n{close}a=b"
            ),
            &[415],
        ),
        (
            "text that is JSON",
            format!("{say}{host}{token}Content-Type: text/plain\r\nContent-Length: 2\r\n{close}{{}}"),
            &[415],
        ),
        (
            "two lengths",
            format!("{say}{host}{token}{json}Content-Length: 2\r\nContent-Length: 3\r\n{close}{{}}x"),
            &[400],
        ),
        (
            "a length and pieces",
            format!("{say}{host}{token}{json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n{close}0\r\n\r\n"),
            &[400],
        ),
        (
            "pieces by another name",
            format!("{say}{host}{token}{json}Transfer-Encoding: xchunked\r\n{close}{{}}"),
            &[400],
        ),
        ("a length that is a list", format!("{say}{host}{token}{json}Content-Length: 2, 2\r\n{close}{{}}"), &[400]),
        ("a length in other digits", format!("{say}{host}{token}{json}Content-Length: 0x2\r\n{close}{{}}"), &[400]),
        (
            "a request behind a body",
            format!("{say}{host}{token}{json}Content-Length: 2\r\n{close}{{}}{list}{host}{token}\r\n"),
            &[400],
        ),
        (
            "a piece longer than there are numbers",
            format!("{say}{host}{token}{json}Transfer-Encoding: chunked\r\n{close}FFFFFFFFFFFFFFFFF\r\n"),
            &[400, 413],
        ),
        ("a header with a NUL", format!("{list}{host}{token}X-A: a\0b\r\n{close}"), &[400]),
        ("a header with a line of its own", format!("{list}{host}{token}X-A: a\rX-B: b\r\n{close}"), &[400]),
        ("a length with a sign", format!("{say}{host}{token}{json}Content-Length: +2\r\n{close}{{}}"), &[400]),
        (
            "a header with a space before its colon",
            format!("{list}{host}{token}Transfer-Encoding : chunked\r\n{close}"),
            &[400],
        ),
        ("a folded header", format!("{list}{host}{token}X-A: a\r\n b\r\n{close}"), &[400]),
        ("a head that is too long", format!("{list}{host}{token}{long}{close}"), &[431]),
        ("too many headers", format!("{list}{host}{token}{many}{close}"), &[431]),
        (
            "a body that is said to be too long",
            format!("{say}{host}{token}{json}Content-Length: 99999999999\r\n{close}"),
            &[413],
        ),
        (
            "a code that is no code but a book, from nobody",
            format!(
                "POST /api/v1/auth/exchange HTTP/1.1\r\n{host}Origin: {}\r\n{json}Content-Length: 5000\r\n{close}{}",
                stage.url(),
                "a".repeat(5000)
            ),
            &[413],
        ),
        ("up and away", format!("GET /api/v1/../../etc/passwd HTTP/1.1\r\n{host}{token}{close}"), &[404]),
        (
            "the same in other letters",
            format!("GET /api/v1/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n{host}{token}{close}"),
            &[404],
        ),
        ("two strokes", format!("GET //api/v1/sessions HTTP/1.1\r\n{host}{token}{close}"), &[404]),
        ("another way of writing", format!("GET /API/V1/sessions HTTP/1.1\r\n{host}{token}{close}"), &[404]),
        (
            "a session that is no id",
            format!("GET /api/v1/sessions/..%2f..%2fetc/events HTTP/1.1\r\n{host}{token}{close}"),
            &[400, 404],
        ),
        ("a session with a NUL", format!("GET /api/v1/sessions/%00 HTTP/1.1\r\n{host}{token}{close}"), &[400, 404]),
        ("strokes the other way", format!("GET /api/v1/..\\..\\etc HTTP/1.1\r\n{host}{token}{close}"), &[400, 404]),
        ("a name and a password", format!("{list}{host}Authorization: Basic bmVjbzpuZWNv\r\n{close}"), &[401]),
        ("a WebSocket that is posted", format!("POST /api/v1/ws HTTP/1.1\r\n{host}{token}{close}"), &[405]),
        ("a verb that is not there", format!("DELETE /api/v1/ws HTTP/1.1\r\n{host}{token}{close}"), &[405]),
        ("a WebSocket without a token", format!("{socket}{host}{upgrade}"), &[401]),
        (
            "a WebSocket with a made-up cookie",
            format!(
                "{socket}{host}Cookie: neco_{}=00\r\nSec-WebSocket-Protocol: neco.v1, neco.tab.00\r\n{upgrade}",
                stage.address.port()
            ),
            &[401, 429],
        ),
        (
            "a WebSocket from a page of another server",
            format!("{socket}{host}{token}Origin: http://evil.example\r\n{upgrade}"),
            &[403],
        ),
        ("a WebSocket that is none", format!("{socket}{host}{token}{close}"), &[426]),
        ("a WebSocket of another version", format!("{socket}{host}{token}{}", upgrade.replace("13", "8")), &[400]),
        ("no HTTP at all", "hello\r\n\r\n".to_owned(), &[400]),
        ("a greeting in TLS", "\u{16}\u{3}\u{1}\u{0}\u{a5}\u{1}\r\n\r\n".to_owned(), &[400]),
    ];
    for (what, request, expected) in cases {
        let told = stage.raw(request.as_bytes()).await;
        assert!(expected.contains(&status(&told)), "{what}: {told:?}");
        assert!(!told.contains("access-control-allow"), "{what}: {told}");
        assert_eq!(told.matches("HTTP/1.1 ").count(), 1, "{what}: one request has one answer: {told}");
        assert!(!told.contains(&stage.token), "{what}");
    }
    assert!(stage.session.commands.lock().unwrap().is_empty());
    assert_eq!(stage.asked("GET /api/v1/sessions", &[], "").await.0, 200, "whoever means well is served");
}

#[tokio::test]
async fn a_body_that_turns_out_too_long_is_refused() {
    let stage = Stage::new().await;
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        stage.path("/commands"),
        stage.address,
        stage.token
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let piece = format!("100000\r\n{}\r\n", "a".repeat(1024 * 1024));
    for _ in 0..12 {
        if stream.write_all(piece.as_bytes()).await.is_err() {
            break;
        }
    }
    let mut told = vec![0; 64];
    let read = stream.read(&mut told).await.unwrap_or_default();
    assert_eq!(status(&String::from_utf8_lossy(&told[..read])), 413);
}

#[tokio::test]
async fn whoever_says_its_head_slowly_is_cut_off() {
    let stage = Stage::new().await;
    let begun = Instant::now();
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    let mut told = Vec::new();
    let ended = async {
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            if stream.write_all(b"X: a\r\n").await.is_err() {
                return;
            }
            let mut piece = [0; 512];
            match tokio::time::timeout(Duration::from_millis(10), stream.read(&mut piece)).await {
                Ok(Ok(0) | Err(_)) => return,
                Ok(Ok(read)) => told.extend_from_slice(&piece[..read]),
                Err(_) => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("it goes on for ever");
    assert!(begun.elapsed() >= Duration::from_secs(5), "nobody is that slow: {}", String::from_utf8_lossy(&told));
}

#[tokio::test]
async fn too_many_wrong_tokens_are_not_even_looked_at() {
    let stage = Stage::new().await;
    let wrong = format!("Authorization: Bearer neco_{}", "0".repeat(64));
    let mut seen = Vec::new();
    for _ in 0..14 {
        seen.push(stage.asked_as("GET /api/v1/sessions", &[&wrong], "").await.0);
    }
    assert_eq!((seen[0], seen.last()), (401, Some(&429)), "{seen:?}");
    assert_eq!(stage.asked("GET /api/v1/sessions", &[], "").await.0, 200, "the right one goes on");
}

/// A browser that came by a link: its cookie and the token of its tab.
async fn browser(stage: &Stage) -> (String, String, String) {
    let link = stage.json("POST /api/v1/auth/link", "").await["url"].as_str().unwrap().to_owned();
    let code = link.split("#code=").nth(1).unwrap().to_owned();
    let origin = format!("Origin: {}", stage.url());
    let body = format!("{{\"code\":\"{code}\"}}");
    let request = format!(
        "POST /api/v1/auth/exchange HTTP/1.1\r\nHost: {}\r\n{origin}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        stage.address,
        body.len()
    );
    let told = stage.raw(request.as_bytes()).await;
    assert_eq!(status(&told), 200, "{told}");
    let cookie = told.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    for word in ["HttpOnly", "SameSite=Strict"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    let body: Value = serde_json::from_str(told.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    (cookie, body["tab"].as_str().unwrap().to_owned(), code)
}

#[tokio::test]
async fn a_browser_needs_its_cookie_and_its_tab() {
    let stage = Stage::new().await;
    let (cookie, tab, code) = browser(&stage).await;
    let origin = format!("Origin: {}", stage.url());
    let header = format!("X-Neco-Tab: {tab}");
    let list = "GET /api/v1/sessions";
    assert_eq!(stage.asked_as(list, &[&cookie, &header], "").await.0, 200);
    assert_eq!(stage.asked_as(list, &[&cookie], "").await.0, 401, "a cookie alone: a forged form, another port");
    assert_eq!(stage.asked_as(list, &[&header], "").await.0, 401, "a tab alone");
    let forged = "Origin: http://evil.example";
    assert_eq!(stage.asked_as(list, &[&cookie, &header, forged], "").await.0, 403, "a page of another server has both");
    let posted = format!("POST {}", stage.path("/commands"));
    let steer = r#"{"type":"steer","text":"left"}"#;
    assert_eq!(stage.asked_as(&posted, &[&cookie, &header, forged], steer).await.0, 403, "a forged order");
    assert!(stage.session.commands.lock().unwrap().is_empty());
    let again = stage.asked_as("POST /api/v1/auth/exchange", &[&origin], &format!("{{\"code\":\"{code}\"}}")).await;
    assert_eq!(again.0, 401, "a stolen link was used: {}", again.1);
    for body in ["", "{}"] {
        let (status, told) = stage.asked_as("POST /api/v1/auth/tab", &[&cookie, &origin], body).await;
        assert!(status == 401 && !told.contains("\"tab\""), "a cookie gets nobody the other secret: {told}");
    }
    assert_eq!(stage.asked_as("POST /api/v1/auth/logout", &[&cookie, &header, &origin], "").await.0, 200);
    assert_eq!(stage.asked_as(list, &[&cookie, &header], "").await.0, 401);
}

#[tokio::test]
async fn wrong_codes_keep_nobody_from_signing_in() {
    let stage = Stage::new().await;
    let origin = format!("Origin: {}", stage.url());
    let mut seen = Vec::new();
    for _ in 0..14 {
        let told = stage.asked_as("POST /api/v1/auth/exchange", &[&origin], r#"{"code":"neco_wrong"}"#).await;
        seen.push(told.0);
    }
    assert_eq!((seen[0], seen.last()), (401, Some(&429)), "{seen:?}");
    browser(&stage).await;
}

#[tokio::test]
async fn a_browser_opens_a_websocket_with_both_and_not_with_one() {
    let stage = Stage::new().await;
    let (cookie, tab, _) = browser(&stage).await;
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let ask = async |more: &str| {
        let request = format!(
            "GET /api/v1/ws HTTP/1.1\r\nHost: {}\r\nOrigin: {}\r\n{upgrade}{more}\r\n",
            stage.address,
            stage.url()
        );
        let mut stream = TcpStream::connect(stage.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut told = [0; 2048];
        let read = stream.read(&mut told).await.unwrap();
        String::from_utf8_lossy(&told[..read]).into_owned()
    };
    let protocol = format!("Sec-WebSocket-Protocol: neco.v1, neco.tab.{tab}\r\n");
    let told = ask(&format!("{cookie}\r\n{protocol}")).await;
    assert_eq!(status(&told), 101, "{told}");
    assert!(told.contains("sec-websocket-protocol: neco.v1\r\n") && !told.contains(&tab), "{told}");
    let forged = ask(&format!("Origin: http://evil.example\r\n{cookie}\r\n{protocol}")).await;
    assert_eq!(status(&forged), 403, "a second origin counts, too: {forged}");
    assert_eq!(status(&ask(&protocol).await), 401);
    assert_eq!(status(&ask(&format!("{cookie}\r\n")).await), 401);
}

#[tokio::test]
async fn a_websocket_is_a_connection_as_long_as_it_is_open() {
    let stage = Stage::new().await;
    let request = format!(
        "GET /api/v1/ws HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        stage.address, stage.token
    );
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut told = [0; 1024];
    let read = stream.read(&mut told).await.unwrap();
    assert_eq!(status(&String::from_utf8_lossy(&told[..read])), 101);
    // Only one that is taken for ended already would not be there after a moment.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (_, told) = stage.asked("GET /metrics", &[], "").await;
    assert!(told.contains("\nneco_http_connections 2\n"), "{told}");
}

#[tokio::test]
async fn what_was_opened_with_a_token_ends_when_that_is_removed() {
    let stage = Stage::new().await;
    let token = stage.named("phone", Scope::Work).await;
    let line = format!("GET {}", stage.path("/events"));
    let bearer = format!("Authorization: Bearer {token}");
    let headers = [bearer.as_str(), "Accept: text/event-stream"];
    let removed = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(remove_token(stage.folder.path(), Some("phone")).unwrap());
    };
    let begun = Instant::now();
    let ((status, told), ()) = tokio::join!(stage.asked_as(&line, &headers, ""), removed);
    assert_eq!(status, 200, "{told}");
    assert!(begun.elapsed() < Duration::from_secs(15), "it went on: {told}");
    assert_eq!(stage.asked_as("GET /api/v1/sessions", &[&bearer], "").await.0, 401);
}

#[tokio::test]
async fn a_wrong_token_opens_no_window_and_a_reader_none_of_a_session() {
    let stage = Stage::new().await;
    assert!(neco_server::http::connect(&stage.url(), "neco_wrong").await.is_err());
    let app = stage.window().await;
    let opened = app
        .open(&Caller::person(), OpenSession { folder: "/project".to_owned(), ..OpenSession::default() })
        .await
        .unwrap();
    assert!(opened.client.send(neco_proto::Command::Shutdown).await.is_err(), "only the server ends sessions");
}
