//! `neco mcp login` and `logout`, against an MCP server on this machine that wants a login and gives out the tokens.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{House, Ran, eventually};

/// The token that it takes.
const TOKEN: &str = "access-token-1";

/// The server. It answers until the test is over.
struct LoginServer {
    base: String,
    /// The paths that were asked for, each with what was sent.
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

/// A request as it arrived.
struct Asked {
    method: String,
    target: String,
    token: Option<String>,
    body: String,
}

/// What is answered: the status, one header, and a text.
type Reply = (u16, Option<(&'static str, String)>, String);

impl LoginServer {
    /// One where a code can be typed in, or only a browser can be used.
    fn start(has_codes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<(String, String)>>>::default();
        let (own, seen) = (base.clone(), Arc::clone(&asked));
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let Some(asked) = read(&mut stream) else { continue };
                let reply = answer(&own, has_codes, &asked);
                let path = asked.target.split('?').next().unwrap_or_default().to_owned();
                seen.lock().unwrap().push((path, asked.body));
                write(&mut stream, reply);
            }
        });
        Self { base, asked }
    }

    /// What was sent to a path.
    fn sent(&self, path: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(at, _)| at == path).map(|(_, body)| body.clone()).collect()
    }
}

fn read(stream: &mut TcpStream) -> Option<Asked> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let header = |name: &str| {
                let mut pairs = head.lines().skip(1).filter_map(|line| line.split_once(':'));
                pairs.find_map(|(own, value)| own.eq_ignore_ascii_case(name).then(|| value.trim().to_owned()))
            };
            let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                let mut words = head.split(' ').map(str::to_owned);
                let token = header("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
                return Some(Asked { method: words.next()?, target: words.next()?, token, body: body.to_owned() });
            }
        }
        let length = stream.read(&mut piece).ok().filter(|length| *length > 0)?;
        bytes.extend_from_slice(&piece[..length]);
    }
}

fn write(stream: &mut TcpStream, (status, header, body): Reply) {
    let header = header.map(|(name, value)| format!("{name}: {value}\r\n")).unwrap_or_default();
    let kind = "content-type: application/json\r\nconnection: close\r\n";
    let head = format!("HTTP/1.1 {status} X\r\n{header}{kind}content-length: {}\r\n\r\n", body.len());
    // Who has read enough goes away.
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

fn plain(status: u16, body: &Value) -> Reply {
    (status, None, body.to_string())
}

fn answer(base: &str, has_codes: bool, asked: &Asked) -> Reply {
    let (path, query) = asked.target.split_once('?').unwrap_or((asked.target.as_str(), ""));
    match path {
        "/mcp" => mcp(base, asked),
        "/.well-known/oauth-protected-resource/mcp" => {
            plain(200, &json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] }))
        }
        "/.well-known/oauth-authorization-server" => plain(200, &metadata(base, has_codes)),
        "/register" => {
            let wanted: Value = serde_json::from_str(&asked.body).unwrap();
            plain(201, &json!({ "client_id": "client-1", "redirect_uris": wanted["redirect_uris"] }))
        }
        "/authorize" => {
            let field = |name: &str| {
                let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
                pairs.find_map(|(own, value)| (own == name).then(|| value.to_owned())).unwrap()
            };
            let back = field("redirect_uri").replace("%3A", ":").replace("%2F", "/");
            (302, Some(("location", format!("{back}?code=code-1&state={}", field("state")))), String::new())
        }
        "/device" => {
            let page = format!("{base}/type-it-here");
            plain(
                200,
                &json!({
                    "device_code": "device-1", "user_code": "ABCD-1234", "verification_uri": page, "interval": 0.05,
                }),
            )
        }
        "/token" => plain(
            200,
            &json!({
                "access_token": TOKEN, "refresh_token": "refresh-token-1", "token_type": "Bearer", "expires_in": 3600,
            }),
        ),
        "/revoke" => plain(200, &json!({})),
        _ => plain(404, &json!({})),
    }
}

fn metadata(base: &str, has_codes: bool) -> Value {
    let mut metadata = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "revocation_endpoint": format!("{base}/revoke"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    });
    if has_codes {
        metadata["device_authorization_endpoint"] = json!(format!("{base}/device"));
    }
    metadata
}

