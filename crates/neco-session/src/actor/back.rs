//! Going back in a session that is open: the agent is stopped, and made again from what counts then.

use std::path::Path;

use neco_proto::event::{ModeChange, RewindWhat};
use neco_proto::{ClientError, EventBody, MessageId, Receipt};
use neco_workspace::checkpoint::{Agreed, CheckpointError};

use super::run::{Actor, store_failed};
use crate::fold::{Standing, fold_log};
use crate::rewind::{Course, Going, RewindError, Way, go_back, preview};

impl Actor {
    /// Goes back to before a message.
    pub(super) async fn rewind(&mut self, message: MessageId, what: RewindWhat) -> Result<Receipt, ClientError> {
        let course = self.course().await?;
        let way = course.way(course.point(message)?, what)?;
        self.go(&way).await
    }

    /// Takes the last rewind back.
    pub(super) async fn undo_rewind(&mut self) -> Result<Receipt, ClientError> {
        let way = self.course().await?.undo()?;
        self.go(&way).await
    }

    /// What the log says, if nothing is under way.
    async fn course(&self) -> Result<Course, ClientError> {
        let course = Course::read(self.log.as_ref(), self.record.id).await.map_err(|error| store_failed(&error))?;
        if course.working || self.rebuild.company.live_count().await > 0 {
            return Err(RewindError::AtWork.into());
        }
        Ok(course)
    }

    async fn go(&mut self, way: &Way) -> Result<Receipt, ClientError> {
        let receipt = Receipt { seq: self.journal.standing().last_seq, message_id: None };
        let agreed = self.agreed(way).await?;
        let checkpoints = self.rebuild.hub.checkpoints(Path::new(&self.record.cwd)).await;
        // What it still runs must not write while files are put back.
        self.stop_agent().await?;
        let going =
            Going { way, session: self.record.id, agent: self.root, journal: &self.journal, checkpoints, agreed };
        let went = go_back(going).await;
        let again = self.begin_again().await;
        if again.is_err() {
            // An agent whose conversation is not the session's must not go on: the session ends, and opens again.
            self.agent.abort();
        }
        went?;
        again.map(|()| receipt)
    }

    /// What of others' work a person agreed to have overwritten: what they were shown. When there is more,
    /// it is shown by refusing, and who asks again has seen it.
    async fn agreed(&self, way: &Way) -> Result<Agreed, RewindError> {
        let checkpoints = self.rebuild.hub.checkpoints(Path::new(&self.record.cwd)).await;
        let now = preview(way, self.record.id, checkpoints).await?;
        let theirs: Vec<&str> = now.files.iter().filter(|file| file.by_others).map(|file| file.path.as_str()).collect();
        if way.is_nothing(&now) {
            return Err(RewindError::Nothing(now.notes.join("; ")));
        }
        let seen = self.shown.swap(way, &now);
        if theirs.iter().all(|path| seen.covers(Path::new(path))) {
            return Ok(seen);
        }
        let paths = theirs.iter().filter(|path| !seen.covers(Path::new(path))).map(|path| Path::new(path).to_owned());
        let words = CheckpointError::ChangedByOthers { paths: paths.collect() }.to_string();
        Err(RewindError::ByOthersShown(words))
    }

    /// Without a handle it ends by itself, and what it still runs with it.
    async fn stop_agent(&mut self) -> Result<(), ClientError> {
        let fold = fold_log(self.log.as_ref(), self.record.id).await.map_err(|error| store_failed(&error))?;
        let standing = self.journal.standing();
        let waiting = self.rebuild.again(fold, &standing, self.remembers.with.as_ref());
        self.handle = waiting.map_err(|error| ClientError::Refused(error.to_string()))?.root.handle;
        self.rebuild.company.unseat_root().await;
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
        let before = self.journal.standing();
        let fold = fold_log(self.log.as_ref(), self.record.id).await.map_err(|error| store_failed(&error))?;
        self.journal.stand(Standing { title: before.title.clone(), ..fold.standing.clone() });
        let again = self.rebuild.again(fold, &before, self.remembers.with.as_ref());
        let again = again.map_err(|error| ClientError::Refused(error.to_string()))?;
        let root = again.root;
        self.handle = root.handle.clone();
        self.rebuild.company.seat_root(root.handle, root.policy, root.tools).await;
        self.rebuild.provider = again.provider;
        std::mem::replace(&mut self.agent, tokio::spawn(root.agent.run())).abort();
        match again.other_model {
            Some(model) => {
                self.enter(EventBody::ModeChange(ModeChange { model: Some(model), ..ModeChange::default() })).await
            }
            None => Ok(()),
        }
    }

    async fn enter(&self, body: EventBody) -> Result<(), ClientError> {
        self.journal.commit(self.root, None, body).await.map_err(|error| store_failed(&error))
    }
}
