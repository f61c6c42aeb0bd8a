//! The skills of an agent that are in use: what they say enters the conversation, and until the request ends they narrow
//! what is called, choose the model and plug hooks in.

use std::path::PathBuf;
use std::sync::Arc;

use neco_model::Provider;
use neco_proto::event::{SkillCause, SkillUsed};
use neco_proto::{EventBody, Message};
use neco_safety::Policy;
use neco_safety::policy::Within;
use neco_safety::secrets::Scope;
use neco_toolkit::ToolError;

use super::conversation::Conversation;
use super::gated::AtGate;
use super::model::Model;
use super::reports::Reports;
use crate::gate::{BothGates, Gate};
use crate::ports::SinkError;
use crate::scheduler::Scheduler;
use crate::skills::{InUse, OpenedSkill, SKILL, SkillModels, SkillShelf, SkillWish, SkillsUsed};

/// Skills that one message calls up by its words, and that it names.
const MOST_BY_WORDS: usize = 2;
pub(super) const MOST_NAMED: usize = 5;

/// Bytes of all that is told again of skills when the conversation is made shorter, and per cent of the window.
const MOST_KEPT: usize = 64 * 1024;
const SHARE_KEPT: u64 = 15;

/// The skills of an agent.
pub(super) struct SkillsInUse {
    shelf: Option<Arc<dyn SkillShelf>>,
    models: Option<SkillModels>,
    /// The gate without what skills plug in.
    gate: Arc<dyn Gate>,
    /// Those that were used in the conversation, oldest first, with what the model was told; nothing of those that an
    /// earlier run used and that were not read since.
    used: Vec<(String, Option<String>)>,
    /// Those that the agent is to be told before it begins.
    given: Vec<String>,
    /// Those of the present request.
    active: Vec<OpenedSkill>,
    /// Those of the request that an earlier run left undone; they are in use again when they have been read.
    undone: Vec<String>,
    /// Whether the request ended without being done: what is asked next may be that it goes on.
    is_stopped: bool,
    /// The same for whoever starts another agent.
    pub(super) in_use: InUse,
    /// The model that is asked when the request ends.
    model: Option<Arc<dyn Provider>>,
    /// Whether the person chose the model meanwhile: then it stays, whatever skills name.
    has_chosen_model: bool,
}

impl SkillsInUse {
    pub(super) fn new(
        shelf: Option<Arc<dyn SkillShelf>>,
        models: Option<SkillModels>,
        gate: Arc<dyn Gate>,
        (given, used): (Vec<String>, SkillsUsed),
    ) -> Self {
        let given = given.into_iter().filter(|name| !used.names.contains(name)).collect();
        Self {
            shelf,
            models,
            gate,
            used: used.names.into_iter().map(|name| (name, None)).collect(),
            given,
            active: Vec::new(),
            is_stopped: !used.in_use.is_empty(),
            undone: used.in_use,
            in_use: InUse::default(),
            model: None,
            has_chosen_model: false,
        }
    }

    /// Other skills and another gate hold from now on; those in use stay so.
    pub(super) fn renew(&mut self, shelf: Option<Arc<dyn SkillShelf>>, gate: Arc<dyn Gate>) {
        (self.shelf, self.gate) = (shelf, gate);
    }

    /// The person chose another model: it stays when the request ends.
    pub(super) fn leave_model(&mut self) {
        self.model = None;
        self.has_chosen_model = true;
    }

    /// The model that a skill or a command names, unless the person chose one.
    fn model(&self, wanted: &str) -> Option<Arc<dyn Provider>> {
        self.models.as_ref().filter(|_| !self.has_chosen_model).and_then(|models| models(wanted))
    }

