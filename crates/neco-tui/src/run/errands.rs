//! What takes time, each in a task of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use neco_proto::app::{App as Program, AppError, Trouble};
use neco_proto::{AgentId, Answer, BackgroundCommand, CallId, Client, ClientError, Query, QuestionId};
use serde_json::Value;
use tokio::sync::{Mutex, Notify, mpsc};

use super::opening::{Opening, Retold, open, past_of};
use super::shell::Running;
use super::{questions, session_orders};
use crate::app::WindowState;
use crate::custom_commands::{self, SaidByCommand};
use crate::host::{Host, ImageSource, Wanted};
use crate::outside;
use crate::update::{Effect, News};
use crate::view::told;

/// How often the person's own status line is asked for at most.
const STATUS: Duration = Duration::from_millis(300);

/// How often it is looked what still runs in the background.
const BACKGROUND: Duration = Duration::from_secs(1);

/// How long it is left alone after it failed.
const FAILED_STATUS: Duration = Duration::from_secs(10);

/// What is said of an editor that Neco could not use because of a defect of its own.
const BROKEN: &str = "The editor could not be used: a bug in Neco";

/// Why something was not done.
pub(super) const DEFECT: &str = "a bug in Neco";

/// What comes back from an errand.
pub(super) enum Back {
    /// News for the window, and the number of the session that was on the screen when they were asked for.
    News(u64, News),
    /// News from an editor, which had the terminal.
    Edited(News),
    /// A session, or why there is none.
    Opened(Box<Result<Opening, AppError>>),
    /// The person's command of this number printed something.
    Prints(u64),
    /// It is over.
    ShellEnded(u64, Result<Option<i32>, String>),
    /// A line of the command of the person's own with this number begins.
    LineBegins(u64, String),
    /// The command of this number, which was asked for while this session was on the screen, has been read.
    Custom(u64, u64, Result<SaidByCommand, AppError>),
}

pub(super) struct Errands {
    pub(super) host: Arc<dyn Host>,
    pub(super) program: Arc<dyn Program>,
    pub(super) back: mpsc::UnboundedSender<Back>,
    pub(super) shell: Option<Running>,
    /// The command of the person's own that is read, whose lines run.
    pub(super) custom: Option<Running>,
    /// How many commands the person ran.
    pub(super) shells: u64,
    status: Status,
    /// What entries of lists would do.
    previews: Arc<OneByOne>,
    /// What is done without asking.
    rules: Arc<OneByOne>,
    /// How often it was asked what runs in the background.
    background: Arc<AtomicU64>,
    /// Told when whoever goes into the background waits for nothing more; whoever goes there holds it.
    hurry: Option<Arc<Notify>>,
    /// The session on the screen, counted.
    pub(super) session: u64,
}

/// Questions of one kind: one is asked at a time, and of those that wait only the last, so that an older answer never
/// comes after a newer one.
#[derive(Default)]
struct OneByOne {
    turn: Mutex<()>,
    /// How many were wanted.
    asked: AtomicU64,
}

impl OneByOne {
    /// The number of the next one.
    fn number(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What the session says of the one with this number when its turn comes; nothing when another one is wanted by
    /// then.
    async fn ask(&self, number: u64, client: &dyn Client, query: Query) -> Option<Result<Answer, ClientError>> {
        let _turn = self.turn.lock().await;
        if self.asked.load(Ordering::Relaxed) != number {
            return None;
        }
        Some(client.ask(query).await)
    }
}

/// The person's own status line.
#[derive(Default)]
struct Status {
    told: Value,
    asked: Option<Instant>,
    waits: bool,
    /// Whether it could not be made the last time.
    failed: bool,
}

impl Errands {
    /// For this host and this program; what comes of them goes to `back`.
    pub(super) fn new(host: Arc<dyn Host>, program: Arc<dyn Program>, back: mpsc::UnboundedSender<Back>) -> Self {
        let (previews, rules, background) = (Arc::default(), Arc::default(), Arc::default());
        Self {
            host,
            program,
            back,
            shell: None,
            custom: None,
            shells: 0,
            status: Status::default(),
            previews,
            rules,
            background,
            hurry: None,
            session: 0,
        }
    }

    /// Whether what came back is for somebody else: a session that is no longer on the screen asked for it.
    pub(super) fn is_stale(&self, session: u64, news: &News) -> bool {
        session != self.session && news.is_of_session()
    }

    /// A way to tell news.
    pub(super) fn teller(&self) -> impl Fn(News) + Send + Sync + 'static {
        let (back, session) = (self.back.clone(), self.session);
        move |news| {
            // A window that is gone wants no news.
            let _ = back.send(Back::News(session, news));
        }
    }

