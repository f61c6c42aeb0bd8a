//! A person in an editor: what they do is said in messages of the protocol. What an editor has no message for is done in
//! another window of the same session.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_acp::{AcpSetup, serve};
use neco_proto::app::opening::OpenSession;
use neco_proto::{
    Actor, Answer, ApprovalMode, Client, ClientError, Command, Decision, EventStream, IdeContext, ItemAnswer, Query,
    QuestionId, Receipt, Reply, Seq,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, split};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::door::{Door, Listened};
use crate::library::library;
use crate::protocol::{Side, check};

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A person in an editor.
pub struct Person {
    session: Arc<Listened>,
    id: String,
    output: tokio::sync::Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>,
    heard: Arc<Heard>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// What the agent said.
struct Heard {
    state: Mutex<State>,
    news: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    requests: u64,
    /// What was asked, so that answers are held against what they answer.
    asked: Vec<(Value, String)>,
    asked_of: Vec<(Value, String)>,
    answers: Vec<Value>,
    /// Questions that nobody has answered.
    questions: Vec<Value>,
    updates: Vec<Value>,
    /// What is open, for the next prompt.
    open: Option<IdeContext>,
    acts: usize,
}

impl Heard {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Waits for something of the agent.
    async fn find<T>(&self, what: &str, mut find: impl FnMut(&mut State) -> Option<T>) -> Result<T, ClientError> {
        let mut news = self.news.subscribe();
        let found = async {
            loop {
                if let Some(found) = find(&mut self.state()) {
                    return found;
                }
                let _ = news.changed().await;
            }
        };
        let found = tokio::time::timeout(PATIENCE, found).await;
        found.map_err(|_| ClientError::Refused(format!("{what} never came; asked is {:#?}", self.state().questions)))
    }

