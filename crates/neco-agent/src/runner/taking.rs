//! What comes in: from people and other agents, from tools, and from the gate.

use std::collections::BTreeSet;
use std::sync::Arc;

use neco_proto::event::{
    Admission, CompactionCause, HookEvent, ModeChange, Notification, NotificationLevel, NotificationTopic, SkillCause,
};
use neco_proto::{Actor, CallId, EventBody, Message, Part, QuestionId, QuestionItem, Reply, RuleSource, Subject};
use neco_safety::Who;
use neco_safety::policy::Telling;
use neco_toolkit::{Intent, Picture, ToolError};

use super::agent::Agent;
use super::compaction::{Asked, NOTHING_TO_COMPACT};
use super::gated::{EndRuling, MOST_HELD, Passed};
use super::inputs::{AgentInput, InputError, Mail};
use super::planning::Proposed;
use super::questions::Asker;
use super::retrying;
use super::skilled::MOST_NAMED;
use crate::gate::{GateRuling, HookDecision};
use crate::machine::{AnswerKind, End, Input, Stamp};
use crate::plan::answer_text;
use crate::ports::SinkError;
use crate::scheduler::{AskedByCall, Fulfilled, Progress};
use crate::skills::{ALL_SKILLS, SkillWish, all_lines};

impl Agent {
    /// Takes up what was edited since the last turn.
    pub(super) async fn renew(&mut self) -> Result<(), SinkError> {
        let Some(renewal) = self.renewal.clone() else { return Ok(()) };
        let Some(mut new) = renewal.renew().await? else { return Ok(()) };
        let granted = self.scheduler.policy().rules().iter();
        let granted: Vec<_> =
            granted.filter(|rule| rule.source == RuleSource::Session && !rule.kept).cloned().collect();
        // As they were added: the newest one is looked at first.
        granted.into_iter().rev().for_each(|rule| new.policy.add(rule));
        self.scheduler.renew(new.policy, new.world, Arc::clone(&new.gate), new.limits);
        self.gate.set_gate(Arc::clone(&new.gate));
        self.context.set_skills(new.skills.as_ref());
        self.skills.renew(new.skills, new.gate);
        self.skilling().hold();
        self.reports.keep_failures(self.gate.attends(HookEvent::Error));
        self.context.renew(new.prompts, new.sources);
        self.conversation.touched.look_with(new.folder_rules);
        self.conversation.pieces.files = new.request_files;
        (self.terms.settings.confinement, self.terms.settings.network) = (new.confinement, new.network);
        if let Some(registry) = new.registry {
            self.tools.replace(registry);
        }
        Ok(())
    }

    pub(super) async fn take_mail(&mut self, Mail { input, by, reply }: Mail) -> Result<(), SinkError> {
        let result = self.take(input, by).await;
        let failed = match &result {
            Err(InputError::Sink(error)) => Err(error.clone()),
            Ok(()) | Err(InputError::Gone | InputError::Refused(_) | InputError::Call(_) | InputError::Reply(_)) => {
                Ok(())
            }
        };
        // The sender may have given up waiting; what it asked for is done all the same.
        let _ = reply.send(result);
        failed
    }

