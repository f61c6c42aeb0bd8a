//! How calls are made with one model: by the format's own fields, or written as text.

use std::sync::atomic::{AtomicBool, Ordering};

use neco_config::section::TextToolCalls;

use crate::error::ErrorKind;
use crate::wire::format::{Problem, Template};
use crate::wire::text_calls::Trust;

/// What servers say that can't pass tools on to their model.
const REFUSALS: [&str; 6] = [
    "does not support tools",
    "do not support tools",
    "tools param requires --jinja",
    "--enable-auto-tool-choice",
    "tool use is not supported",
    "tools are not supported",
];

/// What is known of one model. What was found out holds for as long as the program runs.
#[derive(Debug)]
pub(super) struct Calling {
    setting: TextToolCalls,
    as_text: AtomicBool,
}

impl Calling {
    pub(super) fn new(setting: TextToolCalls) -> Self {
        Self { setting, as_text: AtomicBool::new(setting == TextToolCalls::Always) }
    }

    /// Whether tools are described in the system prompt, and calls and results sent as text.
    pub(super) fn is_as_text(&self) -> bool {
        self.as_text.load(Ordering::Relaxed)
    }

    /// How calls in the text are taken, if the model was told of the tools in the prompt or not; none
    /// are looked for without.
    pub(super) fn trust(&self, as_text: bool) -> Option<Trust> {
        match self.setting {
            TextToolCalls::Never => None,
            TextToolCalls::Auto | TextToolCalls::Always => Some(if as_text { Trust::Told } else { Trust::Guessed }),
        }
    }

    /// Whether it matters what the server says of its template.
    pub(super) fn asks_for_template(&self) -> bool {
        self.setting == TextToolCalls::Auto && !self.is_as_text()
    }

    pub(super) fn heed(&self, template: Template) {
        match template {
            Template::DropsTools if self.setting == TextToolCalls::Auto => self.as_text.store(true, Ordering::Relaxed),
            Template::DropsTools | Template::ShowsTools | Template::Unknown => {}
        }
    }

    /// A server that stumbles over the calls of its model, or takes no tools, is asked without them
    /// from here on. Whether that is a change.
    pub(super) fn changes_after(&self, problem: &Problem) -> bool {
        let message = problem.message.to_lowercase();
        let of_calls =
            problem.kind == ErrorKind::MalformedToolCall || REFUSALS.iter().any(|text| message.contains(text));
        if self.setting == TextToolCalls::Never || !of_calls {
            return false;
        }
        !self.as_text.swap(true, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_stumbles_over_calls_gets_them_as_text() {
        let stumbled = Problem::new(ErrorKind::MalformedToolCall, "no such format");
        let refused = Problem::new(ErrorKind::InvalidRequest, "registry/gemma does not support tools");
        for problem in [stumbled, refused] {
            let calling = Calling::new(TextToolCalls::Auto);
            assert_eq!(calling.trust(calling.is_as_text()), Some(Trust::Guessed));
            assert!(!calling.changes_after(&Problem::cut()));
            assert!(calling.changes_after(&problem) && !calling.changes_after(&problem));
            assert!(calling.is_as_text());
            assert_eq!(calling.trust(calling.is_as_text()), Some(Trust::Told));
            let never = Calling::new(TextToolCalls::Never);
            assert!(!never.changes_after(&problem) && !never.is_as_text());
        }
    }

    #[test]
    fn a_template_without_tools_gets_calls_as_text() {
        let calling = Calling::new(TextToolCalls::Auto);
        calling.heed(Template::Unknown);
        calling.heed(Template::ShowsTools);
        assert!(!calling.is_as_text() && calling.asks_for_template());
        calling.heed(Template::DropsTools);
        assert!(calling.is_as_text() && !calling.asks_for_template());
        let never = Calling::new(TextToolCalls::Never);
        never.heed(Template::DropsTools);
        assert!(!never.is_as_text() && never.trust(false).is_none());
        assert!(Calling::new(TextToolCalls::Always).is_as_text());
    }
}
