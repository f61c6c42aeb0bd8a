//! An editor, as the tests play it: raw lines of the protocol, each held against its schema where that is there.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::peer::Peer;
use crate::protocol::{Side, check};
use crate::support::House;

/// A house whose model plays `turns`, and is asked for no title meanwhile.
pub fn playing(turns: Value) -> House {
    let house = House::playing(turns);
    let settings = std::fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{settings}[sessions]\nmodel_title = false\n"));
    house
}

/// An editor that has started `neco acp`.
pub struct Editor {
    peer: Peer,
    /// What was asked, so that answers are held against what they answer.
    asked: Vec<(Value, String)>,
    /// What the agent asked.
    asked_of: Vec<(Value, String)>,
}

impl Editor {
    /// Starts the agent, without a word.
    pub fn start(house: &House, flags: &[&str]) -> Self {
        Self { peer: Peer::start(house, flags, Stdio::inherit()), asked: Vec::new(), asked_of: Vec::new() }
    }

    /// Starts it and introduces the editor, which can do these things.
    pub fn open(house: &House, capabilities: Value) -> Self {
        Self::open_with(house, &["acp"], capabilities)
    }

    /// The same for an agent that is started in another way.
    pub fn open_with(house: &House, flags: &[&str], capabilities: Value) -> Self {
        let mut editor = Self::start(house, flags);
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": 1, "clientInfo": info, "clientCapabilities": capabilities });
        let answer = editor.ask("initialize", params);
        assert_eq!(answer["protocolVersion"], 1, "{answer}");
        editor
    }

    /// A session in the project.
    pub fn session(&mut self, house: &House) -> String {
        let answer = self.ask("session/new", json!({ "cwd": house.project(), "mcpServers": [] }));
        answer["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Writes a message.
    pub fn write(&mut self, message: &Value) {
        check(Side::Agent, message, &self.asked_of);
        self.peer.write(&message.to_string());
    }

    /// Writes a request; its number.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.peer.number();
        self.asked.push((json!(id), method.to_owned()));
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// A request, and its result.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// A request, and why it was refused.
    #[track_caller]
    pub fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_some(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// Says something; the number of the prompt.
    pub fn say(&mut self, session: &str, words: &str) -> u64 {
        self.request("session/prompt", json!({ "sessionId": session, "prompt": [{ "type": "text", "text": words }] }))
    }

    /// Says something and waits; why it stopped.
    #[track_caller]
    pub fn prompt(&mut self, session: &str, words: &str) -> Value {
        let id = self.say(session, words);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"]["stopReason"].clone()
    }

    /// The next message that fits; others are kept.
    #[track_caller]
    pub fn find(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let Self { peer, asked, asked_of } = self;
        peer.find(fits, |message| {
            check(Side::Client, message, asked);
            if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
                asked_of.push((id.clone(), method.to_owned()));
            }
        })
    }

    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The next update of this kind.
    #[track_caller]
    pub fn update(&mut self, kind: &str) -> Value {
        let update = self.find(|message| message["params"]["update"]["sessionUpdate"] == kind);
        update["params"]["update"].clone()
    }

    /// What the agent asks next by this method, answered; its parameters.
    #[track_caller]
    pub fn reply(&mut self, method: &str, answer: Value) -> Value {
        let asked = self.find(|message| message["method"] == method);
        self.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }));
        asked["params"].clone()
    }

    /// The person's choice in the next question; its parameters.
    #[track_caller]
    pub fn choose(&mut self, option: &str) -> Value {
        self.reply("session/request_permission", json!({ "outcome": { "outcome": "selected", "optionId": option } }))
    }

    /// All updates of a kind that came until now, in order.
    pub fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self.peer.kept.iter().map(|message| &message["params"]["update"]);
        updates.filter(|update| update["sessionUpdate"] == kind).cloned().collect()
    }

    /// Everything that was said in updates of a kind.
    pub fn said(&self, kind: &str) -> String {
        self.updates(kind).iter().filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// What came until now and was not asked for.
    pub fn kept(&self) -> &[Value] {
        &self.peer.kept
    }

    /// What came is of no interest any more.
    pub fn forget(&mut self) {
        self.peer.kept.clear();
    }

    /// The editor goes: the agent ends by itself.
    #[track_caller]
    pub fn leave(&mut self) -> Option<i32> {
        self.peer.say_no_more();
        let begun = Instant::now();
        loop {
            if let Some(status) = self.peer.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
