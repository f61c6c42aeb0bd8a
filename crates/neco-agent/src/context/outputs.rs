//! Outputs of earlier calls, and their arguments: which of them are outdated or used up, and what stands in their
//! place.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use neco_model::tokens::{Family, estimate};
use neco_model::{Entry, History};
use neco_proto::event::{TrimmedArguments, TrimmedOutput};
use neco_proto::{CallId, Part, Role, ToolCall, ToolResult};
use neco_safety::policy::canonical::canonical;
use neco_safety::tools::spelling;
use neco_safety::untrusted;
use serde_json::Value;

use super::arguments::{is_long, one_line};

/// Bytes of an output that is long.
const LONG: usize = 4096;
/// Bytes of its beginning and of its end that stay.
const HEAD: usize = 1200;
const TAIL: usize = 800;
/// Bytes of an output by which it is known how many tokens it has.
const SAMPLE: usize = 512;
/// About as many bytes as such a note has.
const AROUND: usize = 70;

/// What of calls can be shorter. What it would become is only written when it is wanted.
#[derive(Debug, Default)]
pub struct UsedUp<'a> {
    outputs: Vec<(&'a ToolResult, Why)>,
    /// Calls whose arguments may become shorter.
    calls: Vec<&'a ToolCall>,
    /// Those whose arguments do, and what they become.
    lines: OnceCell<Vec<(&'a ToolCall, String)>>,
}

/// Why an output is not needed any more.
#[derive(Debug)]
enum Why {
    /// The file of this path is read again later.
    ReadAgain(String),
    /// It is long and old.
    Long,
}

/// What can be shorter: reads of a file that was read again, and long outputs and arguments that are older than the
/// turns from `recent` on.
pub fn used_up(history: &History, recent: usize) -> UsedUp<'_> {
    let calls = calls(history);
    let shortened: HashSet<&CallId> = history.iter().flat_map(|entry| &entry.message().stands_for.outputs).collect();
    let mut read_later: HashMap<String, Vec<Reading<'_>>> = HashMap::new();
    let mut shorter = Vec::new();
    for (at, result) in results(history).into_iter().rev() {
        let call = calls.get(&result.call_id);
        let read = call.filter(|_| result.error_code.is_none()).and_then(|call| Reading::of(call, result));
        // What was shortened shows nothing for sure.
        let read = read.filter(|_| !shortened.contains(&result.call_id));
        if let Some((path, reading)) = read {
            let later = read_later.entry(path.clone()).or_default();
            if later.iter().any(|newer| newer.covers(&reading)) {
                shorter.push((result, Why::ReadAgain(path)));
                continue;
            }
            later.push(reading);
        }
        if at < recent && result.output.len() > LONG {
            shorter.push((result, Why::Long));
        }
    }
    shorter.reverse();
    let old = history.iter().take(recent).flat_map(|entry| entry.message().tool_calls());
    UsedUp { outputs: shorter, calls: old.filter(|call| is_long(call)).collect(), lines: OnceCell::new() }
}

impl<'a> UsedUp<'a> {
    /// The most tokens that shortening can save, as if nothing were left of long arguments. Costs little.
    pub fn saves_at_most(&self, family: Family) -> u64 {
        let arguments = self.calls.iter().map(|call| tokens_gone(&call.arguments, 0, family));
        self.saved_by_outputs(family).saturating_add(arguments.sum())
    }

    /// About how many tokens shortening saves: a piece of each text tells how dense it is.
    pub fn saves(&self, family: Family) -> u64 {
        let arguments = self.lines().iter().map(|(call, line)| tokens_gone(&call.arguments, line.len(), family));
        self.saved_by_outputs(family).saturating_add(arguments.sum())
    }

    fn saved_by_outputs(&self, family: Family) -> u64 {
        let saved = |(result, why): &(&ToolResult, Why)| {
            let left = match why {
                Why::ReadAgain(path) => AROUND + path.len(),
                Why::Long => AROUND + HEAD + TAIL,
            };
            tokens_gone(&result.output, left, family)
        };
        self.outputs.iter().map(saved).sum()
    }

