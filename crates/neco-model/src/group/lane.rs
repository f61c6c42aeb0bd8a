//! One key of one model, and what it takes to ask through it.

use std::sync::Arc;

use super::breaker::{Breaker, Pass};
use super::retry::RetryPolicy;
use crate::error::{ErrorKind, ModelError};
use crate::provider::Provider;

/// One key of one model.
pub struct Lane {
    /// `provider/model`, with the number of the key where there are several.
    pub name: String,
    /// Makes one attempt for each question.
    pub provider: Arc<dyn Provider>,
    /// How its provider is tried again, where that is not as the group is.
    pub retry: Option<RetryPolicy>,
    breakers: Breakers,
}

/// What rests a lane. Shared by all lanes that fail together.
#[derive(Clone, Debug, Default)]
pub struct Breakers {
    /// Of this key for this model, whatever the parameters.
    pub model: Arc<Breaker>,
    /// Of this key for whatever it is used.
    pub key: Arc<Breaker>,
}

/// Leave to ask through a lane.
pub(super) struct Leave {
    model: Pass,
    key: Pass,
}

impl Lane {
    /// A lane called `name` that rests alone.
    pub fn new(name: String, provider: Arc<dyn Provider>) -> Self {
        Self::behind(name, provider, Breakers::default())
    }

    /// A lane called `name` that rests as `breakers` say.
    pub fn behind(name: String, provider: Arc<dyn Provider>, breakers: Breakers) -> Self {
        Self { name, provider, retry: None, breakers }
    }

    /// The same, tried again in a way of its own.
    #[must_use]
    pub fn retrying(self, retry: Option<RetryPolicy>) -> Self {
        Self { retry, ..self }
    }

    /// Whether it failed and is left alone for a while.
    pub fn rests(&self) -> bool {
        self.breakers.model.rests() || self.breakers.key.rests()
    }

    /// Leave to ask, unless it rests or another call finds out whether it still must.
    pub(super) fn enter(&self) -> Option<Leave> {
        let Breakers { model, key } = &self.breakers;
        Some(Leave { model: model.enter()?, key: key.enter()? })
    }

    /// Leave to ask although it rests.
    pub(super) fn enter_rested(&self) -> Leave {
        let Breakers { model, key } = &self.breakers;
        Leave { model: model.enter_rested(), key: key.enter_rested() }
    }
}

impl Leave {
    pub(super) fn failed(&self, error: &ModelError) {
        let blames_key = matches!(error.kind, ErrorKind::Auth | ErrorKind::Quota);
        if blames_key { self.key.failed(error) } else { self.model.failed(error) }
    }

    pub(super) fn succeeded(&self) {
        self.model.succeeded();
        self.key.succeeded();
    }
}