    async fn take(&mut self, input: AgentInput, by: Option<Actor>) -> Result<(), InputError> {
        match input {
            AgentInput::Message { message, admission } => {
                self.check_pictures(&message)?;
                self.hear(message, admission).await?;
            }
            AgentInput::Withdraw(ids) => self.inbox.withdraw(&ids, &self.reports).await?,
            AgentInput::Tell(text) if self.machine.busy() => {
                self.inbox.hear_letter(Message::neco(text), false, None);
            }
            AgentInput::Tell(text) => self.admit_neco(&text).await?,
            AgentInput::Retry(call_id) => retrying::retry(self, &call_id).await?,
            AgentInput::KeptRules(rules) => self.scheduler.policy_mut().renew_kept(rules),
            AgentInput::Approve { call_id, decision } => {
                let records = self.scheduler.decide(&call_id, decision, by)?;
                self.record(records).await?;
                self.calls_moved().await?;
            }
            AgentInput::Answer { question_id, reply } => self.take_reply(question_id, reply, by).await?,
            AgentInput::Background(call_id) => self.scheduler.background(&call_id)?,
            AgentInput::Cancel if self.machine.busy() => {
                self.stopped_by = by;
                self.on(Input::Cancel).await?;
            }
            AgentInput::Cancel => {
                // Nobody below it is a reason to begin: that takes the person.
                self.inbox.wakeable = false;
                if self.room.drop_compaction() {
                    self.reports.not_compacted("it was cancelled").await?;
                }
                self.leave_gate().await?;
            }
            AgentInput::Letter { message, wakes, replaces } => {
                self.inbox.hear_letter(message, wakes, replaces);
                if self.inbox.wakes() && !self.machine.busy() {
                    self.begin().await?;
                }
            }
            AgentInput::Hold(halt) => self.on(Input::Hold(halt)).await?,
            AgentInput::Release => self.on(Input::Release).await?,
            AgentInput::AtBoundary(reply) => drop(reply.send(self.is_at_boundary())),
            AgentInput::HandOver => self.hands_over = true,
            AgentInput::Finish => self.on(Input::Halt(End::DONE)).await?,
            AgentInput::OthersUsed(usage) => {
                self.accounts.session_usage += usage;
                self.check_budget();
            }
            AgentInput::KeepTools(names) => {
                self.context.forget();
                if let Some(registry) = self.tools.keep(names, self.machine.busy()) {
                    self.scheduler.set_registry(registry);
                }
            }
            AgentInput::SetBudget(budget) => self.accounts.budget = budget,
            AgentInput::Compact { focus } => self.compact_as_asked(Asked { focus, by }).await?,
            AgentInput::SetIdeContext(open) => self.conversation.editor.set(open),
            // Who asked may have given up waiting.
            AgentInput::Report(reply) => {
                self.fit_unless_busy().await?;
                drop(reply.send(self.briefing().context_report()));
            }
            AgentInput::Prompt(reply) => {
                self.fit_unless_busy().await?;
                drop(reply.send(self.briefing().prompt_report()));
            }
            AgentInput::Rules(reply) => drop(reply.send(self.terms.rules(self.scheduler.policy()))),
            AgentInput::SetMode(mode) => {
                self.terms.settings.mode = mode;
                self.planning.left = None;
                self.change_mode(ModeChange { mode: Some(mode), by, ..ModeChange::default() }).await?;
            }
            AgentInput::SetGeneration(generation) => {
                if let Some(registry) = self.tools.set_level(generation, self.machine.busy()) {
                    self.scheduler.set_registry(registry);
                }
                self.change_mode(ModeChange { generation: Some(generation.number()), by, ..ModeChange::default() })
                    .await?;
            }
            AgentInput::SetApproval(approval) => {
                self.terms.settings.approval = approval;
                self.change_mode(ModeChange { approval: Some(approval), by, ..ModeChange::default() }).await?;
            }
            AgentInput::SetModel(provider) => {
                self.skills.leave_model();
                self.model.provider = provider;
                let model = Some(self.model.label().to_owned());
                self.change_mode(ModeChange { model, by, ..ModeChange::default() }).await?;
            }
        }
        Ok(())
    }

    /// Who looks at what the next turn would be made of sees the tools that it would have.
    async fn fit_unless_busy(&mut self) -> Result<(), SinkError> {
        if self.machine.busy() { Ok(()) } else { self.fit_to_window().await }
    }

