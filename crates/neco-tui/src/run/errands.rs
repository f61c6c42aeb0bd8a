//! What takes time, each in a task of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use neco_proto::{CallId, Client, Query};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::opening::{Opening, open};
use crate::app::App;
use crate::host::{Host, ImageSource, Printed, Wanted};
use crate::update::{Effect, News};

/// How often the person's own status line is asked for at most.
const STATUS: Duration = Duration::from_millis(300);

/// What is said of an editor that Neco could not use because of a defect of its own.
const BROKEN: &str = "the editor could not be used: a defect in Neco";

/// What comes back from an errand.
pub(super) enum Back {
    /// News for the window.
    News(News),
    /// News from an editor, which had the terminal.
    Edited(News),
    /// A session, or why there is none.
    Opened(Box<Result<Opening, String>>),
}

/// Runs errands.
pub(super) struct Errands {
    host: Arc<dyn Host>,
    back: mpsc::UnboundedSender<Back>,
    shell: Option<AbortHandle>,
    status: Status,
}

/// The person's own status line.
#[derive(Default)]
struct Status {
    told: Value,
    asked: Option<Instant>,
    waits: bool,
    none: bool,
}

impl Errands {
    /// For this host; what comes of them goes to `back`.
    pub(super) fn new(host: Arc<dyn Host>, back: mpsc::UnboundedSender<Back>) -> Self {
        Self { host, back, shell: None, status: Status::default() }
    }

    /// A way to tell news.
    pub(super) fn teller(&self) -> impl Fn(News) + Send + Sync + 'static {
        let back = self.back.clone();
        move |news| {
            // A window that is gone wants no news.
            let _ = back.send(Back::News(news));
        }
    }

    /// Opens a session.
    pub(super) fn open(&self, wanted: Wanted) {
        let (host, back) = (Arc::clone(&self.host), self.back.clone());
        tokio::spawn(async move {
            let opened = open(host, wanted).await;
            let _ = back.send(Back::Opened(Box::new(opened)));
        });
    }

    /// Asks the session.
    pub(super) fn ask(&self, client: Arc<dyn Client>, query: Query) {
        let tell = self.teller();
        // A preview is a courtesy: what can't be told is not worth a word.
        let is_courtesy = matches!(query, Query::RewindPreview { .. } | Query::Tree | Query::Workflows);
        tokio::spawn(async move {
            match client.ask(query).await {
                Ok(answer) => tell(News::Answered(answer)),
                Err(_) if is_courtesy => {}
                Err(error) => tell(News::Refused(error, None)),
            }
        });
    }

    /// Runs an effect that needs the host, and neither the session nor the terminal.
    pub(super) fn run(&mut self, effect: Effect, client: Option<&Arc<dyn Client>>) {
        let host = Arc::clone(&self.host);
        match effect {
            Effect::Files => self.spawn(async move { News::Files(host.files().await) }),
            Effect::Branch => self.spawn(async move { News::Branch(host.branch().await) }),
            Effect::Commands => self.spawn(async move { News::Commands(host.commands().await) }),
            Effect::Sessions => self.spawn(async move { News::Sessions(host.sessions().await) }),
            Effect::Models => self.spawn(async move { News::Models(host.models().await) }),
            Effect::Rules => self.spawn(async move { News::Rules(host.rules().await) }),
            Effect::AddRule(rule) => self.spawn(async move { News::RuleChanged(host.add_rule(rule).await) }),
            Effect::DropRule(id) => self.spawn(async move { News::RuleChanged(host.drop_rule(id).await) }),
            Effect::Keep(note) => self.spawn(async move { News::Kept(host.keep(note).await) }),
            Effect::Custom(name, argument) => {
                self.spawn(async move { News::Custom(host.custom(name, argument).await) });
            }
            Effect::Outside(what, argument) => {
                let Some(client) = client.map(Arc::clone) else { return };
                self.spawn(async move { News::Outside(host.outside(client, what, argument).await) });
            }
            Effect::Image(source) => self.spawn(async move {
                let otherwise = match &source {
                    ImageSource::File(path) => Some(path.clone()),
                    ImageSource::Clipboard => None,
                };
                News::Image(host.image(source).await, otherwise)
            }),
            Effect::Shell(command) => self.run_shell(command),
            Effect::StopShell => self.stop_shell(),
            Effect::Remember(text) => host.remember(&text),
            Effect::Send(_)
            | Effect::Ask(_)
            | Effect::Open(_)
            | Effect::EditPrompt(_)
            | Effect::EditCall(..)
            | Effect::Copy(_)
            | Effect::Notify(_)
            | Effect::Redraw
            | Effect::Suspend
            | Effect::Quit => {}
        }
    }

    /// Lets the person write in their editor, which has the terminal until it is back.
    pub(super) fn edit_prompt(&self, text: String) {
        let (host, back) = (Arc::clone(&self.host), self.back.clone());
        tokio::spawn(async move {
            // However it ends, the window gets its terminal back.
            let edited = tokio::spawn(async move { host.edit_text(text).await }).await;
            let _ = back.send(Back::Edited(News::Prompt(edited.unwrap_or_else(|_| Err(BROKEN.to_owned())))));
        });
    }

    /// The same for the arguments of a call.
    pub(super) fn edit_call(&self, call: CallId, arguments: Value) {
        let (host, back) = (Arc::clone(&self.host), self.back.clone());
        tokio::spawn(async move {
            let edited = tokio::spawn(async move { host.edit_call(arguments).await }).await;
            let _ = back.send(Back::Edited(News::Call(call, edited.unwrap_or_else(|_| Err(BROKEN.to_owned())))));
        });
    }

    /// Asks for the person's own status line when something has changed, and not too often; whether it is to be
    /// looked at again soon.
    pub(super) fn ask_status(&mut self, app: &App) -> bool {
        if self.status.none || self.status.waits {
            return false;
        }
        let told = app.standing.told(app.agents.live());
        if told == self.status.told {
            return false;
        }
        if self.status.asked.is_some_and(|asked| asked.elapsed() < STATUS) {
            return true;
        }
        self.status = Status { told: told.clone(), asked: Some(Instant::now()), waits: true, none: false };
        let host = Arc::clone(&self.host);
        self.spawn(async move { News::Status(host.status(told).await) });
        false
    }

    /// The status line came; whoever has none is not asked again.
    pub(super) fn status_came(&mut self, line: Option<&String>) {
        self.status.waits = false;
        self.status.none = line.is_none();
    }

    fn run_shell(&mut self, command: String) {
        let host = Arc::clone(&self.host);
        let tell = self.teller();
        let printed: Printed = Arc::new(move |text| tell(News::Printed(text)));
        let back = self.back.clone();
        let task = tokio::spawn(async move {
            let ended = host.shell(command, printed).await;
            let _ = back.send(Back::News(News::ShellEnded(ended)));
        });
        self.shell = Some(task.abort_handle());
    }

    /// Dropping what runs kills it.
    pub(super) fn stop_shell(&mut self) {
        if let Some(shell) = self.shell.take() {
            shell.abort();
            let _ = self.back.send(Back::News(News::ShellEnded(Ok(None))));
        }
    }

    fn spawn(&self, errand: impl Future<Output = News> + Send + 'static) {
        let back = self.back.clone();
        tokio::spawn(async move {
            let _ = back.send(Back::News(errand.await));
        });
    }
}