    /// Opens a session; what happened in it is told `how`.
    pub(super) fn open(&self, wanted: Wanted, how: Retold) {
        let (host, program, back) = (Arc::clone(&self.host), Arc::clone(&self.program), self.back.clone());
        tokio::spawn(async move {
            let opened = tokio::spawn(open(host, program, wanted, how)).await;
            let defect = || AppError::new(Trouble::Failed, format!("The session could not be opened: {DEFECT}"));
            let opened = opened.unwrap_or_else(|_| Err(defect()));
            let _ = back.send(Back::Opened(Box::new(opened)));
        });
    }

    /// Reads what an agent did.
    pub(super) fn look(&self, client: Arc<dyn Client>, agent: AgentId) {
        let tell = self.teller();
        tokio::spawn(async move {
            if let Some((past, last)) = past_of(client.as_ref(), agent).await {
                tell(News::Looked(agent, past, last));
            }
        });
    }

    /// Reads what was said in a session that is chosen in a list; of those that wait only the last is read.
    fn look_into(&self, session: String) {
        let (tell, previews, program) = (self.teller(), Arc::clone(&self.previews), Arc::clone(&self.program));
        let number = previews.number();
        tokio::spawn(async move {
            let _turn = previews.turn.lock().await;
            if previews.asked.load(Ordering::Relaxed) == number {
                tell(News::LookedInto(session.clone(), questions::said_in(program.as_ref(), session).await));
            }
        });
    }

    /// Asks what runs in the background, and again every now and then while something does: nothing tells of its end.
    /// Whoever asks last goes on asking.
    fn watch_background(&self, client: &Arc<dyn Client>) {
        let (tell, asked, client) = (self.teller(), Arc::clone(&self.background), Arc::downgrade(client));
        let number = asked.fetch_add(1, Ordering::Relaxed) + 1;
        tokio::spawn(async move {
            while asked.load(Ordering::Relaxed) == number {
                // A session that is left is not kept open by this.
                let Some(session) = client.upgrade() else { return };
                let answer = session.ask(Query::Background).await;
                drop(session);
                let Ok(Answer::Background { commands }) = answer else { return };
                let runs = commands.iter().any(BackgroundCommand::runs);
                tell(News::Answered(Answer::Background { commands }));
                if !runs {
                    return;
                }
                tokio::time::sleep(BACKGROUND).await;
            }
        });
    }

    /// Finds out what the folder brings, for the first rows of the window.
    pub(super) fn look_at_project(&self) {
        let (host, program) = (Arc::clone(&self.host), Arc::clone(&self.program));
        self.spawn("the first rows", async move {
            let (uncommitted, knows) = questions::project(program.as_ref(), host.folder()).await;
            News::Project(uncommitted, knows)
        });
    }

    pub(super) fn ask(&self, client: Arc<dyn Client>, query: Query) {
        if query == Query::Background {
            return self.watch_background(&client);
        }
        let tell = self.teller();
        // A preview is a courtesy: what can't be told is not worth a word.
        let is_courtesy = matches!(query, Query::RewindPreview { .. } | Query::Tree | Query::Workflows | Query::Rules);
        let is_preview = matches!(query, Query::RewindPreview { .. } | Query::CheckpointPreview { .. });
        let one_by_one = match query == Query::Rules {
            true => Some(&self.rules),
            false => is_preview.then_some(&self.previews),
        };
        let numbered = one_by_one.map(|kind| (kind.number(), Arc::clone(kind)));
        tokio::spawn(async move {
            let answer = match numbered {
                Some((number, kind)) => kind.ask(number, client.as_ref(), query).await,
                None => Some(client.ask(query).await),
            };
            match answer {
                Some(Ok(answer)) => tell(News::Answered(answer)),
                Some(Err(error)) if !is_courtesy => tell(News::Unanswered(error)),
                Some(Err(_)) | None => {}
            }
        });
    }