    /// Nobody should wait for an answer about a picture that was never sent.
    fn check_pictures(&self, message: &Message) -> Result<(), InputError> {
        let unseen = message.parts.iter().find_map(|part| match part {
            Part::Image { media_type, .. } => Some(media_type).filter(|kind| !self.model.provider.sees(kind)),
            Part::Text { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
        });
        let Some(media_type) = unseen else { return Ok(()) };
        let model = self.model.provider.label();
        // One form may be all that it lacks.
        let what = if self.model.provider.sees("image/png") { media_type } else { "pictures" };
        let (whose, hint) = if model.contains('/') {
            (model.to_owned(), format!("; if it does, set vision = true in [models.\"{model}\"]"))
        } else {
            (format!("no model of the group {model}"), String::new())
        };
        let does = if hint.is_empty() { "sees" } else { "does not see" };
        Err(InputError::Refused(format!(
            "{whose} {does} {what}, as far as is known: ask one that does with --model{hint}"
        )))
    }

    async fn hear(&mut self, message: Message, admission: Admission) -> Result<(), SinkError> {
        if self.machine.busy() {
            return self.inbox.queue(admission, message, &self.reports).await;
        }
        if self.holds_messages().await? {
            self.inbox.queue(Admission::TurnBoundary, message, &self.reports).await?;
            self.inbox.hurry();
            return self.begin().await;
        }
        // What was said before this and never got its turn comes first.
        self.admit_letters().await?;
        for earlier in self.inbox.take_all() {
            self.admit_said(earlier).await?;
        }
        self.admit_said(message).await?;
        // Nothing comes between this and the turn.
        self.renewed = true;
        let begun = self.begin().await;
        self.renewed = false;
        begun
    }

    /// Whether what the person says has to wait for the gate, as its files are now.
    async fn holds_messages(&mut self) -> Result<bool, SinkError> {
        self.renew().await?;
        Ok(self.gate.holds_messages())
    }

    /// What was said meanwhile is the next thing to do; says whether there is anything.
    pub(super) async fn admit_queued(&mut self) -> Result<bool, SinkError> {
        let Some(message) = self.inbox.take_first() else { return Ok(self.inbox.wakes()) };
        if self.holds_messages().await? {
            self.inbox.put_back(vec![message]);
        } else {
            self.admit_said(message).await?;
        }
        Ok(true)
    }

    pub(super) async fn admit_letters(&mut self) -> Result<(), SinkError> {
        for message in self.inbox.take_letters() {
            self.conversation.admit(message, &self.reports).await?;
        }
        Ok(())
    }

    /// What the person said enters the conversation, and after it pieces of files that fit it.
    pub(super) async fn admit_said(&mut self, message: Message) -> Result<(), SinkError> {
        let request = if message.is_neco() { String::new() } else { message.said() };
        let wants = message.wants.clone();
        let is_person = message.by.as_ref().is_none_or(Actor::is_person);
        self.skilling().go_on(message.is_neco() || message.asks_to_go_on());
        let redactor = self.scheduler.redactor();
        self.conversation.admit_said(message, &redactor, &self.reports).await?;
        // It holds until the request ends that it is part of.
        self.scheduler.policy_mut().lend(&wants.allow);
        if let Some(model) = &wants.model {
            self.skilling().ask_model_of_command(model).await?;
        }
        if *self.terms.role == *Who::ROOT && !request.is_empty() {
            self.skilling().hear(&request, is_person).await?;
        }
        self.model.provider.ready().await;
        let Some(room) = self.room.space(&self.model).request_files() else { return Ok(()) };
        // Who can't read files is not read to.
        if !self.tools.registry().has(Telling::READS) {
            return Ok(());
        }
        let telling = self.scheduler.policy().telling_as_read();
        let told = self.conversation.pieces.find(&request, telling, room, self.model.family(), &redactor).await;
        let Some((text, pieces)) = told else { return Ok(()) };
        self.conversation.give_pieces(text, pieces, self.model.family(), &self.reports).await
    }

    /// What Neco itself says enters the conversation.
    pub(super) async fn admit_neco(&mut self, text: &str) -> Result<(), SinkError> {
        self.conversation.admit(Message::neco(text), &self.reports).await
    }

    async fn change_mode(&mut self, change: ModeChange) -> Result<(), SinkError> {
        self.reports.commit_apart(EventBody::ModeChange(change)).await
    }

    /// Makes the conversation shorter because the person asks for it.
    /// Fails when there is nothing to make shorter.
    async fn compact_as_asked(&mut self, mut asked: Asked) -> Result<(), InputError> {
        asked.focus = asked.focus.filter(|focus| !focus.trim().is_empty());
        if self.room.is_compacting() {
            return Err(InputError::Refused("the conversation is being compacted already".to_owned()));
        }
        if self.accounts.reached().is_some() {
            return Err(InputError::Refused("the budget is used up".to_owned()));
        }
        if self.machine.busy() {
            self.room.ask_later(asked);
            return Ok(());
        }
        let (room, mut talk) = self.talk();
        if !room.can_compact(&talk) {
            return Err(InputError::Refused(NOTHING_TO_COMPACT.to_owned()));
        }
        let text = "The conversation is being compacted".to_owned();
        let begins = Notification::new(NotificationLevel::Info, text).about(NotificationTopic::CompactionBegins);
        talk.reports.notify(begins).await?;
        room.compact(CompactionCause::Asked, asked, None, &mut talk).await?;
        Ok(())
    }

    /// Takes the person's answer to a question.
    async fn take_reply(&mut self, id: QuestionId, reply: Reply, by: Option<Actor>) -> Result<(), InputError> {
        let (asker, subject) = self.questions.answer(id, &reply, by.clone(), &self.reports).await?;
        match (asker, subject) {
            (Asker::Call(call_id), subject) => Ok(self.answer_call(&call_id, subject, (reply, by)).await?),
            (Asker::Running(_, answer), subject) => {
                // A form that was not answered to its end is not handed in.
                let is_whole = |count: usize| matches!(&subject, Subject::Choices { items } if items.len() == count);
                let answers = match reply {
                    Reply::Choices { answers } if is_whole(answers.len()) => Some(answers),
                    _ => None,
                };
                // A call that ended meanwhile waits for nothing.
                let _ = answer.send(answers);
                Ok(())
            }
            (Asker::Turn(stamp), Subject::Loop { text }) => Ok(self.after_loop(stamp, &text, (reply, by)).await?),
            (Asker::Turn(_), Subject::Choices { .. } | Subject::Plan { .. }) => Ok(()),
        }
    }

    async fn answer_call(
        &mut self,
        call_id: &CallId,
        subject: Subject,
        (reply, by): (Reply, Option<Actor>),
    ) -> Result<(), SinkError> {
        let fulfilled = match (subject, reply) {
            (Subject::Choices { items }, Reply::Choices { answers }) => Fulfilled::Done(answer_text(&items, &answers)),
            (Subject::Plan { plan }, reply) => {
                let decided = self.planning.decide(&plan, (reply, by), &mut self.terms, &self.reports).await?;
                if decided.stops {
                    self.on(Input::Halt(End::STOPPED)).await?;
                }
                decided.fulfilled
            }
            (Subject::Choices { .. } | Subject::Loop { .. }, _) => Fulfilled::Done(
                "The user does not want to answer. Decide yourself and say what you assumed.".to_owned(),
            ),
        };
        let records = self.scheduler.answer(call_id, fulfilled);
        self.record(records).await?;
        self.calls_moved().await
    }

    /// The agent repeated itself and the person decided.
    async fn after_loop(
        &mut self,
        stamp: Stamp,
        text: &str,
        (reply, by): (Reply, Option<Actor>),
    ) -> Result<(), SinkError> {
        let Reply::GoOn { comments } = reply else {
            self.reports.looped(text).await?;
            return self.on(Input::Blocked { stamp, end: End::LOOP }).await;
        };
        if let Some(comments) = comments.filter(|comments| !comments.trim().is_empty()) {
            let message = Message { by, ..Message::user(comments) };
            if self.gate.holds_messages() {
                // It goes through the gate like everything that the person says.
                self.inbox.queue(Admission::TurnBoundary, message, &self.reports).await?;
            } else {
                self.admit_said(message).await?;
            }
        }
        self.on(Input::GoesOn { stamp }).await
    }

    /// Does what a call wants that has just run.
    pub(super) async fn fulfil(&mut self, progress: &mut Progress) -> Result<(), SinkError> {
        let Some((call_id, intents)) = self.scheduler.intents(progress) else { return Ok(()) };
        for intent in intents {
            let fulfilled = match intent {
                Intent::WriteTodos(change) => match self.planning.book.write_todos(&change) {
                    Ok((events, notes)) => {
                        self.reports.commit_all(events).await?;
                        let notes = notes.iter().map(|note| format!("\n[note: {note}]"));
                        Fulfilled::Done(self.planning.book.list_text() + &notes.collect::<String>())
                    }
                    Err(error) => Fulfilled::Failed(error),
                },
                Intent::NoteFindings(findings) => {
                    let events = self.planning.book.note(&findings);
                    self.reports.commit_all(events).await?;
                    Fulfilled::Done(format!("{} findings are kept.", self.planning.book.findings().len()))
                }
                Intent::LookUpTools(names) => self.look_up(names).await?,
                Intent::UseSkill { name, arguments } => {
                    let wish = SkillWish::new(name, arguments);
                    fulfilled(self.skilling().enter(wish, SkillCause::Model).await?)
                }
                Intent::AskPerson(items) => self.ask_person(&call_id, items).await?,
                Intent::EnterPlanMode(reason) => self.planning.enter(reason, &mut self.terms, &self.reports).await?,
                Intent::ProposePlan(plan) => self.propose(&call_id, plan).await?,
                Intent::ShowPicture(picture) => self.show_picture(picture),
                Intent::OfferPicture(picture) => match self.show_picture(picture) {
                    Fulfilled::Failed(error) => Fulfilled::Done(format!("[{}]", error.message)),
                    shown @ (Fulfilled::Done(_) | Fulfilled::Waits) => shown,
                },
            };
            let failed = matches!(fulfilled, Fulfilled::Failed(_));
            progress.settle(fulfilled);
            if failed {
                break;
            }
        }
        Ok(())
    }

    /// What the model is told that asks how tools are called; what is the name of a skill brings that in.
    async fn look_up(&mut self, names: Vec<String>) -> Result<Fulfilled, SinkError> {
        let assembled = self.assembled();
        let (skills, names): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|name| assembled.has_skill(name) && !assembled.catalogue.has(name));
        let (lists, names): (Vec<String>, Vec<String>) =
            names.into_iter().partition(|name| name == ALL_SKILLS && !assembled.skills.is_empty());
        if skills.is_empty() && lists.is_empty() {
            return Ok(fulfilled(self.look_up_tools(&names)));
        }
        let most = self.scheduler.max_output();
        let mut told: Vec<String> = lists.iter().take(1).map(|_| all_lines(&assembled.skills, most)).collect();
        let mut failed = Vec::new();
        let mut seen = BTreeSet::new();
        let mut skills: Vec<String> = skills.into_iter().filter(|name| seen.insert(name.clone())).collect();
        let left = skills.split_off(skills.len().min(MOST_NAMED));
        if !left.is_empty() {
            let words = format!("at most {MOST_NAMED} skills are brought in at once; not {}", left.join(", "));
            failed.push(ToolError::failed(words));
        }
        for name in skills {
            let wish = SkillWish::new(name, String::new());
            match self.skilling().enter(wish, SkillCause::Model).await? {
                Ok(text) => told.push(text),
                Err(error) => failed.push(error),
            }
        }
        if !names.is_empty() {
            match self.look_up_tools(&names) {
                Ok(text) => told.push(text),
                Err(error) => failed.push(error),
            }
        }
        // What was brought in is told, whatever else there is not.
        if told.is_empty()
            && let Some(error) = failed.pop()
        {
            return Ok(Fulfilled::Failed(error));
        }
        told.extend(failed.into_iter().map(|error| format!("[error {}: {}]", error.code, error.message)));
        Ok(Fulfilled::Done(told.join("\n\n")))
    }

