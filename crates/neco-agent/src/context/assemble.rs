//! From sources to a request's system prompt and tools.

use std::sync::Arc;

use neco_model::ToolDeclaration;
use neco_proto::Mode;
use neco_safety::{Policy, Touch, Who};
use neco_toolkit::Registry;

use crate::scheduler::Scheduler;

use super::source::{BasePrompt, ModePrompt, Situation, Source};

/// What the model is told before the conversation. Made anew only when the situation changes, so
/// that consecutive requests share their beginning byte for byte.
pub struct Context {
    sources: Vec<Arc<dyn Source>>,
    made: Option<Made>,
}

struct Made {
    situation: Situation,
    who: Who<'static>,
    system: Arc<str>,
    tools: Arc<[ToolDeclaration]>,
}

impl Context {
    /// A context of the base prompts and `sources`.
    #[must_use]
    pub fn new(sources: Vec<Arc<dyn Source>>) -> Self {
        let own: [Arc<dyn Source>; 2] = [Arc::new(BasePrompt), Arc::new(ModePrompt)];
        let mut sources: Vec<_> = own.into_iter().chain(sources).collect();
        sources.sort_by_key(|source| source.layer());
        Self { sources, made: None }
    }

    /// The system prompt and the tools for a situation.
    pub fn assemble(
        &mut self,
        situation: Situation,
        scheduler: &Scheduler,
        who: &Who<'static>,
    ) -> (Arc<str>, Arc<[ToolDeclaration]>) {
        let made = match self.made.take() {
            Some(made) if made.situation == situation && made.who == *who => made,
            Some(_) | None => {
                let tools = declare(scheduler.registry(), scheduler.policy(), who);
                Made { situation, who: *who, system: self.system(&situation), tools }
            }
        };
        let made = self.made.insert(made);
        (Arc::clone(&made.system), Arc::clone(&made.tools))
    }

    fn system(&self, situation: &Situation) -> Arc<str> {
        let texts: Vec<String> = self.sources.iter().filter_map(|source| source.text(situation)).collect();
        texts.join("\n\n").into()
    }
}

/// In ask mode tools that write or run do not even exist for the model, in plan mode those that write;
/// what the policy refuses whatever the arguments are does not exist either.
fn declare(registry: &Registry, policy: &Policy, who: &Who<'_>) -> Arc<[ToolDeclaration]> {
    registry
        .iter()
        .filter(|tool| match who.mode {
            Mode::Agent => true,
            // Some commands only look; the policy tells them apart.
            Mode::Plan => tool.most_touch() != Touch::Writes,
            Mode::Ask => tool.most_touch() == Touch::Reads,
        })
        .filter(|tool| !policy.refuses(tool.name(), tool.most_touch(), who))
        .map(|tool| ToolDeclaration {
            name: tool.name().to_owned(),
            description: tool.description().trim().to_owned(),
            schema: tool.schema().clone(),
        })
        .collect()
}
