//! What is edited is taken up at the next turn, or at once.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use neco_app::shared::SharedApp;
use neco_app::workspace::keys;
use neco_proto::app::rules::AddRule;
use neco_proto::app::{App, Caller};
use neco_proto::event::{CallStatus, RewindWhat};
use neco_proto::{Answer, Client, Command, ErrorCode, Event, EventBody, Query};
use neco_safety::Trust;
use serde_json::json;

use super::stage::{Stage, call, ends, said, status, warnings};

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_taken_up_at_the_next_turn() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let stage = Stage::new(&json!([read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }]));
    let one = stage.project("one", &[("notes.txt", "x\n"), ("AGENTS.md", "Say alpha.\n")]);
    let mut open = stage.open(&one, "", false).await;
    assert_eq!(status(&open.ask("one").await), CallStatus::Success);
    let before = open.prompt().await;
    assert!(before.contains("Say alpha.") && !before.contains("- helper:"), "{before}");

    // The hook edits the rules file while the second message is worked on: the turn after the call is told of it.
    let asked = "[[hooks.UserPromptSubmit]]\ncommand = \"true\"\n";
    let edits = "[[hooks.PostToolUse]]\nmatcher = \"read_file\"\ncommand = \"echo Say gamma. > AGENTS.md\"\n";
    stage.configure(&format!("{asked}{edits}"));
    stage.project(
        "one",
        &[
            ("AGENTS.md", "Say beta.\n"),
            (".neco/agents/helper.md", "---\nname: helper\ndescription: helps\n---\nHelp.\n"),
        ],
    );
    let second = open.ask("two").await;
    assert_eq!(status(&second), CallStatus::Success);
    let hooks = second.iter().filter(|event| matches!(event.body, EventBody::HookRun(_))).count();
    assert_eq!(hooks, 2, "the hooks that are new run, also the one that is asked about the message");
    let after = open.prompt().await;
    assert!(after.contains("Say gamma.") && !after.contains("Say alpha.") && after.contains("- helper:"), "{after}");

    stage.project("home/policy", &[("mine.toml", "[[rule]]\ntool = 'read_file'\ndecision = 'deny'\n")]);
    assert_ne!(status(&open.ask("three").await), CallStatus::Success, "the rule holds");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_the_person_outlives_a_rewind() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let stage = Stage::new(&json!([read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }]));
    let one = stage.project("one", &[("notes.txt", "x\n"), ("AGENTS.md", "Say alpha.\n")]);
    let mut open = stage.open(&one, "", false).await;
    let first = open.ask("one").await;
    assert_eq!(status(&first), CallStatus::Success);

    // Rules that were taken up before the way back, and files that are the person's own.
    stage.project("one", &[("AGENTS.md", "Say beta.\n"), ("notes.txt", "mine\n"), ("kept.txt", "mine too\n")]);
    stage.project("home/policy", &[("mine.toml", "[[rule]]\ntool = 'read_file'\ndecision = 'deny'\n")]);
    assert_ne!(status(&open.ask("two").await), CallStatus::Success, "the rule holds");
    let message_id = first.iter().find_map(|event| match &event.body {
        EventBody::Message(message) if message.text() == "one" => Some(message.id),
        _ => None,
    });
    let message_id = message_id.unwrap();
    let preview = open.session.ask(Query::RewindPreview { message_id, what: RewindWhat::Conversation }).await;
    assert!(matches!(preview, Ok(Answer::RewindPreview(_))), "{preview:?}");
    open.session.send(Command::Rewind { message_id, what: RewindWhat::Conversation }).await.unwrap();

    assert!(open.prompt().await.contains("Say beta."), "what was taken up stays taken up");
    assert_ne!(status(&open.ask("three").await), CallStatus::Success, "the rule holds on");
    for (file, content) in [("AGENTS.md", "Say beta.\n"), ("notes.txt", "mine\n"), ("kept.txt", "mine too\n")] {
        assert_eq!(fs::read_to_string(one.join(file)).unwrap(), content);
    }
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_edit_keeps_what_there_was_and_says_so_once() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let turns =
        json!([read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }, { "say": "Four." }]);
    let stage = Stage::new(&turns);
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let deny = "[[policy.rules]]\ntool = \"read_file\"\ndecision = \"deny\"\n";
    stage.configure(deny);
    let mut open = stage.open(&one, "", false).await;
    assert_ne!(status(&open.ask("one").await), CallStatus::Success);

    stage.configure("mode = ");
    let events = open.ask("two").await;
    assert_ne!(status(&events), CallStatus::Success, "what held before holds on");
    assert_eq!(warnings(&events).len(), 1, "two turns, one warning: {:?}", warnings(&events));
    assert!(stage.workspaces.at(&one, &[]).await.is_err(), "a session that begins now is told");

    stage.configure("");
    let events = open.ask("three").await;
    assert_eq!(status(&events), CallStatus::Success, "what is mended is taken up");
    stage.project("one", &[(".neco/prompts/base.md", "{{no such thing}}")]);
    assert_eq!(warnings(&open.ask("four").await), Vec::<&str>::new(), "what is not trusted does not count at all");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_trusted_folder_forbids_is_not_switched_off_by_an_edit() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let list = call("list_directory", &json!({ "path": "." }));
    let turns = json!([
        read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }, list, { "say": "Four." },
        read, { "say": "Five." },
    ]);
    let stage = Stage::new(&turns);
    let deny = "[[rule]]\ntool = 'read_file'\ndecision = 'deny'\n";
    let one = stage.project("one", &[("notes.txt", "x\n"), (".neco/policy/team.toml", deny)]);
    let mut open = stage.open(&one, "", true).await;
    assert_ne!(status(&open.ask("one").await), CallStatus::Success);

    // Changed, and one more that nobody has seen.
    stage.project("one", &[(".neco/policy/team.toml", "# nothing\n"), (".neco/policy/more.toml", "# nothing\n")]);
    let events = open.ask("two").await;
    assert_ne!(status(&events), CallStatus::Success, "what was trusted holds on");
    assert_eq!(said(&events, "what you trusted stays in effect").len(), 1);
    assert_eq!(said(&events, "New or changed, and not trusted").len(), 2);
    fs::remove_dir_all(one.join(".neco/policy")).unwrap();
    assert_ne!(status(&open.ask("three").await), CallStatus::Success, "gone is not switched off either");

    // What the person edits is taken up all the same.
    let mine = "[[rule]]\ntool = 'list_directory'\ndecision = 'deny'\n";
    stage.project("home/policy", &[("mine.toml", mine)]);
    assert_ne!(status(&open.ask("four").await), CallStatus::Success, "the person's own rule holds at once");

    fs::remove_file(stage.path("home/policy/mine.toml")).unwrap();
    let mut trust = Trust::open(stage.workspaces.env().config_dir()).unwrap();
    assert!(trust.forget(&one).unwrap());
    let events = open.ask("five").await;
    assert_eq!(status(&events), CallStatus::Success, "who is no longer trusted forbids nothing: {:?}", ends(&events));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_comes_later_is_hidden_wherever_it_is_told() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let stage = Stage::new(&json!([{ "say": "One." }, read, { "say": "It is sk-later-key-1." }]));
    let (one, two) = (stage.project("one", &[("notes.txt", "sk-later-key-1 other-folder-key-2\n")]), "two");
    let mut open = stage.open(&one, "", false).await;
    open.ask("one").await;
    let (elsewhere, scope) = (open.services.hub.redactor(), neco_safety::secrets::Scope::Said);
    stage.set_key("openai", "sk-later-key-1");
    let of_two = ["model_providers.anthropic.api_key=other-folder-key-2".to_owned()];
    let second = stage.open_with(&stage.project(two, &[("x", "")]), "", false, &of_two).await;
    let events = open.ask("two").await;
    let told = serde_json::to_string(&events).unwrap();
    assert!(told.contains("[redacted: the keys file] [redacted: the configuration]"), "{told}");
    assert!(!told.contains("later-key-1") && !told.contains("folder-key-2"), "{told}");
    assert_eq!(elsewhere.redact("sk-later-key-1", scope), "[redacted: the keys file]", "whoever has it knows it, too");
    stage.set_key("openai", "sk-newest-key-3");
    stage.workspaces.at(&one, &[]).await.unwrap();
    let both = elsewhere.redact("sk-later-key-1 sk-newest-key-3", scope).into_owned();
    assert_eq!(both, "[redacted: the keys file] [redacted: the keys file]", "what was a key once stays hidden");
    second.close().await;
    open.close().await;
}

