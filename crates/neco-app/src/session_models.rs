//! The models of one session: found by name, and followed when their settings or keys are others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use neco_config::Env;
use neco_model::error::{ErrorKind, Place};
use neco_model::{DeltaStream, ModelError, Models, Provider, Request, SetupError};
use neco_proto::app::AppError;
use neco_proto::app::tools::CALLER_MODEL;

use crate::tools::OutsideCalls;
use crate::workspace::FolderState;

/// The models of one session, as what its folder brings says now.
pub(crate) struct SessionModels {
    now: Mutex<(Arc<Models>, Arc<FolderState>)>,
    /// Whoever stands in a model's place.
    calls: OutsideCalls,
}

impl SessionModels {
    /// Those of a folder.
    ///
    /// # Errors
    /// When a provider is described so that nothing could be asked of it.
    pub fn new(state: &Arc<FolderState>, env: &Env, calls: OutsideCalls) -> Result<Arc<Self>, AppError> {
        let now = Mutex::new((state.own_models(env)?, Arc::clone(state)));
        Ok(Arc::new(Self { now, calls }))
    }

    /// Takes up what the folder brings now, where its models or keys are others. It may block.
    pub fn renew(&self, state: &Arc<FolderState>, env: &Env) {
        let (models, before) = self.now.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if Arc::ptr_eq(state, &before) {
            return;
        }
        let models = if state.has_models_of(&before) { Ok(models) } else { state.own_models(env) };
        if let Ok(models) = models {
            *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (models, Arc::clone(state));
        }
    }

    /// The model of a name; without one, the default one.
    ///
    /// # Errors
    /// When it can't be used.
    pub fn find(self: &Arc<Self>, name: &str) -> Result<Arc<dyn Provider>, SetupError> {
        if name == CALLER_MODEL {
            return Ok(Arc::new(self.calls.clone()));
        }
        let models = self.now();
        let name = if name.is_empty() { models.default_name()? } else { name.to_owned() };
        let provider = models.provider_for(&name)?;
        let (label, asked) = (provider.label().to_owned(), Mutex::new(Asked { models, provider, gone: None }));
        Ok(Arc::new(Followed { name, label, models: Arc::clone(self), asked }))
    }

    fn now(&self) -> Arc<Models> {
        Arc::clone(&self.now.lock().unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// A model by its name: whoever asks it asks it as its settings and keys are by then.
struct Followed {
    name: String,
    label: String,
    models: Arc<SessionModels>,
    asked: Mutex<Asked>,
}

/// The model as it is asked, and the models that it was found among.
struct Asked {
    models: Arc<Models>,
    provider: Arc<dyn Provider>,
    /// Why it can't be asked any more: its key is gone.
    gone: Option<SetupError>,
}

impl Followed {
    fn asked(&self) -> MutexGuard<'_, Asked> {
        let models = self.models.now();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        // A script goes on where it is. One whose settings can't be used any more stays as it was.
        if !Arc::ptr_eq(&models, &asked.models) && !asked.provider.scripted() {
            match models.provider_for(&self.name) {
                Ok(provider) => *asked = Asked { models, provider, gone: None },
                Err(error @ SetupError::MissingKey { .. }) => asked.gone = Some(error),
                Err(_) => {}
            }
        }
        asked
    }

    fn now(&self) -> Arc<dyn Provider> {
        Arc::clone(&self.asked().provider)
    }

    fn answer(&self, ask: impl FnOnce(&dyn Provider) -> DeltaStream) -> DeltaStream {
        let asked = self.asked();
        match &asked.gone {
            Some(gone) => stream::iter([Err(ModelError::new(ErrorKind::Auth, Place::Http, gone.to_string()))]).boxed(),
            None => ask(asked.provider.as_ref()),
        }
    }
}

impl Provider for Followed {
    fn label(&self) -> &str {
        &self.label
    }

    fn scripted(&self) -> bool {
        self.now().scripted()
    }

    fn context_window(&self) -> Option<u64> {
        self.now().context_window()
    }

    fn window_is_assumed(&self) -> bool {
        self.now().window_is_assumed()
    }

    fn ready(&self) -> BoxFuture<'_, ()> {
        let now = self.now();
        Box::pin(async move { now.ready().await })
    }

    fn sees(&self, media_type: &str) -> bool {
        self.now().sees(media_type)
    }

    fn stream(&self, request: Request) -> DeltaStream {
        self.answer(|provider| provider.stream(request))
    }

    fn whole(&self, request: Request) -> DeltaStream {
        self.answer(|provider| provider.whole(request))
    }
}
