//! One model behind one key.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::cost::Price;
use crate::provider::{DeltaStream, Provider};
use crate::request::Request;
use crate::route::{Endpoint, Key};
use crate::wire::format::{Auth, Delivery, Wire};

use super::call::Call;
use super::explain::Asked;
use super::props::KeyHeader;

/// One model behind one key. It makes one attempt for each question; trying again is for the group.
#[derive(Clone)]
pub(crate) struct HttpModel {
    pub(crate) label: Arc<str>,
    pub(crate) model: Arc<str>,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) key: Option<Arc<Key>>,
    pub(crate) wire: Arc<dyn Wire>,
    /// Where this model is asked. May hold secrets.
    pub(crate) url: Arc<str>,
    /// The same for answers that come whole.
    pub(crate) url_whole: Arc<str>,
    pub(crate) auth: Auth,
    pub(crate) price: Option<Price>,
    /// As it is known, or else assumed.
    pub(crate) context_window: u64,
    pub(crate) window_is_known: bool,
    /// Whether the settings give it.
    pub(crate) window_is_set: bool,
}

impl HttpModel {
    pub(super) fn asked(&self) -> Asked<'_> {
        Asked { endpoint: &self.endpoint, model: &self.model, key: self.key.as_deref() }
    }

    /// The window that its server says it has.
    fn said_window(&self) -> Option<u64> {
        self.endpoint.props.as_ref().and_then(|props| props.window(&self.model))
    }

    pub(super) fn key_header(&self) -> Option<KeyHeader> {
        self.key.as_ref().map(|key| key.header(&self.auth))
    }
}

impl Provider for HttpModel {
    fn label(&self) -> &str {
        &self.label
    }

    /// A local server is often started with less than its model could take. What the settings give stands, whatever the
    /// server says with its template.
    fn context_window(&self) -> Option<u64> {
        if self.window_is_set {
            return Some(self.context_window);
        }
        Some(match self.said_window() {
            Some(said) if self.window_is_known => said.min(self.context_window),
            Some(said) => said,
            None if self.window_is_known => self.context_window,
            // What is only assumed is no more than what the model was made for.
            None => {
                let most = self.endpoint.props.as_ref().and_then(|props| props.most(&self.model));
                most.map_or(self.context_window, |most| most.min(self.context_window))
            }
        })
    }

    fn window_is_assumed(&self) -> bool {
        !self.window_is_set && !self.window_is_known && self.said_window().is_none()
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        let Some(props) = self.endpoint.props.as_ref().filter(|_| !self.window_is_set) else {
            return Box::pin(std::future::ready(()));
        };
        Box::pin(async move {
            if let Ok(client) = self.endpoint.client().await {
                props.learn(client, &self.endpoint.base, self.key_header()).await;
            }
        })
    }

    fn sees(&self, media_type: &str) -> bool {
        self.wire.sees(media_type)
    }

    fn stream(&self, request: Request) -> DeltaStream {
        Call::new(self.clone(), request, Delivery::Streamed).into_stream()
    }

    fn whole(&self, request: Request) -> DeltaStream {
        Call::new(self.clone(), request, Delivery::Whole).into_stream()
    }
}
