//! What a server may ask of us while it works: to show how far it is, to ask the person or the model, to know the
//! folders.

#![expect(deprecated, reason = "servers of the older versions still use roots, sampling and logging")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_config::section::McpSampling;
use neco_proto::event::OutputStream;
use neco_proto::{EmptyAnswer, QuestionItem, QuestionOption};
use neco_toolkit::{AskModel, AskPerson, LiveOutput};
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, Implementation, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion, Root,
    RootsCapabilities, SamplingCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::answer_kind::{cut, said_yes};
use super::elicit::Form;
use super::log::ServerLog;
use super::sampling::{self, NoSample};

/// How often a server may ask the person in one call of a tool.
const MOST_FORMS: usize = 20;

/// Characters of what a server says of how far it is, and of what it asks the person.
const MOST_PROGRESS: usize = 200;
const MOST_SAID: usize = 2000;

/// Who wants something of a server.
#[derive(Clone)]
pub struct Caller {
    /// Where it is shown how far the server is.
    pub live: Arc<dyn LiveOutput>,
    /// Whom the server may ask.
    pub person: Arc<dyn AskPerson>,
    /// The model that the server may ask.
    pub model: Arc<dyn AskModel>,
    /// Set when nobody waits for it any more.
    pub cancel: CancellationToken,
}

impl Caller {
    /// Somebody who shows nothing and answers nothing.
    pub fn silent(cancel: CancellationToken) -> Self {
        struct Nowhere;

        impl LiveOutput for Nowhere {
            fn push(&self, _: OutputStream, _: &str) {}
        }

        Self { live: Arc::new(Nowhere), person: Arc::new(()), model: Arc::new(()), cancel }
    }
}

/// Our side of a conversation with a server. Clones are the same.
#[derive(Clone)]
pub(super) struct Host(Arc<State>);

struct State {
    server: String,
    /// The folders that are worked in, as addresses, with their names.
    roots: Vec<(String, String)>,
    sampling: McpSampling,
    log: ServerLog,
    calls: Mutex<Vec<OpenCall>>,
    changed: Notify,
    /// How many want something.
    holds: watch::Sender<usize>,
}

struct OpenCall {
    number: usize,
    token: Option<ProgressToken>,
    caller: Caller,
    signs: Arc<Signs>,
}

/// Signs of life of a server in one call.
#[derive(Default)]
pub(super) struct Signs {
    /// Something came.
    pub news: Notify,
    /// How many questions wait for the person or the model; time does not count meanwhile.
    asking: AtomicUsize,
    /// How often the person was asked.
    forms: AtomicUsize,
    /// How often the model was asked.
    samples: AtomicUsize,
}

impl Signs {
    /// Whether the server waits for an answer of ours.
    pub(super) fn waits_for_us(&self) -> bool {
        self.asking.load(Ordering::Relaxed) > 0
    }
}

/// That somebody wants something of a server; over when it is dropped.
pub(super) struct Hold(Host);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.0.holds.send_modify(|holds| *holds -= 1);
    }
}

/// A call that is under way; over when it is dropped.
pub(super) struct CallGuard {
    host: Host,
    number: usize,
    pub signs: Arc<Signs>,
    pub caller: Caller,
}

/// Whom a question is for.
pub(super) type Asker = (Caller, Arc<Signs>);

impl CallGuard {
    /// Whom a question of this call is for.
    pub(super) fn asker(&self) -> Asker {
        (self.caller.clone(), Arc::clone(&self.signs))
    }

    /// Progress of this token is the call's.
    pub(super) fn follow(&self, token: ProgressToken) {
        let mut calls = self.host.calls();
        if let Some(call) = calls.iter_mut().find(|call| call.number == self.number) {
            call.token = Some(token);
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        // Nobody has to answer what a call wanted to know that is over.
        self.caller.cancel.cancel();
        self.host.calls().retain(|call| call.number != self.number);
    }
}

impl Host {
    pub(super) fn new(server: &str, roots: Vec<(String, String)>, sampling: McpSampling, log: ServerLog) -> Self {
        let (calls, changed, holds) = (Mutex::default(), Notify::new(), watch::Sender::new(0));
        Self(Arc::new(State { server: server.to_owned(), roots, sampling, log, calls, changed, holds }))
    }