    fn take_in(&self, message: Value) {
        let mut state = self.state();
        check(Side::Client, &message, &state.asked);
        match message["method"].as_str() {
            Some("session/update") => state.updates.push(message["params"]["update"].clone()),
            Some(method) if message.get("id").is_some() => {
                state.asked_of.push((message["id"].clone(), method.to_owned()));
                state.questions.push(message);
            }
            Some(_) => {}
            None => state.answers.push(message),
        }
        drop(state);
        self.news.send_replace(());
    }
}

impl Person {
    /// A person whose editor has opened a session.
    pub async fn of(session: Arc<dyn Client>) -> Self {
        let Ok(Answer::Snapshot(snapshot)) = session.ask(Query::Snapshot).await else { panic!("no snapshot") };
        let listened = Listened { session, id: snapshot.session_id, heard: watch::Sender::new(0) };
        let session = Arc::new(listened);
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (from, to) = split(theirs);
        let app = Arc::new(Door(Arc::clone(&session)));
        let setup = AcpSetup { app, wanted: OpenSession::default(), pictures: |_| Ok(Vec::new()), version: "1" };
        let served = tokio::spawn(async move { serve(setup, from, to, CancellationToken::new()).await.unwrap() });
        let heard = Arc::new(Heard { state: Mutex::default(), news: watch::Sender::new(()) });
        let mut tasks = vec![served];
        let (input, output): (Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>) = match library() {
            Some(library) => {
                let (stream, carries) = library.editor(ours).await;
                tasks.push(tokio::spawn(carries));
                let (input, output) = split(stream);
                (Box::new(input), Box::new(output))
            }
            None => {
                let (input, output) = split(ours);
                (Box::new(input), Box::new(output))
            }
        };
        tasks.push(tokio::spawn(read(input, Arc::clone(&heard))));
        let (output, tasks) = (tokio::sync::Mutex::new(Some(output)), Mutex::new(tasks));
        let person = Self { session, id: snapshot.session_id.to_string(), output, heard, tasks };
        let capabilities = json!({ "elicitation": { "form": {} } });
        person.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities })).await.unwrap();
        person.ask("session/new", json!({ "cwd": snapshot.cwd, "mcpServers": [] })).await.unwrap();
        person
    }

    /// Everything that the agent told.
    pub fn updates(&self) -> Vec<Value> {
        self.heard.state().updates.clone()
    }

    /// Ready when the agent has told everything that happened until an event.
    pub async fn has_heard(&self, last: Seq) {
        let mut heard = self.session.heard.subscribe();
        let waiting = tokio::time::timeout(PATIENCE, heard.wait_for(|heard| *heard >= last));
        drop(waiting.await.unwrap().unwrap());
        // What is answered now comes behind all of that.
        let _ = self.ask("session/list", json!({})).await;
    }

    /// The editor goes; how much was done by way of it.
    pub async fn leave(&self) -> usize {
        // The other half keeps the stream open.
        self.output.lock().await.take().unwrap().shutdown().await.unwrap();
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap());
        for task in tasks {
            tokio::time::timeout(PATIENCE, task).await.unwrap().unwrap();
        }
        self.heard.state().acts
    }

    async fn write(&self, message: Value) {
        check(Side::Agent, &message, &self.heard.state().asked_of);
        let mut output = self.output.lock().await;
        output.as_mut().unwrap().write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn request(&self, method: &str, params: Value) -> u64 {
        let id = {
            let mut state = self.heard.state();
            state.requests += 1;
            let id = state.requests;
            state.asked.push((json!(id), method.to_owned()));
            id
        };
        self.write(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, ClientError> {
        let id = self.request(method, params).await;
        let answer = |state: &mut State| state.answers.iter().find(|answer| answer["id"] == id).cloned();
        let answer = self.heard.find(method, answer).await?;
        match answer.get("error") {
            Some(error) => Err(ClientError::Refused(error["message"].to_string())),
            None => Ok(answer["result"].clone()),
        }
    }

    /// Says something; it is answered when the work is over.
    async fn prompt(&self, words: &str) {
        let meta = self.heard.state().open.take().map(|open| meta(&open));
        let mut params = json!({ "sessionId": self.id, "prompt": [{ "type": "text", "text": words }] });
        meta.into_iter().for_each(|meta| params["_meta"] = meta);
        self.request("session/prompt", params).await;
    }

    /// The question about a call, or from one, which is answered now.
    async fn question(&self, call: &str) -> Result<Value, ClientError> {
        let is_it = |question: &Value| {
            let params = &question["params"];
            params["toolCall"]["toolCallId"] == call || params["toolCallId"] == call
        };
        let find = |state: &mut State| {
            let at = state.questions.iter().position(is_it)?;
            Some(state.questions.remove(at))
        };
        self.heard.find(&format!("the question about {call}"), find).await
    }

    /// Chooses an option of a question, which must be on offer.
    async fn choose(&self, call: &str, option: &str) -> Result<(), ClientError> {
        let question = self.question(call).await?;
        let options = question["params"]["options"].as_array().cloned().unwrap_or_default();
        if !options.iter().any(|offered| offered["optionId"] == option) {
            return Err(ClientError::Refused(format!("{option} is not on offer: {question:#}")));
        }
        self.reply(&question, json!({ "outcome": { "outcome": "selected", "optionId": option } })).await;
        Ok(())
    }

    async fn reply(&self, question: &Value, result: Value) {
        self.write(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
    }

    /// The call by which an editor knows a question.
    async fn call_of(&self, question: QuestionId) -> Result<String, ClientError> {
        let Answer::Snapshot(snapshot) = self.session.ask(Query::Snapshot).await? else { panic!("no snapshot") };
        let open = snapshot.questions.iter().find(|open| open.question_id == question);
        let call = open.and_then(|open| open.call_id.as_ref()).map(ToString::to_string);
        Ok(call.unwrap_or_else(|| question.to_string()))
    }

    async fn answer(&self, question_id: QuestionId, reply: Reply) -> Result<(), ClientError> {
        let call = self.call_of(question_id).await?;
        let option = match &reply {
            Reply::AcceptPlan { approval: None, comments: None } => "accept",
            Reply::AcceptPlan { approval: Some(ApprovalMode::AcceptEdits), comments: None } => "accept_edits",
            Reply::DropPlan => "drop",
            Reply::GoOn { comments: None } => "go_on",
            Reply::Choices { answers } => return self.fill_in(&call, answers).await,
            Reply::Dismiss => return self.dismiss(&call).await,
            _ => return self.elsewhere(Command::Answer { question_id, reply }).await,
        };
        self.choose(&call, option).await
    }

    async fn fill_in(&self, call: &str, answers: &[ItemAnswer]) -> Result<(), ClientError> {
        let form = self.question(call).await?;
        let fields = &form["params"]["requestedSchema"]["properties"];
        let mut content = json!({});
        for (at, answer) in answers.iter().enumerate() {
            let name = format!("answer_{}", at + 1);
            let other = format!("{name}_other");
            let text_field = if fields[&other].is_object() { &other } else { &name };
            answer.text.iter().for_each(|text| content[text_field] = json!(text));
            match fields[&name]["type"] == "array" {
                true => content[&name] = json!(answer.chosen),
                false => answer.chosen.iter().take(1).for_each(|chosen| content[&name] = json!(chosen)),
            }
        }
        self.reply(&form, json!({ "action": "accept", "content": content })).await;
        Ok(())
    }

    async fn dismiss(&self, call: &str) -> Result<(), ClientError> {
        let question = self.question(call).await?;
        let is_form = question["method"] == "elicitation/create";
        let answer = json!({ "outcome": { "outcome": "cancelled" } });
        self.reply(&question, if is_form { json!({ "action": "decline" }) } else { answer }).await;
        Ok(())
    }

    /// Does something in another window.
    async fn elsewhere(&self, command: Command) -> Result<(), ClientError> {
        self.heard.state().acts -= 1;
        self.session.send(command).await.map(drop)
    }

    async fn act(&self, command: Command) -> Result<(), ClientError> {
        self.heard.state().acts += 1;
        let session = json!(self.id);
        match command {
            Command::UserMessage { content, attachments } if attachments.is_empty() => self.prompt(&content).await,
            Command::Compact { focus } => self.prompt(&format!("/compact {}", focus.unwrap_or_default())).await,
            Command::Rename { title } => self.prompt(&format!("/rename {title}")).await,
            Command::SetIdeContext { context } => self.heard.state().open = Some(context),
            Command::Approve { call_id, decision } => {
                let option = match &decision {
                    Decision::Once => "once",
                    Decision::Session => "session",
                    Decision::Always => "always",
                    Decision::Reject { reason: None } => "reject",
                    _ => return self.elsewhere(Command::Approve { call_id, decision }).await,
                };
                self.choose(call_id.as_str(), option).await?;
            }
            Command::Answer { question_id, reply } => self.answer(question_id, reply).await?,
            Command::Cancel => {
                let params = json!({ "sessionId": session });
                self.write(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params })).await;
            }
            Command::SetMode { mode } => {
                self.ask("session/set_mode", json!({ "sessionId": session, "modeId": mode.name() })).await?;
            }
            Command::SetGeneration { generation } => {
                let set = json!({ "sessionId": session, "configId": "level", "value": generation.to_string() });
                self.ask("session/set_config_option", set).await?;
            }
            command => self.elsewhere(command).await?,
        }
        Ok(())
    }
}

impl Client for Person {
    fn send_as(&self, _: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        async move { self.act(command).await.map(|()| Receipt { seq: 0, message_id: None }) }.boxed()
    }

    fn events(&self, since: Seq) -> EventStream {
        self.session.session.events(since)
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        self.session.ask(query)
    }
}

/// Takes in what the agent says until it says no more; a request has one answer.
async fn read(input: impl AsyncRead + Unpin, heard: Arc<Heard>) {
    let (mut lines, mut answered) = (BufReader::new(input).lines(), HashSet::new());
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let is_answer = message.get("method").is_none();
        assert!(!is_answer || answered.insert(message["id"].to_string()), "a second answer: {message}");
        heard.take_in(message);
    }
}

/// What is open, as editors say it.
fn meta(open: &IdeContext) -> Value {
    let selection = open.selection.as_ref();
    let selection = selection.map(|selection| {
        json!({ "firstLine": selection.first_line, "lastLine": selection.last_line, "text": selection.text })
    });
    let mut editor = json!({ "openFiles": open.open_files });
    let facts = [
        ("activeFile", open.active_file.as_ref().map(|file| json!(file))),
        ("cursorLine", open.cursor_line.map(|line| json!(line))),
        ("selection", selection),
    ];
    facts.into_iter().for_each(|(name, fact)| fact.into_iter().for_each(|fact| editor[name] = fact));
    json!({ "editor": editor })
}