    fn lines(&self) -> &[(&'a ToolCall, String)] {
        let shorter = || self.calls.iter().filter_map(|call| Some((*call, one_line(call)?))).collect();
        self.lines.get_or_init(shorter)
    }

    /// What stands in place of arguments.
    pub fn arguments(&self) -> Vec<TrimmedArguments> {
        self.lines().iter().map(|(call, line)| trimmed(call, line.clone())).collect()
    }

    /// What stands in place of outputs.
    pub fn outputs(&self) -> Vec<TrimmedOutput> {
        let shorter = |(result, why): &(&ToolResult, Why)| {
            let text = match why {
                Why::ReadAgain(path) => {
                    format!("[This reading of {path} was taken out: the file is read again below.]")
                }
                Why::Long => clipped(&result.output, HEAD, TAIL),
            };
            replaced(result, text)
        };
        self.outputs.iter().filter_map(shorter).collect()
    }
}

/// About how many tokens a text loses of which so many bytes are left.
fn tokens_gone(text: &str, left: usize, family: Family) -> u64 {
    let (from, to) = (text.floor_char_boundary(HEAD), text.floor_char_boundary(HEAD + SAMPLE));
    let sample = text.get(from..to).filter(|sample| !sample.is_empty()).unwrap_or(text);
    let gone = text.len().saturating_sub(left) as u64;
    gone.saturating_mul(estimate(sample, family)) / (sample.len() as u64).max(1)
}

fn trimmed(call: &ToolCall, arguments: String) -> TrimmedArguments {
    TrimmedArguments { call_id: call.id.clone(), arguments }
}

/// What was shortened to make room.
#[derive(Debug, Default)]
pub struct Dropped {
    /// Outputs.
    pub outputs: Vec<TrimmedOutput>,
    /// Arguments.
    pub arguments: Vec<TrimmedArguments>,
}

/// Shortens outputs and arguments until `too_many` tokens are saved or nothing is left to shorten: the oldest first
/// and down to a note, outputs from `recent` on last and only in their middle.
pub fn dropped(history: &History, from: usize, recent: usize, too_many: u64, family: Family) -> Dropped {
    let (mut shorter, mut saved) = (Dropped::default(), 0);
    let results = results(history);
    let calls = calls(history);
    for (at, result) in results.iter().filter(|(at, _)| *at >= from) {
        if saved >= too_many {
            break;
        }
        let text = if *at < recent {
            let call = calls.get(&result.call_id);
            if let Some((call, line)) = call.and_then(|call| Some((call, one_line(call)?))) {
                saved += estimate(&call.arguments, family).saturating_sub(estimate(&line, family));
                shorter.arguments.push(trimmed(call, line));
            }
            let name = call.map_or("the tool", |call| call.name.as_str());
            format!("[The output of {name} was taken out to make room; call it again if it is needed.]")
        } else {
            let left = usize::try_from(too_many - saved).unwrap_or(usize::MAX);
            // About four bytes make a token; one that is cut again saves what is missing then.
            let keep = result.output.len().saturating_sub(left.saturating_mul(5)).max(LEAST);
            clipped(&result.output, keep * 3 / 5, keep * 2 / 5)
        };
        let Some(trimmed) = replaced(result, text) else { continue };
        saved += estimate(&result.output, family).saturating_sub(estimate(&trimmed.output, family));
        shorter.outputs.push(trimmed);
    }
    shorter
}

/// What stays of a fresh output in any case.
const LEAST: usize = 400;

/// The place where the last `turns` turns begin: at what was said before the first of them. None when
/// there are not more turns than that.
pub fn recent_from(history: &History, turns: usize) -> Option<usize> {
    // From the end, so that a long conversation is not walked through for its last turns.
    let roles = || history.iter().rev().map(|entry| entry.message().role);
    let answers = roles().enumerate().filter(|(_, role)| *role == Role::Assistant);
    let after = answers.map(|(back, _)| back + 1).take(turns).last()?;
    let said = roles().skip(after).take_while(|role| *role == Role::User).count();
    let from = history.len() - after - said;
    (from > 0).then_some(from)
}

/// Beginning and end of a text, with a note between them; cut at lines where there are some. What came
/// from outside stays between its tags on both sides of the cut.
pub fn clipped(text: &str, head: usize, tail: usize) -> String {
    if text.len() <= head + tail + LEAST / 2 {
        return text.to_owned();
    }
    let head_end =
        text.get(..text.floor_char_boundary(head)).map_or(0, |part| part.rfind('\n').map_or(part.len(), |at| at + 1));
    let head_end = untrusted::tag_around(text, head_end).map_or(head_end, |tag| tag.end);
    let tail_from = text.floor_char_boundary(text.len() - tail);
    let rest = text.get(tail_from..).unwrap_or_default();
    let tail_from = rest.find('\n').map_or(tail_from, |at| tail_from + at + 1);
    let tail_from = untrusted::tag_around(text, tail_from).map_or(tail_from, |tag| tag.start);
    let (head, middle) = text.split_at_checked(head_end).unwrap_or(("", text));
    let (middle, tail) = middle.split_at_checked(tail_from.saturating_sub(head_end)).unwrap_or((middle, ""));
    let closed = untrusted::tags_at(text, head_end).map(|(_, close)| format!("{close}\n")).unwrap_or_default();
    let opened = untrusted::tags_at(text, tail_from).map(|(open, _)| format!("{open}\n")).unwrap_or_default();
    let lines = middle.lines().count();
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    let gap = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let note = format!("[… {lines} ({} bytes) were taken out to make room …]", middle.len());
    format!("{head}{gap}{closed}{note}\n{opened}{tail}")
}

fn replaced(result: &ToolResult, output: String) -> Option<TrimmedOutput> {
    (output.len() < result.output.len()).then(|| TrimmedOutput { call_id: result.call_id.clone(), output })
}

fn calls(history: &History) -> HashMap<&CallId, &ToolCall> {
    history.iter().flat_map(|entry| entry.message().tool_calls()).map(|call| (&call.id, call)).collect()
}

fn results(history: &History) -> Vec<(usize, &ToolResult)> {
    history.iter().enumerate().flat_map(|(at, entry)| results_of(at, entry)).collect()
}

fn results_of(at: usize, entry: &Entry) -> impl Iterator<Item = (usize, &ToolResult)> {
    entry.message().parts.iter().filter_map(move |part| match part {
        Part::ToolResult(result) => Some((at, result)),
        Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) => None,
    })
}

