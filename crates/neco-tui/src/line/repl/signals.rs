//! What signals stop, and what is said then.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeState};
use neco_proto::{Answer, Client, Command, Query};
use neco_view::short_id::short_id;
use tokio::sync::mpsc::Sender;

use crate::line::LoopEvent;
use crate::line::ask::tty::restore_terminal;
use crate::line::say::{note, out};
use crate::line::signals::{Signal, Signals};

/// How long a session may take to say whether anything was said in it, when the process is to end.
const SOON: Duration = Duration::from_millis(500);

/// What goes on now, for whoever hears signals.
#[derive(Clone)]
pub(super) struct Course {
    /// The session on the screen.
    pub client: Arc<dyn Client>,
    /// Who is told, while it works.
    pub work: Option<Sender<LoopEvent>>,
    /// Signals since it began.
    heard: u32,
    /// Whether a signal ends the waiting only, as there is no work of the root to stop.
    pub waits: bool,
}

impl Course {
    /// Nothing is done in this session, or what `work` is told of.
    pub fn of(client: &Arc<dyn Client>, work: Option<Sender<LoopEvent>>) -> Self {
        Self { client: Arc::clone(client), work, heard: 0, waits: false }
    }

    /// Something is waited for that is no work of the session, and `sender` is told to stop it.
    pub fn waiting(client: &Arc<dyn Client>, sender: Sender<LoopEvent>) -> Self {
        Self { waits: true, ..Self::of(client, Some(sender)) }
    }
}

/// Nobody who has it leaves it half changed.
pub(super) fn locked(course: &Mutex<Course>) -> MutexGuard<'_, Course> {
    course.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears signals: the first Ctrl-C while the agent works stops the work; one while only its agents do stops those; a
/// second one ends the process, as every other signal does.
/// The terminal gets back what `undone` says.
pub(super) async fn hear_signals(
    mut signals: Signals,
    course: Arc<Mutex<Course>>,
    quit: fn(Signal),
    undone: &'static str,
) {
    loop {
        let signal = signals.next().await;
        let Course { client, work, heard, waits } = {
            let mut course = locked(&course);
            course.heard += 1;
            course.clone()
        };
        match (signal, work) {
            (Signal::Interrupt, Some(sender)) if heard == 1 => {
                tokio::spawn(async move {
                    if !waits {
                        let _ = client.send(Command::Cancel).await;
                    }
                    let _ = sender.send(LoopEvent::Stopped(signal)).await;
                });
            }
            (Signal::Interrupt, None) if heard == 1 => match stop_agents(client.as_ref()).await {
                Some(words) => {
                    note(&words);
                    locked(&course).heard = 0;
                }
                None => note("Ctrl-C again leaves"),
            },
            (Signal::Interrupt | Signal::HangUp | Signal::Terminate, _) => {
                if signal == Signal::Interrupt {
                    // Another process may have the session open, and would go on.
                    let _ = tokio::time::timeout(SOON, client.send(Command::StopAll)).await;
                }
                // The terminal may be gone.
                let _ = out(&format!("{undone}\n"));
                last_words(client.as_ref()).await;
                quit(signal);
            }
        }
    }
}

/// Stops everything if an agent below the root works, and says so; nothing when none does.
pub(super) async fn stop_agents(client: &dyn Client) -> Option<String> {
    let Ok(Answer::Tree { nodes }) = client.ask(Query::Tree).await else { return None };
    let works = |node: &&AgentNode| node.parent.is_some() && node.state.is_live() && node.state != NodeState::Paused;
    let names: Vec<String> = nodes.iter().filter(works).map(|node| clean_line(&node.name)).collect();
    if names.is_empty() {
        return None;
    }
    Some(match client.send(Command::StopAll).await {
        Ok(_) => format!("paused: {}; /agents resume NAME resumes one", names.join(", ")),
        Err(error) => error.to_string(),
    })
}

/// How the session is gone on with, if anything was said in it. The terminal may be gone, and nobody waits for long.
async fn last_words(client: &dyn Client) {
    if let Ok(Ok(Some(id))) = tokio::time::timeout(SOON, client.said()).await {
        restore_terminal();
        let _ = out(&format!("Resume it with  neco resume {}\n", short_id(id)));
    }
}