/// A server of the older era with one tool, for who shows the token.
fn mcp(base: &str, asked: &Asked) -> Reply {
    if asked.token.as_deref() != Some(TOKEN) {
        let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
        let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"read\"");
        return (401, Some(("www-authenticate", challenge)), String::new());
    }
    if asked.method != "POST" {
        return plain(405, &json!({}));
    }
    let message: Value = serde_json::from_str(&asked.body).unwrap();
    let said = |result: Value| plain(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    match message["method"].as_str() {
        _ if message["id"].is_null() => (202, None, String::new()),
        Some("initialize") => said(json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "fake", "version": "1" },
        })),
        Some("tools/list") => said(json!({
            "tools": [{ "name": "echo", "description": "Says it again.", "inputSchema": { "type": "object" } }],
        })),
        // It does not read what it does not know.
        Some("server/discover") => {
            let error = json!({ "code": -32600, "message": "no session" });
            plain(400, &json!({ "jsonrpc": "2.0", "id": "server-error", "error": error }))
        }
        _ => {
            let error = json!({ "code": -32601, "message": "unknown" });
            plain(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
        }
    }
}

/// A house that has the server in its settings.
fn house(server: &LoginServer) -> House {
    let house = House::empty();
    house.configure(&format!("[mcp_servers.docs]\nurl = \"{}/mcp\"\n", server.base));
    house
}

fn kept(house: &House) -> String {
    fs::read_to_string(house.path("home/keys.toml")).unwrap_or_default()
}

#[test]
fn a_login_with_a_code_is_kept_used_and_taken_back() {
    let server = LoginServer::start(true);
    let house = house(&server);
    house.run(&["mcp", "test", "docs"]).ended_with(1).says("login");
    house.run(&["mcp", "list"]).ended_with(0).says("needs login: `neco mcp login docs`");
    let shown = house.run(&["mcp", "login", "docs", "--no-browser"]).ended_with(0);
    let shown = shown.says("Type  ABCD-1234").says(&format!("{}/type-it-here", server.base));
    let shown = shown.says("logged in; the login of docs is saved in ");
    assert!(!format!("{}{}", shown.stdout, shown.stderr).contains("token-1"), "no token is shown");
    assert!(kept(&house).contains("mcp:docs"), "{}", kept(&house));
    let listed = house.run(&["mcp", "list"]).ended_with(0);
    assert!(!listed.stdout.contains("needs login"), "{}", listed.stdout);
    house.run(&["mcp", "test", "docs"]).ended_with(0).says("echo");
    house.run(&["mcp", "logout", "docs"]).ended_with(0).says("logged out of docs");
    assert!(!kept(&house).contains("mcp:docs"), "{}", kept(&house));
    assert!(server.sent("/revoke").iter().any(|body| body.contains("refresh-token-1")));
    house.run(&["mcp", "logout", "docs"]).ended_with(0).says("there was no login of docs");
    house.run(&["mcp", "test", "docs"]).ended_with(1).says("login");
    house.run(&["mcp", "login", "dosc"]).ended_with(2).says("did you mean docs?");
}

/// The page that a login shows, once it is there; what is printed is read on the way.
fn page(child: &mut Child, base: &str) -> String {
    let mut output = child.stdout.take().unwrap();
    let (mut printed, mut piece) = (String::new(), [0; 1024]);
    loop {
        let length = output.read(&mut piece).unwrap();
        assert!(length > 0, "it ended: {printed}");
        printed.push_str(&String::from_utf8_lossy(&piece[..length]));
        let line = printed.lines().map(str::trim).find(|line| line.starts_with(&format!("{base}/authorize")));
        if let Some(page) = line.filter(|_| printed.contains("Waiting for you")) {
            let page = page.to_owned();
            // It goes on printing.
            std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
            return page;
        }
    }
}

/// Opens a page; where it leads.
fn visit(page: &str) -> Option<String> {
    let (host, path) = page.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let mut lines = answer.lines().filter_map(|line| line.split_once(": "));
    lines.find_map(|(name, value)| name.eq_ignore_ascii_case("location").then(|| value.to_owned()))
}

#[test]
fn a_login_in_a_browser_comes_back_and_one_that_is_left_changes_nothing() {
    let server = LoginServer::start(false);
    let house = house(&server);
    let mut left = house.start(&["mcp", "login", "docs", "--no-browser"]);
    page(&mut left, &server.base);
    kill_process(Pid::from_child(&left), Signal::TERM).unwrap();
    assert_eq!(left.wait().unwrap().code(), Some(143));
    assert!(!kept(&house).contains("mcp:docs"));

    let mut login = house.start(&["mcp", "login", "docs", "--no-browser"]);
    let back = visit(&page(&mut login, &server.base)).unwrap();
    assert_eq!(visit(&back), None);
    eventually("it is over", || login.try_wait().unwrap().is_some());
    assert!(login.wait().unwrap().success());
    assert!(kept(&house).contains("mcp:docs"), "{}", kept(&house));
    Ran::of(&mut house.neco(&["mcp", "test", "docs"])).ended_with(0).says("echo");
}
