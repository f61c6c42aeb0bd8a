//! The terminal of this process, with what the environment says of it.

use std::io;

use neco_agent::CapabilityLevel;
use neco_config::Env;
pub use neco_tui::line::Terminal;
use neco_tui::line::print::{ClaudePrinter, JsonPrinter, Printer, Screen, TextPrinter};

use crate::args::OutputFormat;
use crate::say;

/// Looks at the streams.
pub fn look_at(env: &Env) -> Terminal {
    Terminal::look_at(|name| env.var(name))
}

/// What prints a run to this process's streams.
pub fn printer(format: OutputFormat, env: &Env) -> Printer {
    let out = Box::new(io::stdout());
    match format {
        OutputFormat::Text => {
            let screen = Screen::new(out, Box::new(io::stderr()), look_at(env).look());
            Printer::Text(Box::new(TextPrinter::new(screen, CapabilityLevel::highest().number())))
        }
        OutputFormat::Json => Printer::Json(JsonPrinter::new(out, say::note)),
        OutputFormat::StreamJson => Printer::StreamJson(JsonPrinter::new(out, say::note)),
        OutputFormat::ClaudeStreamJson => {
            Printer::Claude(Box::new(ClaudePrinter::new(JsonPrinter::new(out, say::note))))
        }
    }
}

/// Whether the surroundings say that nobody is there, terminal or not.
pub fn is_unattended(env: &Env) -> bool {
    env.var("CI").is_some_and(|value| !matches!(value, "" | "0" | "false"))
}