/// A model on loopback that has one thing to say, and the keys that it was asked with.
fn model_server() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (base, asked) = (format!("http://{}/v1", listener.local_addr().unwrap()), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut length, mut key, mut line) = (0, String::new(), String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                match line.trim().split_once(": ") {
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.parse().unwrap()
                    }
                    Some((name, value)) if name.eq_ignore_ascii_case("authorization") => key = value.to_owned(),
                    _ => {}
                }
                line.clear();
            }
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_ok() && length > 0 {
                seen.lock().unwrap().push(key);
            }
            let said = json!({ "choices": [{ "delta": { "content": "Hi." }, "finish_reason": "stop" }] });
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = write!(stream, "{head}data: {said}\n\ndata: [DONE]\n\n");
        }
    });
    (base, asked)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_changed_elsewhere_is_used_at_the_next_turn() {
    let (base, asked) = model_server();
    let stage = Stage::new(&json!([]));
    let config = format!(
        "model = \"web/m\"\n[model_providers.web]\ntype = \"openai\"\nbase = \"{base}\"\n[sessions]\nmodel_title = false\n"
    );
    fs::write(stage.path("home/config.toml"), &config).unwrap();
    stage.set_key("web", "sk-first-key-1");
    let mut open = stage.open(&stage.project("one", &[("x", "")]), "", false).await;
    open.ask("one").await;
    stage.set_key("web", "sk-second-key-2");
    open.ask("two").await;
    // A key among the settings comes before one that is kept.
    fs::write(stage.path("home/config.toml"), config.replace("base =", "api_key = \"sk-third-key-3\"\nbase ="))
        .unwrap();
    open.ask("three").await;
    let keys = asked.lock().unwrap().clone();
    assert_eq!(keys, ["Bearer sk-first-key-1", "Bearer sk-second-key-2", "Bearer sk-third-key-3"]);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_removed_elsewhere_is_used_no_more() {
    let stage = Stage::new(&json!([]));
    let config = "model = \"openai/gpt-5\"\n[sessions]\nmodel_title = false\n";
    fs::write(stage.path("home/config.toml"), config).unwrap();
    stage.set_key("openai", "sk-first-key-1");
    let mut open = stage.open(&stage.project("one", &[("x", "")]), "", false).await;
    // Before anybody is asked with it.
    keys::file(stage.workspaces.env()).change(|keys| keys.remove("openai")).unwrap();
    let events = open.ask("one").await;
    let errors = events.iter().filter_map(|event| match &event.body {
        EventBody::Error(error) => Some((error.code, error.message.as_str())),
        _ => None,
    });
    let errors: Vec<_> = errors.collect();
    assert!(matches!(errors.as_slice(), [(ErrorCode::NotAuthorised, words)] if words.contains("key")), "{errors:?}");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_is_kept_holds_in_the_sessions_of_its_folder() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let stage = Stage::new(&json!([read, { "say": "One." }]));
    let [one, two] = ["one", "two"].map(|name| stage.project(name, &[("notes.txt", "x\n")]));
    let (mut first, mut second) = (stage.open(&one, "", false).await, stage.open(&two, "", false).await);
    let app: &dyn App = &SharedApp::new(Arc::clone(&stage.workspaces), Vec::new(), &one, Arc::new(()));
    let rule = AddRule { folder: one.display().to_string(), rule: "deny read_file".to_owned() };
    app.ask(&Caller::person(), &rule).await.unwrap();
    assert_ne!(status(&first.ask("go").await), CallStatus::Success);
    assert_eq!(status(&second.ask("go").await), CallStatus::Success);
    first.close().await;
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_always_allowed_and_could_not_be_kept_holds_after_an_edit() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let mut stage = Stage::new(&json!([read, { "say": "One." }, read, { "say": "Two." }]));
    stage.is_attended = true;
    let asks = "[[policy.rules]]\ntool = \"read_file\"\ndecision = \"ask\"\n[memory]\nextract = false\n";
    stage.configure(asks);
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let mut open = stage.open(&one, "", false).await;
    fs::write(stage.path("home/policy"), "in the way").unwrap();
    let asked = |events: &[Event]| events.iter().any(|event| matches!(event.body, EventBody::PermissionRequest(_)));
    let events = open.ask("one").await;
    assert!(asked(&events) && status(&events) == CallStatus::Success);
    assert_eq!(said(&events, "The rule applies to this session only").len(), 1);
    stage.configure(&format!("{asks}# edited\n"));
    let events = open.ask("two").await;
    assert!(!asked(&events) && status(&events) == CallStatus::Success, "{:?}", ends(&events));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_fails_for_a_reason_that_passes_is_tried_again() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let turns = json!([read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }]);
    let stage = Stage::new(&turns);
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let mut open = stage.open(&one, "", false).await;
    let deny = "[[policy.rules]]\ntool = \"read_file\"\ndecision = \"deny\"\n";
    // The folder that it opens is not there yet, which no file that was edited says.
    stage.configure_with(&format!("roots = [\"{}\"]\n", stage.path("later").display()), deny);
    let (first, second) = (open.ask("one").await, open.ask("two").await);
    assert_eq!((status(&first), status(&second)), (CallStatus::Success, CallStatus::Success), "it is not used");
    assert_eq!((warnings(&first).len(), warnings(&second).len()), (1, 0), "four turns, one warning");
    fs::create_dir(stage.path("later")).unwrap();
    assert_ne!(status(&open.ask("three").await), CallStatus::Success, "the same files, and now they can be used");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_at_work_below_the_root_takes_up_an_edit() {
    let (read, list) = (json!({ "path": "notes.txt" }), json!({ "path": "." }));
    let script = json!({
        "turns": [call("spawn_agent", &json!({ "agent": "general", "task": "look" })), call("agent_wait", &json!({})), { "say": "All." }],
        "agents": [{ "role": "general", "turns": [call("read_file", &read), call("list_directory", &list), { "say": "Looked." }] }],
    });
    let stage = Stage::playing(&script);
    let rule = "[[rule]]\ntool = 'list_directory'\ndecision = 'deny'\n";
    let one = stage.project("one", &[("notes.txt", "x\n"), ("rule.toml", rule)]);
    stage.project("home/policy", &[("first.toml", "# nothing\n")]);
    // The hook runs while the child is at work, and its root waits for it.
    let hook = "mkdir -p ../home/policy && cp rule.toml ../home/policy/mine.toml";
    stage.configure(&format!("[[hooks.PostToolUse]]\nmatcher = \"read_file\"\ncommand = \"{hook}\"\n"));
    let mut open = stage.open(&one, "", false).await;
    let events = open.ask_of("go", 2).await;
    let of = |tool: &str| ends(&events).iter().find(|end| end.tool == tool).map(|end| end.status);
    assert_eq!(of("read_file"), Some(CallStatus::Success));
    assert!(of("list_directory").is_some_and(|status| status != CallStatus::Success), "{:?}", ends(&events));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_edit_loosens_and_what_it_leaves_alone_is_told() {
    let stage = Stage::new(&json!([{ "say": "One." }, { "say": "Two." }, { "say": "Three." }]));
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let mut open = stage.open(&one, "", false).await;
    assert!(said(&open.ask("one").await, "effect").is_empty());
    stage.configure_with("approval = \"manual\"\n", "[sandbox]\nnetwork = \"on\"\n");
    let second = open.ask("two").await;
    let told = said(&second, "effect");
    let has = |words: &str| told.iter().any(|told| told.contains(words));
    assert!(has("Setting approval = \"manual\": takes effect in new sessions"), "{told:?}");
    assert!(has("Setting sandbox.network = \"on\": in effect now"), "{told:?}");
    assert!(said(&open.ask("three").await, "effect").is_empty(), "once is enough");
    open.close().await;
}
