//! The gate that hooks stand at: who is asked at a moment, and what their words come to together.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, join_all};
use neco_agent::gate::{Gate, GateRuling, HookContext, HookDecision, HookPoint};
use neco_proto::SessionId;
use neco_proto::event::{HookEvent, HookOutcome, HookRun};
use neco_safety::world::Processes;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::hook::Hook;
use super::output::{self, Answer};
use super::run::{Order, Ran, Runner};
use super::{input, translate};

/// Characters of a command that stand for its hook.
const NAME: usize = 120;

/// What the hooks of a session are made of.
pub struct HooksSetup {
    /// The hooks that may run: the user's, and those of a repository that are trusted.
    pub hooks: Vec<Hook>,
    /// Starts their processes; not in a box.
    pub processes: Arc<dyn Processes>,
    /// The shell that runs their commands.
    pub shell: String,
    /// The session.
    pub session: SessionId,
    /// The workspace.
    pub cwd: PathBuf,
}

/// The hooks of a session.
pub struct Hooks(Arc<Standing>);

struct Standing {
    hooks: Vec<Hook>,
    runner: Runner,
    cwd: PathBuf,
    session: SessionId,
}

impl Hooks {
    /// The hooks of a session.
    pub fn new(setup: HooksSetup) -> Self {
        let HooksSetup { hooks, processes, shell, session, cwd } = setup;
        // A system without the shell that was asked for has another one.
        let shell = if processes.find_program(shell.as_ref()).is_some() { shell } else { "sh".to_owned() };
        let runner = Runner { processes, shell: shell.into() };
        Self(Arc::new(Standing { hooks, runner, cwd, session }))
    }
}

impl Gate for Hooks {
    fn attends(&self, event: HookEvent, tool: Option<&str>) -> bool {
        let fits = |hook: &Hook| tool.is_none_or(|tool| hook.matcher.fits_tool(tool));
        self.0.hooks.iter().any(|hook| hook.event == event && fits(hook))
    }

    fn ask(
        &self,
        moment: HookPoint,
        scene: HookContext,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, HookDecision> {
        let standing = Arc::clone(&self.0);
        Box::pin(async move { standing.ask(&moment, &scene, &cancel).await })
    }
}

impl Standing {
    async fn ask(&self, moment: &HookPoint, scene: &HookContext, cancel: &CancellationToken) -> HookDecision {
        let told = input::of(moment, scene, self.session, &self.cwd);
        let mut seen = BTreeSet::new();
        // The same command from two files says the same twice, unless it is about another folder.
        let asked = self
            .hooks
            .iter()
            .filter(|hook| fits(hook, moment) && seen.insert((&hook.command, self.order(hook).folder)));
        let answers = join_all(asked.map(|hook| self.answer(hook, moment, &told, cancel))).await;
        self.together(moment, answers)
    }

    async fn answer(
        &self,
        hook: &Hook,
        moment: &HookPoint,
        told: &Value,
        cancel: &CancellationToken,
    ) -> (HookRun, Answer) {
        let began = Instant::now();
        let limit = hook.limit();
        let answer = match untrusted(hook).await {
            Some(Untrusted::Never) => Answer::failed("it is not trusted".to_owned()),
            Some(Untrusted::Changed) => changed(moment),
            None => match self.runner.run(self.order(hook), &told_to(hook, moment, told), limit, cancel).await {
                Ran::Ended(exit, printed) => output::read(hook.event, exit, &printed),
                Ran::TimedOut => Answer { outcome: HookOutcome::TimedOut, ..Answer::failed(slow(limit)) },
                Ran::Cancelled => Answer { outcome: HookOutcome::Cancelled, ..Answer::passed() },
                Ran::NotStarted(error) => Answer::failed(error.to_string()),
            },
        };
        (run_of(hook, moment, &answer, began.elapsed()), answer)
    }

    /// A repository's hook is about its own folder, wherever in it is worked: what it names there is
    /// what was trusted.
    fn order<'a>(&'a self, hook: &'a Hook) -> Order<'a> {
        Order { command: &hook.command, folder: hook.origin.folder().unwrap_or(&self.cwd) }
    }

    /// The strictest word wins; what is added is added by everybody.
    fn together(&self, moment: &HookPoint, answers: Vec<(HookRun, Answer)>) -> HookDecision {
        // They ran at the same time, so each knows only the model's arguments; the last one counts.
        let words = answers.into_iter().map(|(run, answer)| self.word(moment, run, answer));
        words.fold(HookDecision::default(), HookDecision::with)
    }