    /// Runs an effect that needs the host, and neither the session nor the terminal.
    pub(super) fn run(&mut self, effect: Effect, client: Option<&Arc<dyn Client>>) {
        let (host, program) = (Arc::clone(&self.host), Arc::clone(&self.program));
        match effect {
            Effect::Files => {
                let (of_files, folder) = (Arc::clone(&program), host.folder());
                self.spawn("the names of files", async move {
                    News::Files(questions::files(of_files.as_ref(), folder).await)
                });
                self.spawn("the resources of MCP servers", async move {
                    News::Resources(questions::resources(program.as_ref(), host.folder()).await)
                });
            }
            Effect::Branch => self.spawn("the branch", async move {
                News::Branch(questions::branch(program.as_ref(), host.folder()).await)
            }),
            Effect::Commands(unknown) => self.spawn("your own commands", async move {
                News::Commands(custom_commands::all(program.as_ref(), host.as_ref()).await, unknown)
            }),
            Effect::Sessions => self.spawn("the sessions", async move {
                News::Sessions(questions::sessions(program.as_ref(), host.folder(), questions::SESSIONS, true).await)
            }),
            Effect::AllSessions => self.spawn("the sessions", async move {
                News::AllSessions(questions::all_sessions(program.as_ref(), &host.home()).await)
            }),
            Effect::LookInto(session) => self.look_into(session),
            Effect::ToSession(order, session) => self.spawn("the session", async move {
                News::SessionsChanged(session_orders::carry_out(program.as_ref(), host.folder(), order, session).await)
            }),
            Effect::Models => self.spawn("the models", async move {
                News::Models(questions::models(program.as_ref(), host.folder()).await)
            }),
            Effect::Providers => self.spawn("the providers", async move {
                News::Providers(questions::providers(program.as_ref(), host.folder()).await)
            }),
            Effect::LookForKey(provider) => self.spawn("the key", async move {
                News::LookedForKey(questions::look_for_key(program.as_ref(), host.folder(), provider).await)
            }),
            Effect::KeepKey(provider, key) => self.spawn("the key", async move {
                let kept = questions::keep_key(program.as_ref(), host.folder(), &provider, key).await;
                News::KeptKey(provider, kept)
            }),
            Effect::Settings => self.spawn("the settings", async move {
                News::Settings(questions::settings(program.as_ref(), host.folder()).await)
            }),
            Effect::Rules => {
                let client = client.map(Arc::clone);
                self.spawn("the rules", async move {
                    News::Rules(questions::rules(program.as_ref(), host.as_ref(), client.as_deref()).await)
                });
            }
            Effect::AddRule(rule) => self.spawn("the rule", async move {
                News::RuleChanged(questions::add_rule(program.as_ref(), host.as_ref(), rule).await)
            }),
            Effect::DropRule(id) => self.spawn("the rule", async move {
                News::RuleChanged(questions::drop_rule(program.as_ref(), host.as_ref(), id).await)
            }),
            Effect::Keep(note) => self.spawn("the note", async move {
                News::Kept(questions::keep(program.as_ref(), host.folder(), note).await)
            }),
            Effect::Custom(name, argument) => {
                self.run_custom(name, argument, client.map(Arc::clone));
            }
            Effect::Arguments(line) => self.spawn("what may follow", async move {
                let arguments = questions::arguments(program.as_ref(), host.as_ref(), &line).await;
                News::Arguments(line, arguments)
            }),
            Effect::Outside(what, argument) => {
                let Some(client) = client.map(Arc::clone) else { return };
                self.spawn("the command", async move {
                    let (program, host, client) = (program.as_ref(), host.as_ref(), client.as_ref());
                    News::Outside(outside::carry_out(program, host, client, what, &argument).await)
                });
            }
            Effect::Image(source) => self.spawn("the picture", async move {
                let otherwise = match &source {
                    ImageSource::File(path) => Some(path.clone()),
                    ImageSource::Clipboard => None,
                };
                News::Image(host.image(source).await.map_err(|error| error.words()), otherwise)
            }),
            Effect::Shell(command) => self.run_shell(command),
            Effect::Detach(now) => {
                let is_going = self.hurry.as_ref().is_some_and(|hurry| Arc::strong_count(hurry) > 1);
                if !is_going {
                    self.hurry = None;
                }
                let hurry = Arc::clone(self.hurry.get_or_insert_default());
                if now {
                    hurry.notify_one();
                }
                if !is_going {
                    self.spawn("going into the background", async move { News::Detached(host.detach(&hurry).await) });
                }
            }
            Effect::Remember(text) => host.remember(&text),
            Effect::Send(_)
            | Effect::Ask(_)
            | Effect::Open(_)
            | Effect::GoOn(_)
            | Effect::Look(_)
            | Effect::EditPrompt(_)
            | Effect::EditCall(..)
            | Effect::EditPlan(..)
            | Effect::EditFile(_)
            | Effect::Copy(_)
            | Effect::Notify(_)
            | Effect::StopShell
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
            let edited = tokio::spawn(async move { host.edit_text(text).await.map_err(|error| error.words()) }).await;
            let _ = back.send(Back::Edited(News::Prompt(edited.unwrap_or_else(|_| Err(BROKEN.to_owned())))));
        });
    }

    /// The same for a file.
    pub(super) fn edit_file(&self, file: String) {
        let (host, back) = (Arc::clone(&self.host), self.back.clone());
        tokio::spawn(async move {
            let edited = tokio::spawn(async move { host.edit_file(file).await.map_err(|error| error.words()) }).await;
            let _ = back.send(Back::Edited(News::FileEdited(edited.unwrap_or_else(|_| Err(BROKEN.to_owned())))));
        });
    }

    /// The same for a plan that waits.
    pub(super) fn edit_plan(&self, question: QuestionId, plan: String) {
        let (host, back) = (Arc::clone(&self.host), self.back.clone());
        tokio::spawn(async move {
            let edited = tokio::spawn(async move { host.edit_text(plan).await.map_err(|error| error.words()) }).await;
            let _ = back.send(Back::Edited(News::Plan(question, edited.unwrap_or_else(|_| Err(BROKEN.to_owned())))));
        });
    }

    /// The same for the arguments of a call.
    pub(super) fn edit_call(&self, call: CallId, tool: String, arguments: Value) {
        let (host, back) = (Arc::clone(&self.host), self.back.clone());
        tokio::spawn(async move {
            let edited =
                tokio::spawn(async move { host.edit_call(tool, arguments).await.map_err(|error| error.words()) }).await;
            let _ = back.send(Back::Edited(News::Call(call, edited.unwrap_or_else(|_| Err(BROKEN.to_owned())))));
        });
    }

    /// Asks for the person's own status line when something has changed, and not too often; whether it is to be
    /// looked at again soon.
    pub(super) fn ask_status(&mut self, app: &WindowState) -> bool {
        if self.status.waits || !self.host.has_status() {
            return false;
        }
        let told = told(app);
        if told == self.status.told {
            return false;
        }
        let pause = if self.status.failed { FAILED_STATUS } else { STATUS };
        if self.status.asked.is_some_and(|asked| asked.elapsed() < pause) {
            return !self.status.failed;
        }
        self.status = Status { told: told.clone(), asked: Some(Instant::now()), waits: true, failed: false };
        let host = Arc::clone(&self.host);
        self.spawn("the status line", async move {
            let made = tokio::spawn(async move { host.status(told).await }).await;
            News::Status(made.unwrap_or_default())
        });
        false
    }

    /// The status line came, or could not be made.
    pub(super) fn status_came(&mut self, line: Option<&String>) {
        self.status.waits = false;
        if line.is_none() {
            self.status.failed = true;
            self.status.told = Value::Null;
        }
    }

    /// Does `what` in a task; a defect in it is told.
    fn spawn(&self, what: &'static str, errand: impl Future<Output = News> + Send + 'static) {
        let tell = self.teller();
        tokio::spawn(async move {
            let done = tokio::spawn(errand).await;
            tell(done.unwrap_or(News::Broken(what)));
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::{BoxFuture, join_all};
    use neco_proto::{Actor, Command, EventStream, Receipt};

    use super::*;

    /// Takes a while to answer, and notes what it was asked.
    #[derive(Default)]
    struct Slow(std::sync::Mutex<Vec<Query>>);

    impl Client for Slow {
        fn send_as(&self, _: Actor, _: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
            async { Err(ClientError::Gone) }.boxed()
        }

        fn events(&self, _since: u64) -> EventStream {
            futures::StreamExt::boxed(futures::stream::pending())
        }

        fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            self.0.lock().unwrap().push(query);
            async {
                tokio::task::yield_now().await;
                Ok(Answer::RewindPoints { points: Vec::new() })
            }
            .boxed()
        }
    }

    #[tokio::test]
    async fn of_the_previews_that_wait_only_the_last_is_asked_for() {
        let (previews, client) = (OneByOne::default(), Slow::default());
        let query = |number: u64| Query::CheckpointPreview { rev: number.to_string() };
        let first = previews.ask(previews.number(), &client, query(1));
        futures::pin_mut!(first);
        assert!(futures::poll!(first.as_mut()).is_pending(), "it is being answered");
        let rest: Vec<u64> = (0..4).map(|_| previews.number()).collect();
        let rest = join_all(rest.into_iter().map(|number| previews.ask(number, &client, query(number))));
        let (first, rest) = futures::join!(first, rest);
        assert!(first.is_some() && rest.iter().filter(|answer| answer.is_some()).count() == 1);
        assert_eq!(*client.0.lock().unwrap(), [query(1), query(5)]);
    }
}
