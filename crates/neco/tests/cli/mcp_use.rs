//! Prompts and resources of an MCP server in a single request and in the lines of `neco repl`.

use std::fs;
use std::io::{BufRead, BufReader, Read};

use serde_json::{Value, json};

use crate::support::{House, Ran, call, say};

/// A server of the older versions, with one tool, one prompt and one resource.
pub const SERVER: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\)[,}].*/\1/p')
  [ -n "$id" ] || continue
  case $line in
    *'"method":"initialize"'*)
      answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"prompts":{},"resources":{},"tools":{}},"serverInfo":{"name":"docs","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer '"result":{"tools":[{"name":"count","description":"Counts.","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"prompts/list"'*)
      answer '"result":{"prompts":[{"name":"greet","description":"Greets somebody.","arguments":[{"name":"who","required":true}]}]}' ;;
    *'"method":"prompts/get"'*)
      who=$(printf '%s' "$line" | sed -n 's/.*"who":"\([^"]*\)".*/\1/p')
      answer '"result":{"messages":[{"role":"user","content":{"type":"text","text":"Greet '"$who"' warmly."}}]}' ;;
    *'"method":"resources/list"'*)
      answer '"result":{"resources":[{"uri":"doc://start","name":"start"}]}' ;;
    *'"method":"resources/read"'*doc://start*)
      touch "$0.read"
      answer '"result":{"contents":[{"uri":"doc://start","text":"Begin here."}]}' ;;
    *'"method":"tools/call"'*)
      touch "$0.called"
      answer '"result":{"content":[{"type":"text","text":"1"}]}' ;;
    *) answer '"error":{"code":-32601,"message":"Method not found"}' ;;
  esac
done
"#;

/// A house whose model plays `turns`, with the server in its settings. The file `server.sh.read` is there once the
/// resource was read.
pub fn house(turns: Value) -> House {
    let house = House::playing(turns);
    let (server, config) = (house.path("server.sh"), house.path("home/config.toml"));
    fs::write(&server, SERVER).unwrap();
    let settings = fs::read_to_string(&config).unwrap();
    let server = format!("[mcp_servers.docs]\ncommand = \"sh\"\nargs = [\"{}\"]\nsandbox = false\n", server.display());
    house.configure(&format!("{settings}{server}"));
    house
}

fn greets() -> Value {
    json!([{ "expect": { "last_user_contains": "Greet Ann warmly." }, "say": "Hello Ann." }])
}

#[test]
fn a_prompt_of_a_server_is_a_request() {
    let house = house(greets());
    house.run(&["-m", "/mcp__docs__greet Ann"]).ended_with(0).says("Hello Ann.");
    house.run(&["session", "show", "--json"]).ended_with(0).says("That is a prompt of an MCP server.");
    house.run(&["-m", "/docs:greet who=Ann"]).ended_with(0).says("Hello Ann.");
    house.run(&["-m", "/docs:greet"]).ended_with(2).says("/mcp__docs__greet needs who: /mcp__docs__greet who");
    let gone = house.run(&["-m", "/docs:gret Ann"]);
    assert_ne!(gone.code, 0);
    gone.says("did you mean /mcp__docs__greet?");
    house.run(&["-m", "/nobody:greet Ann"]).ended_with(2).says("There is no /nobody:greet");
}

#[test]
fn a_resource_of_a_server_goes_with_a_request() {
    let house = house(json!([{ "expect": { "last_user_contains": "Begin here." }, "say": "Begun." }]));
    let ran = house.run(&["-m", "read @docs:doc://start and @docs:doc://none"]).ended_with(0).says("Begun.");
    ran.says("Resource docs:doc://none is only named");
    assert!(house.path("server.sh.read").exists());
}

