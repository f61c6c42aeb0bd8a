//! One model behind a login: a token for each call, and another one when it is refused.

use std::sync::Arc;

use futures::{StreamExt, stream};

use super::call::Call;
use super::model::HttpModel;
use crate::delta::Delta;
use crate::error::ModelError;
use crate::provider::{DeltaStream, Provider};
use crate::request::Request;
use crate::route::{Key, Login};
use crate::wire::format::Delivery;

/// One model behind a login.
pub(crate) struct LoggedIn {
    /// Without a key.
    pub(crate) model: HttpModel,
    pub(crate) login: Arc<Login>,
}

impl Provider for LoggedIn {
    fn label(&self) -> &str {
        self.model.label()
    }

    fn context_window(&self) -> Option<u64> {
        self.model.context_window()
    }

    fn window_is_assumed(&self) -> bool {
        self.model.window_is_assumed()
    }

    fn sees(&self, media_type: &str) -> bool {
        self.model.sees(media_type)
    }

    fn stream(&self, request: Request) -> DeltaStream {
        self.visit(request, Delivery::Streamed)
    }

    fn whole(&self, request: Request) -> DeltaStream {
        self.visit(request, Delivery::Whole)
    }
}

impl LoggedIn {
    fn visit(&self, request: Request, delivery: Delivery) -> DeltaStream {
        let (model, login) = (self.model.clone(), self.login.clone());
        let visit = Visit { model, login, delivery, stage: Stage::New(request) };
        stream::unfold(visit, |mut visit| async move { visit.next().await.map(|item| (item, visit)) }).boxed()
    }
}

/// One question on its way.
struct Visit {
    delivery: Delivery,
    model: HttpModel,
    login: Arc<Login>,
    stage: Stage,
}

enum Stage {
    New(Request),
    /// Asked with this token; the request is kept for another one.
    First(Request, Arc<Key>, DeltaStream),
    /// Nothing is asked again from here on.
    Last(DeltaStream),
    Over,
}

impl Visit {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::New(request) => match self.login.token().await {
                    Ok(token) => {
                        let answer = self.ask(&token, request.clone());
                        self.stage = Stage::First(request, token, answer);
                    }
                    Err(error) => return Some(Err(error)),
                },
                Stage::First(request, token, mut answer) => match answer.next().await {
                    Some(Err(error)) if error.status == Some(401) => {
                        match self.login.token_instead_of(&token).await {
                            Ok(token) => {
                                // The beginning was handed over already.
                                let answer = self
                                    .ask(&token, request)
                                    .filter(|item| std::future::ready(!matches!(item, Ok(Delta::Begin { .. }))));
                                self.stage = Stage::Last(answer.boxed());
                            }
                            Err(error) => return Some(Err(error)),
                        }
                    }
                    Some(Ok(begin @ Delta::Begin { .. })) => {
                        self.stage = Stage::First(request, token, answer);
                        return Some(Ok(begin));
                    }
                    item => {
                        self.stage = Stage::Last(answer);
                        return item;
                    }
                },
                Stage::Last(mut answer) => {
                    let item = answer.next().await;
                    self.stage = Stage::Last(answer);
                    return item;
                }
                Stage::Over => return None,
            }
        }
    }

    fn ask(&self, token: &Arc<Key>, request: Request) -> DeltaStream {
        let model = HttpModel { key: Some(token.clone()), ..self.model.clone() };
        Call::new(model, request, self.delivery).into_stream()
    }
}
