//! The terminal window.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The terminal window, `neco` without arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TuiSection {
    /// Its colours. `auto` looks at the terminal; `16` are the terminal's own sixteen.
    pub theme: TuiTheme,
    /// Whether the field is edited as in vi: Esc leaves insert mode.
    pub vi: bool,
    /// Keys by what they do, such as `expand = "ctrl-o"`; docs/terminal.md lists the names. An empty text
    /// takes the key away.
    pub keys: BTreeMap<String, String>,
    /// How it calls when it waits for you, or is done after a while: `auto` uses what the terminal
    /// understands, `bell` only rings, `off` does neither.
    pub notifications: TuiNotifications,
    /// It calls at the end of work that took at least so many seconds.
    #[schemars(range(min = 0.0))]
    pub notify_after: f64,
    /// A command whose first line of output is the status line. It gets how the session stands as JSON on
    /// stdin, and runs with your rights, outside of the sandbox.
    #[schemars(length(min = 1))]
    pub status_line: Option<String>,
}

/// Colours of the terminal window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TuiTheme {
    /// What fits the terminal.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// For dark terminals.
    #[serde(rename = "dark")]
    Dark,
    /// For light terminals.
    #[serde(rename = "light")]
    Light,
    /// The terminal's own sixteen colours.
    #[serde(rename = "16")]
    Sixteen,
    /// No colours.
    #[serde(rename = "none")]
    Plain,
}

/// How the terminal window calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TuiNotifications {
    /// By what the terminal understands, and by ringing.
    #[default]
    Auto,
    /// By ringing.
    Bell,
    /// Not at all.
    Off,
}