#[test]
fn a_changed_tool_is_refused_where_nobody_can_be_asked_and_what_to_do_is_said() {
    let house = house(json!([call("mcp__docs__count", json!({})), say("It was refused.")]));
    house.run(&["mcp", "test", "docs"]).ended_with(0);
    fs::write(house.path("server.sh"), SERVER.replace("Counts.", "Counts, and obeys.")).unwrap();
    let run = || house.run(&["-m", "count", "--allow", "mcp__docs__*"]).ended_with(3);
    // First it shows as the server is started for the call, then it is known before.
    run().says("`neco` and `neco repl` ask about it");
    run().says("a person must decide, in `neco` or `neco repl`");
    // What it said first needs nobody's word, whatever was kept of it.
    fs::write(house.path("server.sh"), SERVER).unwrap();
    let ran = house.run(&["-m", "count", "--allow", "mcp__docs__*"]).ended_with(0).says("It was refused.");
    assert!(!ran.stderr.contains("neco repl"), "{}", ran.stderr);
    assert!(house.path("server.sh.called").exists(), "the call reached the server");
}

#[test]
fn tools_of_a_server_are_named_like_others_and_one_of_no_server_is_told() {
    let house = house(json!([{ "say": "Done." }]));
    let ran = house.run(&["-m", "x", "--tools", "read_file,mcp__docs__*,nosuch__x"]).ended_with(0).says("Done.");
    ran.says("There is no nosuch__x in this run: no MCP server nosuch is in use here");
    house.run(&["-m", "x", "--tools", "read_fiel,mcp__docs__*"]).ended_with(2).says("did you mean read_file");
}

#[test]
fn what_would_be_sent_has_the_tools_of_servers_once_they_are_known() {
    let house = house(greets());
    house.run(&["prompt", "show"]).ended_with(0).says("MCP servers: docs; their tools are not shown");
    house.run(&["mcp", "test", "docs"]).ended_with(0);
    let shown = house.run(&["prompt", "show"]).ended_with(0).says("=== tool mcp__docs__count");
    shown.says("1 of them from the MCP server docs: ");
    let only = house.run(&["prompt", "show", "--tools", "read_file,docs__*"]).ended_with(0);
    let only = only.says("=== tool mcp__docs__count");
    assert!(!only.stdout.contains("=== tool bash"), "{}", only.stdout);
}

#[test]
fn a_prompt_of_a_server_is_a_line() {
    let house = house(greets());
    let mut repl = house.neco(&["repl"]);
    let ran = Ran::of(repl.write_stdin("/mcp__docs__greet\n/docs:greet Ann\n/help\n/exit\n")).ended_with(0);
    ran.says("needs who").says("Hello Ann.").says("/mcp__docs__greet who: Greets somebody. (MCP docs)");
}

/// Whoever waits for a server is told for which, before it has come or was given up; that it can't be reached is told once,
/// and again when something else is wrong.
#[test]
fn a_single_request_says_which_server_it_waits_for_and_goes_on_without_it() {
    let house = House::playing(json!([say("Hello.")]));
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    let with = |servers: &str| house.configure(&format!("{config}{servers}"));
    with(
        "[mcp_servers.slow]\ncommand = \"sleep\"\nargs = [\"40.0931\"]\nstartup_timeout = 3\n\
          [mcp_servers.gone]\ncommand = \"no-such-server\"\n",
    );
    let mut child = house.start(&["-m", "hi"]);
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("Waiting for the MCP server slow, for at most 20 s") {
        assert!(errors.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(!told.contains("Can't connect"), "it is told while it is waited for: {told}");
    let mut rest = String::new();
    errors.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"Hello.\n");
    for missing in ["Can't connect to the MCP server slow", "Can't connect to the MCP server gone"] {
        assert!(rest.contains(missing), "{rest}");
    }
    let again = house.run(&["-m", "hi"]).ended_with(0);
    assert!(!again.stderr.contains("Can't connect"), "it was told: {}", again.stderr);
    with("[mcp_servers.gone]\ncommand = \"another-such-server\"\n");
    let changed = house.run(&["-m", "hi"]).ended_with(0).says("Can't connect to the MCP server gone");
    assert!(!changed.stderr.contains("Waiting for"), "nobody waited: {}", changed.stderr);
}