    fn look_up_tools(&mut self, names: &[String]) -> Result<String, ToolError> {
        let assembled = self.assembled();
        let tools = (self.scheduler.registry(), &*assembled.tools);
        let (redactor, most) = (self.scheduler.redactor(), self.scheduler.max_output());
        assembled.catalogue.look_up(names, tools, &redactor, most)
    }

    async fn ask_person(&mut self, call_id: &CallId, items: Vec<QuestionItem>) -> Result<Fulfilled, SinkError> {
        if !self.terms.settings.person_present {
            self.reports.inform("Nobody is there to answer the agent's questions; it decides by itself").await?;
            return Ok(Fulfilled::Done(
                "Nobody is there to answer. Decide yourself, as a careful colleague would, and say in your final \
                 answer what you assumed."
                    .to_owned(),
            ));
        }
        self.questions.pose(Asker::Call(call_id.clone()), Subject::Choices { items }, &self.reports).await?;
        Ok(Fulfilled::Waits)
    }

    /// Puts before the person what running calls ask.
    pub(super) async fn take_asked(&mut self) -> Result<(), SinkError> {
        for AskedByCall { call_id, items, answer } in self.scheduler.asking().take() {
            if self.terms.settings.person_present {
                let asker = Asker::Running(call_id, answer);
                self.questions.pose(asker, Subject::Choices { items }, &self.reports).await?;
            } else {
                self.reports.inform("Nobody is there to answer what an MCP server asks; it is told so").await?;
                let _ = answer.send(None);
            }
        }
        Ok(())
    }

