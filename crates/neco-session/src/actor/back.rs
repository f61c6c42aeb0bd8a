//! Going back in a session that is open: the agent is stopped, and made again from what counts then.

use neco_proto::clean::clean_line;
use neco_proto::event::{ModeChange, Notification, NotificationLevel};
use neco_proto::{Actor, ClientError, EventBody, Receipt, RewindKind, RewindPoint};
use neco_workspace::checkpoint::Agreed;

use super::run::SessionActor;
use super::shown::Look;
use crate::fold::{Standing, fold_log};
use crate::rewind::{Going, RewindError, RewindHistory, RewindPlan, go_back, not_agreed, preview};

/// Most messages that are named when they would be lost, and characters of each.
const NAMED: usize = 3;
const WORDS: usize = 40;

/// Most lines about files that were left alone.
const KEPT_LINES: usize = 8;

impl SessionActor {
    /// What the log says, if nothing is under way.
    pub(super) async fn course(&self) -> Result<RewindHistory, ClientError> {
        self.course_of(RewindError::AtWork).await
    }

    /// The same, where work that is under way is refused with these words.
    pub(super) async fn course_of(&self, at_work: RewindError) -> Result<RewindHistory, ClientError> {
        let course = RewindHistory::read(self.ctx.log().as_ref(), self.ctx.id()).await?;
        if course.working || self.ctx.supervisor.is_at_work().await {
            return Err(at_work.into());
        }
        match self.ctx.supervisor.paused().await {
            names if names.is_empty() => Ok(course),
            names => Err(RewindError::Paused(names).into()),
        }
    }

    /// Goes a way back on behalf of `by`.
    pub(super) async fn go(&mut self, by: Actor, way: &RewindPlan) -> Result<Receipt, ClientError> {
        let receipt = Receipt { seq: self.ctx.journal.standing().last_seq, message_id: None };
        let agreed = self.agreed(way).await?;
        let allowed = self.handle.rules().await.map_or(0, |rules| rules.granted.len());
        let checkpoints = self.ctx.hub.checkpoints(self.ctx.cwd()).await;
        // What it still runs must not write while files are put back.
        self.stop_agent().await?;
        let (session, agent) = (self.ctx.id(), self.ctx.root);
        let going = Going { way, by, session, agent, journal: &self.ctx.journal, checkpoints, agreed };
        let went = go_back(going).await;
        let again = self.begin_again().await;
        if again.is_err() {
            // An agent whose conversation is not the session's must not go on: the session ends, and opens again.
            self.agent.abort();
        }
        let went = match went {
            Ok(went) => went,
            Err(error) => {
                // Other windows may have seen it begin.
                let words = failed_words(&error);
                let _ = self.warn(words).await;
                return Err(error.into());
            }
        };
        again?;
        self.warn_of_kept(&went.kept).await?;
        if let Some(words) = dropped_words(allowed) {
            self.warn(words).await?;
        }
        Ok(receipt)
    }

    /// Says what was left alone, if anything was.
    pub(super) async fn warn_of_kept(&self, kept: &[String]) -> Result<(), ClientError> {
        if kept.is_empty() { Ok(()) } else { self.warn(kept_words(kept)).await }
    }

    async fn warn(&self, text: String) -> Result<(), ClientError> {
        self.enter(EventBody::Notification(Notification::new(NotificationLevel::Warning, text))).await
    }

    /// What of others' work, or of what may be theirs, a person agreed to have overwritten: what they were shown. When
    /// there is more, it is shown by refusing, and who asks again has seen it.
    async fn agreed(&self, way: &RewindPlan) -> Result<Agreed, RewindError> {
        let checkpoints = self.ctx.hub.checkpoints(self.ctx.cwd()).await;
        let now = preview(way, self.ctx.id(), checkpoints).await?;
        if way.is_nothing(&now) {
            let already = (now.rev.is_some() && now.notes.is_empty())
                .then(|| "the files are as they were then already".to_owned());
            let notes: Vec<String> = already.into_iter().chain(now.notes).collect();
            return Err(RewindError::Nothing(notes.join("; ")));
        }
        let (seen, look) = self.shown.swap(way, &now);
        let lost = match look {
            Look::Same => None,
            Look::Never => lost_words(way),
            // More was said since it was shown.
            Look::Other => lost_words(way).or_else(|| said_words(&way.messages)),
        };
        if let Some(words) = lost {
            return Err(RewindError::WorkSince(words));
        }
        match not_agreed(&now, &seen) {
            None => Ok(seen),
            Some(refused) => Err(RewindError::ByOthersShown(refused.to_string())),
        }
    }