    /// What a model with this window is told again when the conversation is made shorter: the skills that were used
    /// last, as far as there is room.
    pub(super) fn standing(&self, window: Option<u64>) -> Option<String> {
        // A token has some four bytes.
        let room = window.map_or(MOST_KEPT, |tokens| {
            usize::try_from(tokens.saturating_mul(4) / 100 * SHARE_KEPT).unwrap_or(MOST_KEPT).min(MOST_KEPT)
        });
        let mut texts: Vec<&str> = Vec::new();
        let mut bytes = 0;
        for text in self.used.iter().rev().filter_map(|(_, text)| text.as_deref()) {
            bytes += text.len();
            if bytes > room {
                break;
            }
            texts.push(text);
        }
        texts.reverse();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    fn is_used(&self, name: &str) -> bool {
        self.used.iter().any(|(used, _)| used == name)
    }

    async fn open(&self, wish: SkillWish, cause: SkillCause) -> Result<OpenedSkill, ToolError> {
        match &self.shelf {
            Some(shelf) => shelf.open(wish, cause).await,
            None => Err(ToolError::failed("there are no skills here")),
        }
    }

    /// The gate with what the skills in use plug in.
    fn whole_gate(&self) -> Arc<dyn Gate> {
        let theirs = self.active.iter().filter_map(|skill| skill.gate.clone());
        theirs.fold(Arc::clone(&self.gate), |one, other| Arc::new(BothGates(one, other)))
    }

    /// What each skill in use leaves of what may be called; nothing of those that do not say it.
    fn within(&self, policy: &Policy) -> Vec<Within> {
        let readable: Vec<PathBuf> = self.active.iter().map(|skill| skill.folder.clone()).collect();
        let limit = |skill: &OpenedSkill| {
            let tools = skill.allowed_tools.clone()?;
            Some(Within::new(skill.name.clone(), tools, readable.clone(), policy.place()))
        };
        self.active.iter().filter_map(limit).collect()
    }
}

/// The parts of an agent that a skill has to do with.
pub(super) struct Skilling<'a> {
    pub(super) skills: &'a mut SkillsInUse,
    pub(super) scheduler: &'a mut Scheduler,
    pub(super) gate: &'a mut AtGate,
    pub(super) model: &'a mut Model,
    pub(super) conversation: &'a mut Conversation,
    pub(super) reports: &'a Reports,
}

