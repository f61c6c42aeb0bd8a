//! The session goes on in the background, and the window ends.

use neco_proto::app::AppError;
use neco_proto::clean::clean_line;
use neco_view::wording::background as words;

use super::effect::Effect;
use crate::app::{Detaching, WindowState};
use crate::host::Wanted;
use crate::transcript::block::Tone;

/// Has the session go on without the window. What would end with that is named before.
pub(super) fn detach(window: &mut WindowState, now: bool) -> Vec<Effect> {
    if window.attached {
        return window.only_tell("Another process works on this session; /exit leaves it to that");
    }
    if window.passing {
        return window.only_tell("Nothing is kept of this session, so it can't go on without its window");
    }
    if window.shell.runs() {
        return window.only_tell("Your command still runs here; Esc stops it");
    }
    if window.standing().going_back.is_some() {
        return window.only_tell("Not while it is being rewound");
    }
    let named = words::named(window.background.running());
    if !now && !named.is_empty() {
        window.warn(format!("{named} would end: commands in the background end with this window. /detach now goes"));
        return Vec::new();
    }
    let is_told = window.detaching != Detaching::Not;
    if is_told && !now {
        return window.only_tell("It goes when what runs has ended; /detach now does not wait for that");
    }
    window.detaching = Detaching::Asked;
    let told = if now { None } else { waits_for(window) };
    match told {
        Some(runs) => window
            .transcript
            .say(Tone::Plain, format!("Goes when {runs} has ended; /detach now does not wait, and cuts that short")),
        None => window.tell("Going into the background …"),
    }
    vec![Effect::Detach(now)]
}

/// What is waited for, where something is that takes long.
fn waits_for(window: &WindowState) -> Option<String> {
    let agents: Vec<String> = window.agents().working().map(|node| clean_line(&node.name)).collect();
    if !agents.is_empty() {
        return Some(agents.join(", "));
    }
    window.transcript.runs().then(|| "the present call".to_owned())
}

/// It goes on in the background, or here.
pub(super) fn detached(window: &mut WindowState, detached: Result<String, AppError>) -> Vec<Effect> {
    match (detached, std::mem::take(&mut window.detaching)) {
        (Ok(words), _) => {
            window.transcript.say(Tone::Plain, words);
            // It is whoever goes on with it that works now.
            window.attached = true;
            vec![Effect::Quit]
        }
        (Err(error), ended) => {
            window.warn(error.words());
            match ended {
                Detaching::Ended => {
                    window.opening = true;
                    vec![Effect::GoOn(Wanted::Id(window.standing().session_id.clone()))]
                }
                Detaching::Not | Detaching::Asked => Vec::new(),
            }
        }
    }
}
