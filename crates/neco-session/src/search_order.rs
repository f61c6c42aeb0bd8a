//! Search results in another order: where a setting says so, a model puts first what fits best.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use neco_config::section::ContextSection;
use neco_proto::event::{KnownFile, SidePurpose, UsageEvent};
use neco_proto::{EventBody, ToolOrigin};
use neco_safety::secrets::Scope;
use neco_safety::untrusted;
use neco_toolkit::{DynTool, Plan, PreparedCall, Registry, SideEffect, ToolContext, ToolError, ToolOutput};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::aside::{self, AsideError};
use crate::hub::SessionCore;

/// What the model is told.
const SYSTEM: &str = include_str!("search_order.md");

/// Tools that give hits.
const SEARCHES: [&str; 3] = ["code_search", "web_search", "memory_search"];

/// Fewer hits need no order.
const LEAST_HITS: usize = 3;

/// Bytes of a hit that the model sees.
const HIT: usize = 400;

/// How long a model may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How long before the end of a call its hits are given, in order or not.
const SLACK: Duration = Duration::from_millis(500);

/// The tools, of which those that search have their hits put in order where that is wanted.
pub(crate) fn ordering(registry: Registry, core: &SessionCore, settings: &ContextSection) -> Registry {
    if !settings.rerank {
        return registry;
    }
    let ranker = Arc::new(Ranker { core: core.clone(), model: settings.rerank_model.clone() });
    registry.keeping(|tool| {
        let inner = Arc::clone(tool);
        let searches = SEARCHES.contains(&tool.name());
        searches.then(|| Arc::new(OrderedSearch { inner, ranker: Arc::clone(&ranker) }) as Arc<dyn DynTool>)
    })
}

/// A tool that searches, with its hits in the order of a model.
struct OrderedSearch {
    inner: Arc<dyn DynTool>,
    ranker: Arc<Ranker>,
}

impl DynTool for OrderedSearch {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn description(&self) -> &str {
        self.inner.description()
    }

    fn schema(&self) -> &Value {
        self.inner.schema()
    }

    fn most_touch(&self) -> SideEffect {
        self.inner.most_touch()
    }

    fn origin(&self) -> &ToolOrigin {
        self.inner.origin()
    }

    fn is_offered(&self) -> bool {
        self.inner.is_offered()
    }

    fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.inner.recall(known, workspace);
    }

    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        let inner = Arc::clone(&self.inner).prepare(arguments)?;
        Ok(Box::new(OrderedCall { inner, ranker: Arc::clone(&self.ranker) }))
    }
}

struct OrderedCall {
    inner: Box<dyn PreparedCall>,
    ranker: Arc<Ranker>,
}

impl OrderedCall {
    /// How long the search and its order may take.
    fn limit(&self) -> Duration {
        self.inner.timeout().unwrap_or_else(|| self.ranker.core.hub.deps().limits.timeout) + TIMEOUT
    }
}

impl PreparedCall for OrderedCall {
    fn touch(&self) -> SideEffect {
        self.inner.touch()
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.limit())
    }

    fn summary(&self) -> String {
        self.inner.summary()
    }

    fn arguments(&self) -> &Value {
        self.inner.arguments()
    }

    fn notes(&self) -> &[String] {
        self.inner.notes()
    }

    fn plan<'a>(&'a self, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        self.inner.plan(ctx)
    }

    fn run(self: Box<Self>, ctx: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let wanted = self.inner.summary();
            let (cancel, ends) = (ctx.cancel.clone(), Instant::now() + self.limit());
            let output = self.inner.run(ctx).await?;
            let left = ends.saturating_duration_since(Instant::now()).saturating_sub(SLACK);
            Ok(self.ranker.ordered(&wanted, output, &cancel, left.min(TIMEOUT)).await)
        })
    }
}

/// Asks a model for the order of hits.
struct Ranker {
    core: SessionCore,
    /// The model or group that is asked; `None` stands for the session's own.
    model: Option<String>,
}

impl Ranker {
    /// The output with its hits in another order, if that is known within `time`. Whatever goes wrong, and when the call
    /// or all work is stopped, the hits stay as they are.
    async fn ordered(
        &self,
        wanted: &str,
        output: ToolOutput,
        cancel: &CancellationToken,
        time: Duration,
    ) -> ToolOutput {
        let deps = self.core.hub.deps();
        // What the model is shown besides is without secrets already.
        let hits: Vec<String> =
            output.hit_texts().map(|hit| short(&deps.redactor.redact(hit, Scope::Outside))).collect();
        if hits.len() < LEAST_HITS {
            return output;
        }
        let standing = self.core.journal.standing();
        if self.core.budget.reached(&standing.usage, Duration::from_millis(standing.worked_ms)).is_some() {
            tracing::info!("the hits of a search stay in their order: the budget of the session is used up");
            return output;
        }
        let model = self.model.clone().unwrap_or(standing.model);
        let asks = self.core.aside.unless_stopped(tokio::time::timeout(time, self.order(&model, wanted, &hits)));
        let asks = async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                came = asks => came,
            }
        };
        let Some(came) = aside::told(&self.core, SidePurpose::Rerank, asks).await else { return output };
        match came {
            Ok(Ok(order)) => output.reordered(&order),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the hits of a search stay in their order");
                output
            }
            Err(_) => {
                tracing::warn!("the hits of a search stay in their order: the model took too long");
                output
            }
        }
    }

    async fn order(&self, model: &str, wanted: &str, hits: &[String]) -> Result<Vec<usize>, AsideError> {
        let provider = self.core.model(model)?;
        let listed: String = hits.iter().enumerate().map(|(at, hit)| format!("{}. {hit}\n", at + 1)).collect();
        let listed = untrusted::wrap(&self.core.id().to_string(), "a search", &listed);
        let question = format!("{wanted}\n\n{listed}\n\nThe numbers, best first:");
        let asked = aside::ask(provider.as_ref(), Vec::new(), 0, (SYSTEM, &question), None).await;
        let (answer, _) = asked?;
        if let Some(usage) = answer.usage {
            let used = UsageEvent::of(&answer.model, usage, provider.scripted());
            let context_window = provider.context_window();
            let aside = Some(SidePurpose::Rerank);
            self.core.emit(EventBody::Usage(UsageEvent { context_window, aside, ..used })).await?;
        }
        Ok(numbers(&answer.text, hits.len()))
    }
}

/// The beginning of a hit.
fn short(hit: &str) -> String {
    hit.get(..hit.floor_char_boundary(HIT)).unwrap_or_default().trim().to_owned()
}

/// The places that an answer names, each once, and behind them those that it leaves out.
fn numbers(answer: &str, count: usize) -> Vec<usize> {
    let named = answer.split(|char: char| !char.is_ascii_digit()).filter_map(|word| word.parse::<usize>().ok());
    let named = named.filter_map(|number| number.checked_sub(1)).filter(|at| *at < count);
    let mut order = Vec::new();
    for at in named.chain(0..count) {
        if !order.contains(&at) {
            order.push(at);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hit_has_one_place_whatever_the_model_says() {
        assert_eq!(numbers("3, 1, 2", 3), [2, 0, 1]);
        assert_eq!(numbers("2\n2\n9 0", 3), [1, 0, 2]);
        assert_eq!(numbers("I can't say.", 3), [0, 1, 2]);
    }
}
