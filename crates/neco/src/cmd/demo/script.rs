//! What the scripted model of the demo says and does.

use neco_model::Script;
use neco_model::scripted::{Expect, Turn};
use serde_json::json;

/// What the model is asked.
pub const TASK: &str = "The test fails. Find out why and fix it.";

/// The text that is replaced in `slug.sh`.
pub const OLD: &str = "tr ' ' '-'";
/// What it is replaced by.
pub const NEW: &str = "tr -cs 'a-z0-9' '-' | sed 's/^-*//; s/-*$//'";

/// What the model says when the task is done and somebody writes on.
const OVER: &str = "That was the demo: this model only plays a script. Ctrl-C twice leaves.";

/// The answers for the window, where a person may say no: nothing is expected, and the last words answer whatever comes.
pub fn for_window(pace: u64) -> Script {
    let mut script = script(pace);
    script.turns.iter_mut().for_each(|turn| turn.expect = None);
    if let Some(last) = script.turns.last_mut() {
        last.say = format!("{}\n\nCtrl-C twice leaves the demo.", last.say);
    }
    script.turns.push(paced(Turn { say: OVER.to_owned(), ..Turn::default() }, pace));
    Script { loop_last: true, ..script }
}

/// The answers; `pace` is the time in milliseconds that a model would take to begin one.
pub fn script(pace: u64) -> Script {
    let fails = Expect { last_tool_contains: Some("FAIL".to_owned()), ..Expect::default() };
    let passes = Expect { last_tool_contains: Some("ok    neco-in-two-seconds".to_owned()), ..Expect::default() };
    let script = Script::new()
        .call("list_directory", json!({ "path": "." }))
        .also_call("read_file", json!({ "path": "slug.sh" }))
        .also_call("read_file", json!({ "path": "test.sh" }))
        .saying("I look at the project first.")
        .call("bash", json!({ "command": "sh test.sh" }))
        .saying("Now I run the test to see it fail.")
        .call("edit_file", json!({ "path": "slug.sh", "old_string": OLD, "new_string": NEW }))
        .saying(
            "`slug.sh` turns every single space into a hyphen and keeps the `!`. It should turn each run of other \
             characters into one hyphen, and have none at the ends.",
        )
        .expecting(fails)
        .call("bash", json!({ "command": "sh test.sh" }))
        .say("Fixed: `slug.sh` now joins words by single hyphens and drops punctuation. Both cases of `test.sh` pass.")
        .expecting(passes);
    Script { turns: script.turns.into_iter().map(|turn| paced(turn, pace)).collect(), ..script }
}

fn paced(turn: Turn, pace: u64) -> Turn {
    Turn { delay_ms: pace, between_ms: pace / 20, ..turn }
}
