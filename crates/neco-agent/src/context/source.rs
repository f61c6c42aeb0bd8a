//! One thing that is put before the model.

use neco_proto::Mode;

use super::layer::Layer;

/// What sources may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The agent's mode.
    pub mode: Mode,
}

/// One thing that is put before the model. It gathers nothing: what it says was handed to it.
pub trait Source: Send + Sync {
    /// Where it stands.
    fn layer(&self) -> Layer;
    /// What it says now; nothing when it has nothing to say.
    fn text(&self, situation: &Situation) -> Option<String>;
}

/// The prompt that every agent has.
pub(super) struct BasePrompt;

impl Source for BasePrompt {
    fn layer(&self) -> Layer {
        Layer::Base
    }

    fn text(&self, _: &Situation) -> Option<String> {
        Some(include_str!("../../prompts/base.md").trim().to_owned())
    }
}

/// The prompt of the mode.
pub(super) struct ModePrompt;

impl Source for ModePrompt {
    fn layer(&self) -> Layer {
        Layer::Mode
    }

    fn text(&self, situation: &Situation) -> Option<String> {
        let prompt = match situation.mode {
            Mode::Agent => include_str!("../../prompts/mode_agent.md"),
            Mode::Plan => include_str!("../../prompts/mode_plan.md"),
            Mode::Ask => include_str!("../../prompts/mode_ask.md"),
        };
        Some(prompt.trim().to_owned())
    }
}
