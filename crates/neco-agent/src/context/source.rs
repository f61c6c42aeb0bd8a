//! One thing that is put before the model.

use std::sync::Arc;

use neco_proto::{Layer, Mode};

use crate::capability_level::CapabilityLevel;

use super::prompts::Prompts;
use super::space::Rooms;

/// What sources may depend on. The prompt is made anew only when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The agent's mode.
    pub mode: Mode,
    /// Its generation.
    pub generation: CapabilityLevel,
    /// How many tokens the layers may take. A source that can choose what to leave out does so; what is
    /// still too long is cut.
    pub rooms: Rooms,
}

/// One thing that is put before the model. It gathers nothing: what it says was handed to it.
/// ```
/// use neco_agent::context::{Situation, Source};
/// use neco_proto::Layer;
///
/// /// Tells the model in which week the sprint is.
/// struct Sprint(u32);
///
/// impl Source for Sprint {
///     fn layer(&self) -> Layer {
///         Layer::Environment
///     }
///
///     fn text(&self, _: &Situation) -> Option<String> {
///         Some(format!("Week {} of the sprint.", self.0))
///     }
/// }
/// # let _: Box<dyn Source> = Box::new(Sprint(2));
/// ```
pub trait Source: Send + Sync {
    /// Where it stands.
    fn layer(&self) -> Layer;
    /// What it says now; nothing when it has nothing to say.
    fn text(&self, situation: &Situation) -> Option<String>;
    /// The same for a model that has certain tools.
    fn text_beside(&self, situation: &Situation, has: &dyn Fn(&str) -> bool) -> Option<String> {
        let _ = has;
        self.text(situation)
    }
    /// Grows when it has something else to say in the same situation, which happens rarely or never.
    fn revision(&self) -> u64 {
        0
    }
}

/// The prompt that every agent has.
pub(super) struct BasePrompt(pub Arc<Prompts>);

impl Source for BasePrompt {
    fn layer(&self) -> Layer {
        Layer::Base
    }

    fn text(&self, _: &Situation) -> Option<String> {
        self.0.text("base")
    }
}

pub(super) struct ModePrompt(pub Arc<Prompts>);

impl Source for ModePrompt {
    fn layer(&self) -> Layer {
        Layer::Mode
    }

    fn text(&self, situation: &Situation) -> Option<String> {
        self.0.text(match situation.mode {
            Mode::Agent => "mode_agent",
            Mode::Plan => "mode_plan",
            Mode::Ask => "mode_ask",
            Mode::Debug => "mode_debug",
        })
    }
}