    /// What one of them said.
    fn word(&self, moment: &HookPoint, run: HookRun, answer: Answer) -> HookDecision {
        // Who answers for the person changes what they say yes to, and nothing else.
        let may_change = !matches!(moment, HookPoint::Permission(_)) || answer.ruling == Some(GateRuling::Allow);
        let changed = answer.updated_input.zip(moment.call()).filter(|_| may_change).and_then(|(wanted, call)| {
            let arguments = translate::from_common(&call.tool, &wanted, &call.arguments, &self.cwd);
            (arguments != call.arguments).then_some(arguments)
        });
        let Answer { ruling, context, stop, .. } = answer;
        HookDecision { ruling, arguments: changed, context: context.into_iter().collect(), stop, runs: vec![run] }
    }
}

fn fits(hook: &Hook, moment: &HookPoint) -> bool {
    let here = match moment {
        HookPoint::BeforeCall(call) | HookPoint::Permission(call) | HookPoint::AfterCall { call, .. } => {
            hook.matcher.fits_tool(&call.tool)
        }
        HookPoint::SessionStart { resumed } => hook.matcher.fits_word(if *resumed { "resume" } else { "startup" }),
        HookPoint::SessionEnd => hook.matcher.fits_word("other"),
        HookPoint::Waiting { .. } => hook.matcher.fits_word("permission_prompt"),
        HookPoint::Compaction { asked, .. } => hook.matcher.fits_word(if *asked { "manual" } else { "auto" }),
        HookPoint::AgentStart(agent) | HookPoint::AgentStop { agent, .. } => hook.matcher.fits_word(&agent.role),
        HookPoint::Failure(failure) => {
            hook.matcher.fits_word(failure.what.name()) || hook.matcher.fits_word(&failure.code.to_string())
        }
        HookPoint::Prompt { .. } | HookPoint::Stop { .. } => true,
    };
    here && hook.event == moment.event()
}

/// What one hook is told: a tool by the name that its matcher knows it by.
fn told_to(hook: &Hook, moment: &HookPoint, told: &Value) -> Vec<u8> {
    let name = moment.call().and_then(|call| hook.matcher.name_of(&call.tool));
    match name {
        Some(name) => {
            let mut told = told.clone();
            told["tool_name"] = Value::from(name);
            told.to_string().into_bytes()
        }
        None => told.to_string().into_bytes(),
    }
}

/// Why a repository's hook does not run.
enum Untrusted {
    /// Nobody ever trusted it.
    Never,
    /// It is not what was trusted.
    Changed,
}

async fn untrusted(hook: &Hook) -> Option<Untrusted> {
    hook.origin.folder()?;
    let Some(trusted) = hook.trusted_as.clone() else { return Some(Untrusted::Never) };
    let hook = hook.clone();
    let now = tokio::task::spawn_blocking(move || hook.fingerprint()).await;
    let same = now.is_ok_and(|now| now.is_ok_and(|now| now.hash == trusted));
    (!same).then_some(Untrusted::Changed)
}

/// A hook that was changed does not run. One that guards calls leaves them to a person then: whoever can
/// change it must not be able to switch it off.
fn changed(moment: &HookPoint) -> Answer {
    let words =
        "it is new or was changed since it was trusted, so it does not run; `neco trust` or /trust shows it".to_owned();
    let asks =
        "a hook that guards this call is new or was changed since it was trusted; `neco trust` or /trust shows it";
    let ruling = matches!(moment, HookPoint::BeforeCall(_)).then(|| GateRuling::Ask(asks.to_owned()));
    Answer { ruling, ..Answer::failed(words) }
}

fn slow(limit: Duration) -> String {
    format!("killed after {} s", limit.as_secs_f32())
}

fn run_of(hook: &Hook, moment: &HookPoint, answer: &Answer, took: Duration) -> HookRun {
    let message_id = if let HookPoint::Prompt { message_id, .. } = moment { Some(*message_id) } else { None };
    HookRun {
        event: hook.event,
        hook: name_of(&hook.command),
        outcome: answer.outcome,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        message: answer.message.clone(),
        call_id: moment.call().map(|call| call.id.clone()),
        message_id,
    }
}

/// A command in one line.
fn name_of(command: &str) -> String {
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= NAME {
        return line;
    }
    let cut: String = line.chars().take(NAME - 1).collect();
    format!("{cut}…")
}