impl Skilling<'_> {
    /// Brings in the skills that a person names in what they wrote, and those whose words stand in it. What a program
    /// hands in names none, as nobody typed it.
    pub(super) async fn hear(&mut self, written: &str, is_person: bool) -> Result<(), SinkError> {
        let Some(shelf) = self.skills.shelf.clone() else { return Ok(()) };
        let named = if is_person { shelf.named_in(written) } else { Vec::new() };
        let named: Vec<SkillWish> = named.into_iter().take(MOST_NAMED).collect();
        for wish in &named {
            self.bring(wish.clone(), SkillCause::Person).await?;
        }
        if !self.scheduler.registry().has(SKILL) {
            return Ok(());
        }
        let fitting = shelf.fitting(written).into_iter();
        let new =
            fitting.filter(|wish| !self.skills.is_used(&wish.name) && !named.iter().any(|one| one.name == wish.name));
        for wish in new.take(MOST_BY_WORDS).collect::<Vec<_>>() {
            self.bring(wish, SkillCause::Words).await?;
        }
        Ok(())
    }

    /// A skill enters the conversation in a message of its own.
    async fn bring(&mut self, wish: SkillWish, cause: SkillCause) -> Result<(), SinkError> {
        let name = wish.name.clone();
        match self.enter(wish, cause).await? {
            Ok(text) => self.conversation.admit(Message::neco(text), self.reports).await,
            // Whoever did not ask for it does not miss it.
            Err(_) if cause == SkillCause::Words => Ok(()),
            Err(error) => self.reports.warn(&format!("The skill {name} can't be used: {}", error.message)).await,
        }
    }

    /// The one way in, whoever wants a skill: gives what the model is told. One that is done by an agent of its own is
    /// called for that.
    pub(super) async fn enter(
        &mut self,
        wish: SkillWish,
        cause: SkillCause,
    ) -> Result<Result<String, ToolError>, SinkError> {
        let arguments = wish.arguments.clone();
        // What the person asked for the model may call.
        let is_asked = cause == SkillCause::Model && self.skills.in_use.was_asked_for(&wish.name);
        let skill = match self.skills.open(wish, if is_asked { SkillCause::Person } else { cause }).await {
            Ok(skill) => skill,
            Err(error) => return Ok(Err(error)),
        };
        if cause == SkillCause::Person {
            self.skills.in_use.ask_for(&skill.name);
        }
        if skill.agent.is_some() {
            let wants = serde_json::json!({ "name": skill.name, "arguments": arguments });
            return Ok(Ok(format!(
                "The skill {} is done by an agent of its own: call {SKILL} with {wants}.",
                skill.name
            )));
        }
        self.begin(skill, cause).await.map(Ok)
    }

    /// A skill is in use from now on; gives what the model is told.
    async fn begin(&mut self, mut skill: OpenedSkill, cause: SkillCause) -> Result<String, SinkError> {
        // Nobody asked for it: it says what it knows, and decides about nothing.
        if cause == SkillCause::Words {
            (skill.allowed_tools, skill.model, skill.gate) = (None, None, None);
        }
        let text = self.note(&skill, cause).await?;
        self.ask_model_of(&skill).await?;
        self.skills.active.retain(|active| active.name != skill.name);
        self.skills.active.push(skill);
        self.hold();
        Ok(text)
    }

    /// Takes note that the model is told a skill; gives what it is told.
    async fn note(&mut self, skill: &OpenedSkill, cause: SkillCause) -> Result<String, SinkError> {
        let used = SkillUsed { name: skill.name.clone(), file: skill.file.clone(), cause };
        self.reports.commit_apart(EventBody::SkillUsed(used)).await?;
        let text = self.told(skill);
        self.skills.used.retain(|(name, _)| *name != skill.name);
        self.skills.used.push((skill.name.clone(), Some(text.clone())));
        Ok(text)
    }

    /// What a skill says, without secrets: it is a file, and nobody typed it.
    fn told(&self, skill: &OpenedSkill) -> String {
        self.scheduler.redactor().redact(&skill.text, Scope::Outside).into_owned()
    }

    async fn ask_model_of(&mut self, skill: &OpenedSkill) -> Result<(), SinkError> {
        let Some(wanted) = &skill.model else { return Ok(()) };
        let Some(provider) = self.skills.model(wanted) else { return Ok(()) };
        self.ask(provider, &format!("The skill {}", skill.name)).await
    }

    /// The model that a command of the person's own names is asked until the request ends.
    pub(super) async fn ask_model_of_command(&mut self, wanted: &str) -> Result<(), SinkError> {
        match self.skills.model(wanted) {
            Some(provider) => self.ask(provider, "Your command").await,
            None => {
                let words = format!(
                    "Your command names the model {wanted}, which can't be asked here, or you chose another one for this \
                     session: {} is asked",
                    self.model.label()
                );
                self.reports.inform(&words).await
            }
        }
    }

    /// Another model is asked until the request ends.
    async fn ask(&mut self, provider: Arc<dyn Provider>, who: &str) -> Result<(), SinkError> {
        if provider.label() == self.model.label() {
            return Ok(());
        }
        let words = format!("{who} asks {} until this request is done", provider.label());
        let before = std::mem::replace(&mut self.model.provider, provider);
        self.skills.model.get_or_insert(before);
        self.reports.inform(&words).await
    }

    /// Tells the agent what it is to know before it begins; what skills of an earlier run said is read again, so that it
    /// lasts when the conversation is made shorter.
    pub(super) async fn recall(&mut self) -> Result<(), SinkError> {
        for name in std::mem::take(&mut self.skills.given) {
            let wish = SkillWish::new(name, String::new());
            match self.skills.open(wish, SkillCause::Definition).await {
                Ok(skill) => {
                    let text = self.note(&skill, SkillCause::Definition).await?;
                    self.conversation.admit(Message::neco(text), self.reports).await?;
                }
                Err(error) => self.reports.warn(&format!("The agent goes without a skill: {}", error.message)).await?,
            }
        }
        let lost = self.skills.used.iter().filter(|(_, text)| text.is_none());
        for name in lost.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            let opened = self.skills.open(SkillWish::new(name.clone(), String::new()), SkillCause::Definition).await;
            // It is gone, or not what was trusted.
            let Ok(skill) = opened else {
                self.skills.used.retain(|(used, _)| *used != name);
                continue;
            };
            let text = self.told(&skill);
            if let Some(used) = self.skills.used.iter_mut().find(|(used, _)| *used == name) {
                used.1 = Some(text);
            }
            if self.skills.undone.contains(&name) {
                self.skills.active.push(skill);
            }
        }
        if !std::mem::take(&mut self.skills.undone).is_empty() {
            self.hold();
        }
        Ok(())
    }

    /// The limits and hooks of the skills in use hold.
    pub(super) fn hold(&mut self) {
        let within = self.skills.within(self.scheduler.policy());
        self.scheduler.policy_mut().keep_within(within);
        self.skills.in_use.hold(self.skills.active.iter().map(OpenedSkill::limit).collect());
        let gate = self.skills.whole_gate();
        self.scheduler.set_gate(Arc::clone(&gate));
        self.gate.set_gate(gate);
    }

    /// The request was stopped, or failed: it may go on, and until then nothing that holds for it is given up.
    pub(super) fn stop(&mut self) {
        self.skills.is_stopped = true;
    }

    /// Something is asked: what was in use for a request that was stopped is not for another one.
    pub(super) fn go_on(&mut self, is_same: bool) {
        if std::mem::take(&mut self.skills.is_stopped) && !is_same {
            self.end();
        }
    }

    /// The request is done: no skill is in use any more.
    pub(super) fn end(&mut self) {
        self.skills.undone.clear();
        if let Some(model) = self.skills.model.take() {
            self.model.provider = model;
        }
        if !self.skills.active.is_empty() {
            self.skills.active.clear();
            self.hold();
        }
        self.skills.in_use.end();
    }
}
