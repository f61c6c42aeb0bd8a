//! How a window looks and which keys it knows.

use std::time::Duration;

use crate::input::Keymap;
use crate::term::{Depth, Notify};
use crate::theme::ThemeName;

/// A fact about a session: what it is about, what it is, and the command or key that changes it.
pub type Fact = (&'static str, String, &'static str);

/// How a window looks. Made from settings and from what is known of the terminal by whoever opens it.
#[derive(Clone, Debug)]
pub struct Looks {
    /// The colours.
    pub theme: ThemeName,
    /// The colour of the terminal's ground, once it has told it.
    pub ground: Option<[u8; 3]>,
    /// How long the terminal may take to say whether its ground is dark or light; none where that is known.
    pub asks_ground: Option<Duration>,
    /// How many the terminal has.
    pub depth: Depth,
    /// Whether the terminal folds its rows anew when it gets narrower. Nearly all do; xterm, rxvt, GNU screen and
    /// the console of Linux do not.
    pub reflows: bool,
    /// Whether tmux is in between, which hands on some sequences only when they are wrapped.
    pub tmux: bool,
    /// Whether the terminal says what was pasted, so that keys which come at once were typed, however fast: by a
    /// program, perhaps. Nearly all do; GNU screen and the console of Linux do not.
    pub marks_pastes: bool,
    /// Whether there is no model yet: what is written answers a question, and nothing else.
    pub set_up: bool,
    /// The command that comes back to a session whose id stands behind it; nothing where sessions are gone with the window.
    pub resume: Option<String>,
    /// Whether the field has vi keys.
    pub vi: bool,
    /// Which keys do what.
    pub keys: Keymap,
    /// How somebody who looks elsewhere is told.
    pub notify: Notify,
    /// How long work must have gone on for its end to be worth telling.
    pub notify_after: Duration,
    /// The most iterations of one piece of work, when there is a limit.
    pub most_iterations: Option<u32>,
    /// What a session may cost, in US dollars, when there is a limit.
    pub most_cost: Option<f64>,
    /// The folder of the person, which is told as `~`.
    pub home: Option<String>,
    /// What is said above the first frame: the name and the version.
    pub greeting: String,
    /// The groups of models, each with what is said of who answers.
    pub groups: Vec<(String, String)>,
    /// What else is said there, besides what the session says of itself.
    pub facts: Vec<Fact>,
}

impl Looks {
    /// What a theme comes to on this terminal: one without colours has none of them, and keeps the marks that stand for
    /// them.
    pub fn shown(&self, theme: ThemeName) -> ThemeName {
        if self.depth == Depth::None { ThemeName::Plain } else { theme }
    }
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            theme: ThemeName::default(),
            ground: None,
            asks_ground: None,
            depth: Depth::Many,
            reflows: true,
            tmux: false,
            marks_pastes: true,
            set_up: false,
            resume: Some("neco resume".to_owned()),
            vi: false,
            keys: Keymap::default(),
            notify: Notify::default(),
            notify_after: Duration::from_secs(20),
            most_iterations: None,
            most_cost: None,
            home: None,
            greeting: String::new(),
            groups: Vec::new(),
            facts: Vec::new(),
        }
    }
}