    /// Without a handle it ends by itself, and what it still runs with it.
    async fn stop_agent(&mut self) -> Result<(), ClientError> {
        let fold = fold_log(self.ctx.log().as_ref(), self.ctx.id()).await?;
        let standing = self.ctx.journal.standing();
        let waiting = self.ctx.again(fold, &standing, self.remembers.with.as_ref());
        self.handle = waiting.map_err(|error| ClientError::Refused(error.to_string()))?.root.handle;
        self.ctx.supervisor.empty_root().await;
        let stopped = std::mem::replace(&mut self.agent, tokio::spawn(std::future::pending()));
        match stopped.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => {
                self.agent.abort();
                Err(ClientError::Gone)
            }
        }
    }

    /// The agent of what counts now takes the place of the one that was.
    async fn begin_again(&mut self) -> Result<(), ClientError> {
        let before = self.ctx.journal.standing();
        let fold = fold_log(self.ctx.log().as_ref(), self.ctx.id()).await?;
        self.ctx.journal.stand(Standing { title: before.title.clone(), ..fold.standing.clone() });
        let again = self.ctx.again(fold, &before, self.remembers.with.as_ref());
        let again = again.map_err(|error| ClientError::Refused(error.to_string()))?;
        let root = again.root;
        self.handle = root.handle.clone();
        self.ctx.supervisor.fill_root(root.handle, root.policy, root.tools).await;
        self.ctx.provider = again.provider;
        std::mem::replace(&mut self.agent, tokio::spawn(root.agent.run())).abort();
        match again.other_model {
            Some(model) => {
                self.enter(EventBody::ModeChange(ModeChange { model: Some(model), ..ModeChange::default() })).await
            }
            None => Ok(()),
        }
    }

    async fn enter(&self, body: EventBody) -> Result<(), ClientError> {
        Ok(self.ctx.commit(body).await?)
    }
}

/// That what was allowed for the session is not any more.
fn dropped_words(allowed: usize) -> Option<String> {
    match allowed {
        0 => None,
        1 => Some("1 allow rule of this session is dropped: you are asked again".to_owned()),
        many => Some(format!("{many} allow rules of this session are dropped: you are asked again")),
    }
}

/// What taking something back would take along of what was said or done since; nothing when nothing was.
fn lost_words(way: &RewindPlan) -> Option<String> {
    if way.undoes.is_none() && !way.is_mending {
        return None;
    }
    // What was said after an undo ends that it can be taken back, so what goes with one went before.
    let said: &[RewindPoint] = if way.kind == RewindKind::Redo { &[] } else { &way.messages };
    let worked = || "files were worked on since, and what was done to them would go too".to_owned();
    said_words(said).or_else(|| way.over_work.then(worked))
}

/// That messages would no longer count.
fn said_words(said: &[RewindPoint]) -> Option<String> {
    let named: Vec<String> = said.iter().take(NAMED).map(|point| short(&point.text)).collect();
    let more = said.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("{}{more} would be removed from the conversation", named.join(", ")))
}

fn short(text: &str) -> String {
    let line = clean_line(text);
    let cut: String = line.chars().take(WORDS).collect();
    if cut.len() < line.len() { format!("“{cut}…”") } else { format!("“{cut}”") }
}

/// That going back failed, and how far it went.
fn failed_words(error: &RewindError) -> String {
    if let RewindError::NotWritten(why) = error {
        return format!("The files were restored, but that could not be saved: {why}; undo brings them back");
    }
    format!("Not rewound: {error}")
}

/// What was left alone, or can't come back, in no more lines than are read.
fn kept_words(kept: &[String]) -> String {
    let mut lines: Vec<String> = kept.iter().take(KEPT_LINES).cloned().collect();
    if kept.len() > lines.len() {
        lines.push(format!("and {} more", kept.len() - lines.len()));
    }
    format!("Not everything was restored: {}", lines.join("\n"))
}