/// What a call showed of a file. Its lines are only looked at when the file is read twice.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reading<'a> {
    /// All that was asked for.
    arguments: String,
    output: &'a str,
    /// The first and the last line, where all between them are there.
    lines: OnceCell<Option<(u64, u64)>>,
}

impl<'a> Reading<'a> {
    /// The path, and what was shown of it.
    fn of(call: &ToolCall, result: &'a ToolResult) -> Option<(String, Self)> {
        if spelling(&call.name) != "read_file" {
            return None;
        }
        let mut arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        let path = arguments.as_object_mut()?.remove("path")?;
        let path = path.as_str()?.trim_start_matches("./").to_owned();
        let (arguments, output) = (canonical(&arguments), &result.output);
        Some((path, Self { arguments, output, lines: OnceCell::new() }))
    }

    /// Whether it shows all that an older one did.
    fn covers(&self, older: &Self) -> bool {
        let shows = || self.lines().zip(older.lines()).is_some_and(|(new, old)| new.0 <= old.0 && old.1 <= new.1);
        self.arguments == older.arguments || shows()
    }

    fn lines(&self) -> Option<(u64, u64)> {
        *self.lines.get_or_init(|| shown(self.output))
    }
}

/// The first and the last line of a page of numbered lines; nothing where lines have no numbers, or one
/// is missing between them.
fn shown(output: &str) -> Option<(u64, u64)> {
    let own = |line: &&str| line.is_empty() || line.starts_with(['<', '[', '(']);
    let mut lines = output.lines().filter(|line| !own(line)).map(|line| line.split_once('\t')?.0.parse::<u64>().ok());
    let first = lines.next()??;
    let last = lines.try_fold(first, |last, next| (next? == last.checked_add(1)?).then_some(last + 1))?;
    Some((first, last))
}