    async fn propose(&mut self, call_id: &CallId, plan: String) -> Result<Fulfilled, SinkError> {
        match self.planning.propose(&plan, &mut self.terms, &self.reports).await? {
            Proposed::Settled(fulfilled) => Ok(fulfilled),
            Proposed::AskPerson => {
                self.questions.pose(Asker::Call(call_id.clone()), Subject::Plan { plan }, &self.reports).await?;
                Ok(Fulfilled::Waits)
            }
            Proposed::IsAnswer(fulfilled) => {
                self.model.final_text = plan;
                self.on(Input::Halt(End::DONE)).await?;
                Ok(fulfilled)
            }
        }
    }

    /// A picture follows the results of the turn's calls.
    fn show_picture(&mut self, picture: Picture) -> Fulfilled {
        if !self.model.provider.sees(&picture.media_type) {
            let (source, kind) = (&picture.source, &picture.media_type);
            let words = format!("the picture ({source}) can't be shown: the model does not see {kind}");
            return Fulfilled::Failed(ToolError::failed(words));
        }
        let text = format!("The picture ({}) follows the results of these calls.", picture.source);
        self.conversation.show(picture);
        Fulfilled::Done(text)
    }

    pub(super) async fn take_passed(&mut self, passed: Passed) -> Result<(), SinkError> {
        match passed {
            Passed::Opening(decision) => {
                self.gate.opened(&decision);
                let decision = self.reports.hook_runs(decision).await?;
                self.add_context(HookEvent::SessionStart, decision.context).await?;
                let scene = self.scene();
                if self.gate.look_at_messages(&scene) { Ok(()) } else { self.go_on(true).await }
            }
            Passed::Prompts(messages) => {
                let (admitted, ended) = self.take_messages(messages).await?;
                self.gate.looked_at(ended);
                self.go_on(admitted).await
            }
            Passed::End(stamp, decision) => self.take_end(stamp, decision).await,
            Passed::Waiting(decision) => self.reports.hook_runs(decision).await.map(drop),
            Passed::Dropped => Ok(()),
        }
    }