    /// A call begins.
    pub(super) fn begin(&self, caller: Caller) -> CallGuard {
        let signs = Arc::new(Signs::default());
        let caller = Caller { cancel: caller.cancel.child_token(), ..caller };
        let mut calls = self.calls();
        let number = calls.last().map_or(0, |call| call.number + 1);
        calls.push(OpenCall { number, token: None, caller: caller.clone(), signs: Arc::clone(&signs) });
        drop(calls);
        CallGuard { host: self.clone(), number, signs, caller }
    }

    /// Somebody is about to want something: the server is not stopped meanwhile.
    pub(super) fn hold(&self) -> Hold {
        self.0.holds.send_modify(|holds| *holds += 1);
        Hold(self.clone())
    }

    /// Whether somebody wants something.
    pub(super) fn is_held(&self) -> bool {
        *self.0.holds.borrow() > 0
    }

    /// Ready when nobody wanted anything for so long.
    pub(super) async fn idle(&self, patience: Duration) {
        let mut holds = self.0.holds.subscribe();
        loop {
            // It never ends: this has the sender.
            let _ = holds.wait_for(|holds| *holds == 0).await;
            if tokio::time::timeout(patience, holds.changed()).await.is_err() {
                return;
            }
        }
    }

    /// Ready when the server said that it offers something else.
    pub(super) async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// The server offers something else.
    pub(super) fn note_change(&self) {
        self.0.changed.notify_one();
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, Vec<OpenCall>> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call that a question belongs to: nothing says which, so it is the latest.
    fn latest(&self) -> Option<Asker> {
        self.calls().last().map(|call| (call.caller.clone(), Arc::clone(&call.signs)))
    }

    /// The folders that are worked in.
    pub(super) fn roots(&self) -> ListRootsResult {
        let root = |(uri, name): &(String, String)| Root::new(uri.clone()).with_name(name.clone());
        ListRootsResult::new(self.0.roots.iter().map(root).collect())
    }

    /// Asks the person on a server's behalf.
    pub(super) async fn elicit(&self, request: ElicitRequestParams, asker: Option<Asker>) -> ElicitResult {
        let may_ask = |asker: &Asker| asker.1.forms.fetch_add(1, Ordering::Relaxed) < MOST_FORMS;
        let Some(asker) = asker.filter(may_ask) else { return ElicitResult::new(ElicitationAction::Cancel) };
        let caller = &asker.0;
        let asked = async {
            match request {
                ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                    let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                    self.ask_form(caller, &message, &schema).await
                }
                ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                    self.ask_to_open(caller, &message, &url).await
                }
                _ => ElicitResult::new(ElicitationAction::Decline),
            }
        };
        while_asking(&asker, asked).await.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel))
    }

    /// Asks the model on a server's behalf, if the settings and the person let it.
    pub(super) async fn sample(
        &self,
        request: CreateMessageRequestParams,
        asker: Option<Asker>,
    ) -> Result<CreateMessageResult, NoSample> {
        let sampled = self.try_sample(request, asker).await;
        self.0.log.note(&match &sampled {
            Ok(result) => format!("{} answered for it", result.model),
            Err(why) => format!("it asked the model in vain: {why}"),
        });
        sampled
    }

    async fn try_sample(
        &self,
        request: CreateMessageRequestParams,
        asker: Option<Asker>,
    ) -> Result<CreateMessageResult, NoSample> {
        let asker = asker.ok_or(NoSample::NoCall)?;
        let (caller, signs) = &asker;
        sampling::may_ask(self.0.sampling, signs.samples.fetch_add(1, Ordering::Relaxed))?;
        let question = sampling::question(request)?;
        let asked = async {
            if self.0.sampling == McpSampling::Ask {
                let answers = caller.person.ask(vec![sampling::asks(&self.0.server, &question)]).await;
                if !sampling::is_allowed(&answers.unwrap_or_default()) {
                    return Err(NoSample::Refused);
                }
            }
            Ok(sampling::result(caller.model.ask(question, caller.cancel.clone()).await?))
        };
        while_asking(&asker, asked).await.unwrap_or(Err(NoSample::CallIsOver))
    }

    async fn ask_form(&self, caller: &Caller, message: &str, schema: &Value) -> ElicitResult {
        let form = Form::read(&self.0.server, message, schema);
        match form.fill(&*caller.person).await {
            Some(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            None => ElicitResult::new(ElicitationAction::Decline),
        }
    }

    async fn ask_to_open(&self, caller: &Caller, message: &str, url: &str) -> ElicitResult {
        // Nothing but a page of the web is opened, and its name is shown as it is looked up.
        let page = Url::parse(url).ok().filter(|page| matches!(page.scheme(), "http" | "https"));
        let Some(page) = page.filter(|page| page.as_str().len() <= MOST_SAID) else {
            self.0.log.note(&format!("it asked to open {}, which is no page", cut(url, MOST_PROGRESS)));
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let option = |label: &str| QuestionOption { label: label.to_owned(), description: String::new() };
        let text = format!("The MCP server {} asks you to open {page}\n{}", self.0.server, cut(message, MOST_SAID));
        let options = vec![option("I opened it"), option("No")];
        let (title, empty) = (self.0.server.clone(), EmptyAnswer::Allowed);
        let item = QuestionItem { title, text, options, multiple: false, empty, field: None };
        let answers = caller.person.ask(vec![item]).await.unwrap_or_default();
        let opened = said_yes(&answers, "I opened it");
        ElicitResult::new(if opened { ElicitationAction::Accept } else { ElicitationAction::Decline })
    }
}

/// What comes of asking somebody on a server's behalf, whose time does not count meanwhile; nothing when its call is
/// over.
async fn while_asking<T>((caller, signs): &Asker, asked: impl Future<Output = T>) -> Option<T> {
    signs.asking.fetch_add(1, Ordering::Relaxed);
    let came = caller.cancel.run_until_cancelled(asked).await;
    signs.asking.fetch_sub(1, Ordering::Relaxed);
    signs.news.notify_one();
    came
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        capabilities.sampling = (self.0.sampling != McpSampling::Deny).then(SamplingCapability::default);
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(Default::default()).with_url(Default::default()));
        ClientConfig::new(capabilities, Implementation::new("neco", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicit(request, self.latest()).await)
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(self.sample(request, self.latest()).await?)
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let is_of = |call: &&OpenCall| call.token.as_ref() == Some(&progress.progress_token);
        let asker = self.calls().iter().find(is_of).map(|call| (call.caller.clone(), Arc::clone(&call.signs)));
        let Some((caller, signs)) = asker else { return };
        signs.news.notify_one();
        let so_far = match progress.total {
            Some(total) => format!("{} of {total}", progress.progress),
            None => progress.progress.to_string(),
        };
        let message = progress.message.map(|message| format!(" {}", cut(&message, MOST_PROGRESS))).unwrap_or_default();
        caller.live.push(OutputStream::Note, &format!("{so_far}{message}\n"));
    }

    async fn on_logging_message(&self, said: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        let text = said.data.as_str().map_or_else(|| said.data.to_string(), str::to_owned);
        self.0.log.note(&format!("{:?}: {text}", said.level));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_change();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_change();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.note_change();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;
    use neco_proto::ItemAnswer;
    use serde_json::json;

    use super::*;

    /// A person who never answers and counts how often they are asked.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl AskPerson for Counting {
        fn ask(&self, _: Vec<QuestionItem>) -> BoxFuture<'static, Option<Vec<ItemAnswer>>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::future::ready(None).boxed()
        }
    }

    /// How often a person is asked whom a server wants to open this page so often, in one call.
    async fn asked(url: &str, times: usize) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let log = ServerLog::new(folder.path(), "shop", Default::default());
        let host = Host::new("shop", Vec::new(), McpSampling::Deny, log);
        let person = Arc::new(Counting::default());
        let call = host.begin(Caller { person: person.clone(), ..Caller::silent(CancellationToken::new()) });
        for _ in 0..times {
            let wish = json!({ "mode": "url", "message": "Please.", "url": url, "elicitationId": "1" });
            host.elicit(serde_json::from_value(wish).unwrap(), Some(call.asker())).await;
        }
        person.0.load(Ordering::Relaxed)
    }

    #[tokio::test]
    async fn a_server_asks_the_person_so_often_and_no_more() {
        assert_eq!(asked("https://example.com/sign-in", MOST_FORMS + 5).await, MOST_FORMS);
    }

    #[tokio::test]
    async fn nobody_is_asked_to_open_what_is_no_page() {
        for url in ["javascript:alert(1)", "file:///etc/passwd", "no address"] {
            assert_eq!(asked(url, 1).await, 0, "{url}");
        }
    }
}
