//! Which turn comes next, and the pieces it is streamed in.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::script::{Fault, Script, ScriptCall, Turn};
use crate::delta::Delta;
use crate::request::Request;

/// Plays a script for one model, from the beginning.
#[derive(Debug)]
pub struct Player {
    script: Arc<Script>,
    model: String,
    played: AtomicUsize,
    /// How often each agent below the root asked, by the part that it plays and by itself.
    parts: Mutex<HashMap<(usize, String), usize>>,
}

/// One turn as it is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// Which request it answers, from 1.
    pub request: usize,
    /// The turn, with `{n}` filled in.
    pub turn: Turn,
    /// Its pieces, usage and finish included.
    pub pieces: Vec<Delta>,
}

impl Player {
    /// Plays what `script` has for `model`.
    pub fn new(script: Arc<Script>, model: &str) -> Self {
        Self { script, model: model.to_owned(), played: AtomicUsize::new(0), parts: Mutex::default() }
    }

    /// Tokens that fit into one request and its answer, when the script says so.
    pub fn context_window(&self) -> Option<u64> {
        self.script.context_window
    }

    /// The turn that answers a request: of the part of the agent that asks, or the next one.
    /// Fails when the script is used up; a text for a person.
    pub fn answer(&self, request: &Request) -> Result<Played, String> {
        let parts = self.script.agents.iter().enumerate();
        let Some((index, part)) = parts.into_iter().find(|(_, part)| part.fits(request)) else { return self.next() };
        let before = {
            let mut asked = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            let times = asked.entry((index, request.cache_key.clone())).or_default();
            std::mem::replace(times, *times + 1)
        };
        self.played_of(&part.turns, before)
    }

    /// The next turn.
    /// Fails when the script is used up; a text for a person.
    pub fn next(&self) -> Result<Played, String> {
        let before = self.played.fetch_add(1, Ordering::Relaxed);
        self.played_of(self.script.turns_of(&self.model), before)
    }

    fn played_of(&self, turns: &[Turn], before: usize) -> Result<Played, String> {
        let (turn, repetition) = self.turn_at(turns, before).ok_or_else(|| used_up(turns, before))?;
        let turn = filled_in(turn, repetition);
        let pieces = pieces(&turn, before, turn.chunk.unwrap_or(self.script.chunk));
        Ok(Played { request: before + 1, turn, pieces })
    }

    fn turn_at<'a>(&self, turns: &'a [Turn], mut at: usize) -> Option<(&'a Turn, usize)> {
        for turn in turns {
            let times = times(turn);
            if at < times {
                return Some((turn, at + 1));
            }
            at -= times;
        }
        let last = turns.last().filter(|_| self.script.loop_last)?;
        Some((last, times(last) + at + 1))
    }
}

fn times(turn: &Turn) -> usize {
    turn.repeat.unwrap_or(1) as usize
}

fn used_up(turns: &[Turn], before: usize) -> String {
    let answers: usize = turns.iter().map(times).sum();
    format!("the script is used up: it answers {answers} requests and this is number {}", before + 1)
}

fn filled_in(turn: &Turn, repetition: usize) -> Turn {
    let number = repetition.to_string();
    let fill = |text: &str| text.replace("{n}", &number);
    let call = |call: &ScriptCall| ScriptCall {
        name: call.name.clone(),
        arguments: fill_value(&call.arguments, &number),
        arguments_raw: call.arguments_raw.as_deref().map(fill),
        id: call.id.clone(),
    };
    Turn {
        say: fill(&turn.say),
        reasoning: fill(&turn.reasoning),
        calls: turn.calls.iter().map(call).collect(),
        ..turn.clone()
    }
}

fn fill_value(value: &Value, number: &str) -> Value {
    match value {
        Value::String(text) => text.replace("{n}", number).into(),
        Value::Array(items) => items.iter().map(|item| fill_value(item, number)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), fill_value(value, number))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The deltas of a whole turn, except its beginning.
fn pieces(turn: &Turn, request: usize, chunk: usize) -> Vec<Delta> {
    let mut pieces = Vec::new();
    if turn.fault != Some(Fault::Empty) {
        let thoughts = cut(&turn.reasoning, chunk);
        pieces.extend(thoughts.map(|text| Delta::Reasoning { text, opaque: None }));
        pieces.extend(cut(&turn.say, chunk).map(Delta::Text));
        for (index, call) in turn.calls.iter().enumerate() {
            add_call(call, request, index, chunk, &mut pieces);
        }
    }
    pieces.extend(turn.usage.map(|usage| Delta::Usage(usage.into())));
    pieces.push(Delta::Finish(turn.finish_reason()));
    pieces
}

fn add_call(call: &ScriptCall, request: usize, at: usize, chunk: usize, pieces: &mut Vec<Delta>) {
    let index = u32::try_from(at).unwrap_or(u32::MAX);
    let id = call.id.clone().unwrap_or_else(|| Some(format!("call_{}_{}", request + 1, at + 1)));
    pieces.push(Delta::CallStart { index, id, name: call.name.clone() });
    let texts = cut(&call.arguments_text(), chunk);
    pieces.extend(texts.map(|text| Delta::CallArguments { index, text }));
}

/// Pieces of `chunk` characters, or words with the space after them.
fn cut(text: &str, chunk: usize) -> std::vec::IntoIter<String> {
    let pieces: Vec<String> = if chunk == 0 {
        text.split_inclusive(' ').map(str::to_owned).collect()
    } else {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(chunk).map(|piece| piece.iter().collect()).collect()
    };
    pieces.into_iter()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::delta::{Answer, FinishReason};

    fn play(player: &Player) -> Result<Answer, String> {
        let mut answer = Answer::default();
        player.next()?.pieces.iter().for_each(|piece| answer.add(piece));
        Ok(answer)
    }

    #[test]
    fn turns_repeat_count_and_end() {
        let script = Script::new().call("read", json!({ "path": ["f{n}"] })).repeat(2).say("end {n}").in_pieces_of(1);
        let player = Player::new(Arc::new(script), "m");
        for n in 1..=2 {
            let answer = play(&player).unwrap();
            assert_eq!(answer.calls[0].arguments, format!("{{\"path\":[\"f{n}\"]}}"));
            assert_eq!(answer.calls[0].id, Some(format!("call_{n}_1")));
            assert_eq!(answer.finish, Some(FinishReason::ToolCalls));
        }
        assert_eq!(play(&player).unwrap().text, "end 1");
        assert_eq!(play(&player).unwrap_err(), "the script is used up: it answers 3 requests and this is number 4");
    }

    #[test]
    fn the_last_turn_may_go_on() {
        let player = Player::new(Arc::new(Script::new().say("a").say("b {n}").loop_last()), "m");
        let texts: Vec<String> = (0..4).map(|_| play(&player).unwrap().text).collect();
        assert_eq!(texts, ["a", "b 1", "b 2", "b 3"]);
    }

    #[test]
    fn models_may_have_turns_of_their_own() {
        let mut script = Script::new().say("main");
        script.models.insert("child".to_owned(), Script::new().say("child").turns);
        let script = Arc::new(script);
        assert_eq!(play(&Player::new(script.clone(), "child")).unwrap().text, "child");
        assert_eq!(play(&Player::new(script, "other")).unwrap().text, "main");
    }

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(cut("one two  three", 0).collect::<Vec<_>>(), ["one ", "two ", " ", "three"]);
        assert_eq!(cut("日本語", 2).collect::<Vec<_>>(), ["日本", "語"]);
    }
}
