//! A window on a session that is made up: the same loop, terminal and keys as in `neco`, without a model.
//!
//! `cargo run -p neco-tui --example play`. What is written decides what happens: `edit` asks for an approval,
//! `run` runs a command, `ask` asks a question, `plan` shows a plan, `agents` starts three others, `flood` streams as
//! fast as it can, `stall` hangs, anything else is answered.

mod client;
mod host;
mod script;

use std::sync::Arc;

use neco_tui::theme::ThemeName;
use neco_tui::{Depth, Looks, Wanted, WindowError};

#[tokio::main]
async fn main() -> Result<(), WindowError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let theme = arguments.first().and_then(|name| ThemeName::named(name)).unwrap_or_default();
    let looks = Looks {
        theme,
        depth: Depth::True,
        vi: arguments.iter().any(|argument| argument == "vi"),
        most_iterations: Some(50),
        greeting: "Neco, made up".to_owned(),
        ..Looks::default()
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        neco_tui::give_back();
        hook(panic);
    }));
    let scene = Arc::new(host::Scene::default());
    neco_tui::run(scene.clone(), scene, Wanted::New, None, looks).await
}
