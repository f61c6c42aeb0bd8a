//! From sources to a request's system prompt and tools.

use std::sync::Arc;

use neco_model::ToolDeclaration;
use neco_proto::Mode;
use neco_safety::Touch;
use neco_toolkit::Registry;

use super::source::{BasePrompt, ModePrompt, Situation, Source};

/// What the model is told before the conversation. Made anew only when the situation changes, so
/// that consecutive requests share their beginning byte for byte.
pub struct Context {
    sources: Vec<Arc<dyn Source>>,
    made: Option<Made>,
}

struct Made {
    situation: Situation,
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
    pub fn assemble(&mut self, situation: Situation, registry: &Registry) -> (Arc<str>, Arc<[ToolDeclaration]>) {
        let made = match self.made.take() {
            Some(made) if made.situation == situation => made,
            Some(_) | None => Made { situation, system: self.system(&situation), tools: declare(situation, registry) },
        };
        let made = self.made.insert(made);
        (Arc::clone(&made.system), Arc::clone(&made.tools))
    }

    fn system(&self, situation: &Situation) -> Arc<str> {
        let texts: Vec<String> = self.sources.iter().filter_map(|source| source.text(situation)).collect();
        texts.join("\n\n").into()
    }
}

/// In ask mode tools that write or run do not even exist for the model.
fn declare(situation: Situation, registry: &Registry) -> Arc<[ToolDeclaration]> {
    registry
        .iter()
        .filter(|tool| match situation.mode {
            Mode::Agent => true,
            Mode::Ask => tool.most_touch() == Touch::Reads,
        })
        .map(|tool| ToolDeclaration {
            name: tool.name().to_owned(),
            description: tool.description().trim().to_owned(),
            schema: tool.schema().clone(),
        })
        .collect()
}
