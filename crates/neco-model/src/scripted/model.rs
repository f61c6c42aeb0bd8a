//! The model that plays a script.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use neco_config::section::Strategy;

use super::play::{Played, Player};
use super::script::{ERROR_EVENT, Fault, Script, fault_body, fault_headers};
use crate::cost::Price;
use crate::delta::Delta;
use crate::error::{ErrorKind, ModelError, Place};
use crate::group::{Group, Lane, Member, RetryPolicy};
use crate::http::{Asked, of_answer};
use crate::provider::{DeltaStream, Provider};
use crate::request::Request;
use crate::route::{Address, Endpoint, Parameters, Timeouts};
use crate::wire::format::Wire;
use crate::wire::openai_chat::{Dialect, OpenaiChat};

/// How long a stall lasts where no configuration says so.
const STALL: Duration = Duration::from_millis(50);

/// Plays a script; one attempt for each question, like any other model.
pub struct ScriptedModel {
    label: String,
    /// What was set for it, whatever the script says.
    window: Option<u64>,
    /// What its tokens are said to cost.
    price: Option<Price>,
    shared: Arc<Shared>,
}

struct Shared {
    model: String,
    player: Player,
    /// Gives status faults the words that a real vendor's status would get.
    endpoint: Endpoint,
}

impl ScriptedModel {
    /// `provider/model` that plays `script`; a stall lasts as long as `timeouts` allow.
    pub fn new(provider: &str, model: &str, script: Arc<Script>, timeouts: Timeouts) -> Self {
        let endpoint = Endpoint {
            provider: provider.to_owned(),
            base: Address::new("script"),
            headers: http::HeaderMap::new(),
            timeouts,
            start: None,
            pull: None,
            props: None,
            secrets: Vec::new(),
            client: tokio::sync::OnceCell::new(),
            answered: false.into(),
        };
        let shared = Shared { model: model.to_owned(), player: Player::new(script, model), endpoint };
        Self { label: format!("{provider}/{model}"), window: None, price: None, shared: Arc::new(shared) }
    }

    /// With a window of so many tokens instead of the script's own.
    #[must_use]
    pub fn with_window(self, window: Option<u64>) -> Self {
        Self { window, ..self }
    }

    /// With a price instead of none.
    #[must_use]
    pub fn with_price(self, price: Option<Price>) -> Self {
        Self { price, ..self }
    }
}

impl Script {
    /// This script as a provider behind a group that tries again at once: what most tests want.
    pub fn into_provider(self) -> Arc<dyn Provider> {
        let timeouts = Timeouts { connect: None, first_byte: Some(STALL), idle: Some(STALL), stalled: None };
        let model = ScriptedModel::new("scripted", "test", Arc::new(self), timeouts);
        let lane = Lane::new(model.label.clone(), Arc::new(model));
        let member = Member::new(vec![lane], Arc::default());
        let policy = RetryPolicy {
            retries: 3,
            backoff: Duration::ZERO,
            max_retry_after: Duration::from_secs(60),
            load_timeout: Duration::ZERO,
        };
        Arc::new(Group::new("scripted/test".to_owned(), vec![Arc::new(member)], Strategy::First, policy))
    }
}

impl Provider for ScriptedModel {
    fn label(&self) -> &str {
        &self.label
    }

    fn scripted(&self) -> bool {
        true
    }

    fn context_window(&self) -> Option<u64> {
        self.window.or_else(|| self.shared.player.context_window())
    }

    fn stream(&self, request: Request) -> DeltaStream {
        let begin = Delta::Begin { model: self.label.clone() };
        let shared = self.shared.clone();
        // The script only moves on when the answer is really asked for.
        let answer = stream::once(async move { shared.answer(&request) }).flatten();
        let price = self.price;
        let priced = answer.map_ok(move |delta| match (delta, price) {
            (Delta::Usage(usage), Some(price)) => Delta::Usage(price.laid_on(usage)),
            (delta, _) => delta,
        });
        stream::iter([Ok(begin)]).chain(priced).boxed()
    }
}

impl Shared {
    fn answer(self: Arc<Self>, request: &Request) -> DeltaStream {
        let played = match self.player.answer(request) {
            Ok(played) => played,
            Err(used_up) => return failing(script_error(used_up)),
        };
        if let Some(expect) = &played.turn.expect
            && let Err(otherwise) = expect.check(request)
        {
            return failing(script_error(format!(
                "request {} is not what the script expects: {otherwise}",
                played.request
            )));
        }
        self.pieces(played)
    }

    fn pieces(self: Arc<Self>, played: Played) -> DeltaStream {
        let Played { turn, mut pieces, .. } = played;
        if let Some(Fault::Status { code, retry_after, message }) = &turn.fault {
            return failing(self.status_error(*code, *retry_after, message.as_deref()));
        }
        let fault = turn.fault.filter(|fault| fault.after().is_some());
        if let Some(after) = fault.as_ref().and_then(Fault::after) {
            pieces.truncate(after);
        }
        let (delay, between) = (Duration::from_millis(turn.delay_ms), Duration::from_millis(turn.between_ms));
        let waits = std::iter::once(delay).chain(std::iter::repeat(between));
        let whole = stream::iter(pieces.into_iter().zip(waits)).then(|(piece, wait)| async move {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            Ok(piece)
        });
        match fault {
            Some(fault) => whole.chain(stream::once(async move { Err(self.broken(&fault).await) })).boxed(),
            None => whole.boxed(),
        }
    }

    /// Waits as long as the fault takes and says what it looks like.
    async fn broken(&self, fault: &Fault) -> ModelError {
        let place = if fault.after() == Some(0) { Place::Http } else { Place::Stream };
        let provider = &self.endpoint.provider;
        match fault {
            Fault::StallAfter(_) => {
                let limit = match place {
                    Place::Http => self.endpoint.timeouts.first_byte,
                    Place::Stream => self.endpoint.timeouts.idle,
                };
                match limit {
                    Some(limit) => tokio::time::sleep(limit).await,
                    None => std::future::pending().await,
                }
                ModelError::new(ErrorKind::Timeout, place, format!("{provider} fell silent"))
            }
            Fault::ErrorAfter(_) => {
                ModelError::new(ErrorKind::ServerError, place, format!("{provider} failed: {ERROR_EVENT}"))
            }
            Fault::DropAfter(_) | Fault::Status { .. } | Fault::Empty => {
                ModelError::new(ErrorKind::StreamCut, place, format!("the answer of {provider} was cut off"))
            }
        }
    }

    fn status_error(&self, code: u16, retry_after: Option<f64>, message: Option<&str>) -> ModelError {
        let Endpoint { provider, .. } = &self.endpoint;
        let wire = OpenaiChat::new(provider, &self.model, Parameters::default(), Dialect::default());
        let problem = wire.problem(code, fault_body(code, message).as_bytes());
        let asked = Asked { endpoint: &self.endpoint, model: &self.model, key: None };
        of_answer(asked, &problem, code, &fault_headers(retry_after))
    }
}

/// Ends the run: no other try and no other model makes the script right.
fn script_error(text: String) -> ModelError {
    ModelError::new(ErrorKind::InvalidRequest, Place::Http, text)
}

fn failing(error: ModelError) -> DeltaStream {
    stream::iter([Err(error)]).boxed()
}