    /// What was not blocked enters the conversation; says whether anything did, and whether the work ends.
    async fn take_messages(&mut self, messages: Vec<(Message, HookDecision)>) -> Result<(bool, bool), SinkError> {
        let (mut admitted, mut ended) = (false, false);
        for (message, decision) in messages {
            let decision = self.reports.hook_runs(decision).await?;
            ended |= decision.stop.is_some();
            if matches!(decision.ruling, Some(GateRuling::Block(_))) || decision.stop.is_some() {
                continue;
            }
            self.admit_said(message).await?;
            self.add_context(HookEvent::UserPromptSubmit, decision.context).await?;
            admitted = true;
        }
        Ok((admitted, ended))
    }

    /// The turn begins that waited for the gate, if one did and may.
    async fn go_on(&mut self, something: bool) -> Result<(), SinkError> {
        let (stamp, may_begin) = self.gate.waiting_turn();
        let input =
            if may_begin { Input::Passed { stamp, something } } else { Input::Blocked { stamp, end: End::STOPPED } };
        self.on(input).await
    }

    async fn take_end(&mut self, stamp: Stamp, decision: HookDecision) -> Result<(), SinkError> {
        let decision = self.reports.hook_runs(decision).await?;
        let kind = match self.gate.rule_on_end(decision) {
            EndRuling::Ends => AnswerKind::Text,
            EndRuling::EndsAllTheSame => {
                let words = format!("The work ends although a hook objects: it did so {MOST_HELD} times in a row");
                self.reports.warn(&words).await?;
                AnswerKind::Text
            }
            EndRuling::GoesOn(reason) => {
                let message = Message::hook(format!("[Stop hook: the work is not done yet]\n{reason}"));
                self.conversation.admit(message, &self.reports).await?;
                AnswerKind::Held
            }
        };
        self.on(Input::Answered { stamp, kind }).await
    }

    /// Ends what is at the gate. What the person said is kept for the next time.
    pub(super) async fn leave_gate(&mut self) -> Result<(), SinkError> {
        let (decisions, messages) = self.gate.leave().await;
        self.inbox.put_back(messages);
        for decision in decisions {
            self.reports.hook_runs(decision).await?;
        }
        Ok(())
    }

    async fn add_context(&mut self, event: HookEvent, context: Vec<String>) -> Result<(), SinkError> {
        for text in context {
            self.conversation.admit(Message::hook(format!("[{event} hook]\n{text}")), &self.reports).await?;
        }
        Ok(())
    }
}

fn fulfilled(told: Result<String, ToolError>) -> Fulfilled {
    match told {
        Ok(text) => Fulfilled::Done(text),
        Err(error) => Fulfilled::Failed(error),
    }
}
