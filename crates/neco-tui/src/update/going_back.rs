//! Going back and taking that back: what can be gone back to, what it would change, and the question before it.

use jiff::tz::TimeZone;
use neco_proto::clean::clean_line;
use neco_proto::event::{Rewind, RewindWhat};
use neco_proto::{ChangedFiles, CheckpointInfo, Command, Query, RewindKind, RewindPoint, RewindPreview};
use neco_view::wording::rewind as wording;

use super::effect::Effect;
use super::picking;
use super::picking::CHOOSE;
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, RewindWanted, WindowState};
use crate::text::figures;
use neco_view::reduce::standing::GoingBack;

/// What can go back, in the order it is shown.
const REWINDS: [(RewindWhat, &str); 3] = [
    (RewindWhat::Both, "conversation and files"),
    (RewindWhat::Conversation, "conversation only"),
    (RewindWhat::Files, "files only"),
];

/// Most files that are named.
const NAMED: usize = 1000;

/// Columns of how many calls were made, and of how many files were changed.
const CALLS: usize = 9;
const FILES: usize = 8;

/// Characters of the name of a state that are shown.
const REV: usize = 10;

/// Goes back to what is named: a message by its number, or a state of the files; to what the person chooses when
/// nothing is.
pub(super) fn go_back_to(window: &mut WindowState, wanted: &str) -> Vec<Effect> {
    let effects = picking::ask_for_list(window, Effect::Ask(Query::RewindPoints));
    window.rewind_wanted = (!wanted.is_empty()).then(|| RewindWanted::Named(wanted.to_owned()));
    effects
}

/// Goes one step, which `/undo` and `/redo` do.
pub(super) fn step(window: &mut WindowState, query: Query) -> Vec<Effect> {
    let effects = picking::ask_for_list(window, Effect::Ask(query));
    window.rewind_wanted = Some(RewindWanted::Step);
    effects
}

/// The messages that the session can go back to.
pub(super) fn pick_message(window: &mut WindowState, mut points: Vec<RewindPoint>) -> Vec<Effect> {
    if !picking::is_waited_for(window) {
        return Vec::new();
    }
    if let Some(RewindWanted::Named(wanted)) = window.rewind_wanted.take() {
        let named = points.into_iter().find(|point| wanted.parse() == Ok(point.number));
        return match named {
            Some(point) => pick_what(window, point),
            None => ask_about(window, wanted),
        };
    }
    if points.is_empty() {
        return window.only_tell("No message to rewind to");
    }
    points.reverse();
    let zone = window.zone.clone().unwrap_or(TimeZone::UTC);
    let entry = |point: RewindPoint| {
        let time = point.ts.to_zoned(zone.clone()).strftime("%H:%M").to_string();
        let calls = match usize::try_from(point.calls).unwrap_or_default() {
            0 => String::new(),
            calls => figures::count(calls, "call", "calls"),
        };
        let about = format!("{time}   {}   {}", figures::padded(&calls, CALLS), changed(point.changed));
        Entry::aligned(&format!("{}. {}", point.number, point.text), about.trim_end(), Picked::Message(point))
    };
    let states = Entry::new("a checkpoint …", "files only, from a checkpoint", Picked::Checkpoints);
    let entries = points.into_iter().map(entry).chain([states]).collect();
    window.picker = Some(Picker::new("Rewind to before a message", CHOOSE, Letters::Filter, entries));
    preview(window)
}

/// `2 files    +13   −0`: what was changed because of a message; commands do not tell of lines.
fn changed(ChangedFiles { files, added, removed }: ChangedFiles) -> String {
    let count = figures::count(usize::try_from(files).unwrap_or(usize::MAX), "file", "files");
    match (files, added + removed) {
        (0, _) => String::new(),
        (_, 0) => count,
        _ => format!("{}{:>6}   −{removed}", figures::padded(&count, FILES), format!("+{added}")),
    }
}

/// The states that the files can be put into.
pub(super) fn pick_checkpoint(window: &mut WindowState, mut checkpoints: Vec<CheckpointInfo>) -> Vec<Effect> {
    if !picking::is_waited_for(window) {
        return Vec::new();
    }
    if checkpoints.is_empty() {
        return window.only_tell("No checkpoint yet: the first edit or command makes one");
    }
    checkpoints.reverse();
    let zone = window.zone.clone().unwrap_or(TimeZone::UTC);
    let entry = |info: CheckpointInfo| {
        let rev: String = info.rev.chars().take(REV).collect();
        let changed = figures::count(usize::try_from(info.changed).unwrap_or_default(), "file", "files");
        let about = format!("{} · {changed} changed", info.ts.to_zoned(zone.clone()).strftime("%H:%M:%S"));
        Entry::new(&format!("{rev} {}", wording::moment(info.when, &info.label)), &about, Picked::Checkpoint(info))
    };
    let entries = checkpoints.into_iter().map(entry).collect();
    window.picker = Some(Picker::new("Restore files from a checkpoint", CHOOSE, Letters::Filter, entries));
    preview(window)
}

/// Asks what putting the files into a state would do, to ask the person then.
pub(super) fn ask_about(window: &mut WindowState, rev: String) -> Vec<Effect> {
    let effects = picking::ask_for_list(window, Effect::Ask(Query::CheckpointPreview { rev: rev.clone() }));
    window.rewind_wanted = Some(RewindWanted::Named(rev));
    effects
}

/// Asks what the chosen entry would do, or what was said in it.
pub(super) fn preview(window: &mut WindowState) -> Vec<Effect> {
    let chosen = window.picker.as_ref().and_then(Picker::chosen);
    if let Some(Picked::Session(id)) = chosen.map(|entry| &entry.picked) {
        return vec![Effect::LookInto(id.clone())];
    }
    chosen.and_then(|entry| preview_of(&entry.picked)).map(Effect::Ask).into_iter().collect()
}

/// What going back would change: of what is chosen, or of what the person is asked about now.
pub(super) fn previewed(window: &mut WindowState, preview: &RewindPreview) -> Vec<Effect> {
    let Some(picker) = &mut window.picker else { return go_or_ask(window, preview) };
    let answered = match (preview.kind, &preview.rev) {
        (RewindKind::Checkpoint, Some(rev)) => Query::CheckpointPreview { rev: rev.clone() },
        (RewindKind::Checkpoint | RewindKind::Message | RewindKind::Undo | RewindKind::Redo, _) => {
            Query::RewindPreview { message_id: preview.message_id, what: preview.what }
        }
    };
    let fits = picker.chosen().and_then(|entry| preview_of(&entry.picked)) == Some(answered);
    if fits {
        picker.set_preview(wording::preview(preview, NAMED));
    }
    Vec::new()
}

/// Goes where `/undo` and `/redo` lead; asks first where that costs something that nobody saw, and before files alone
/// are put back.
fn go_or_ask(window: &mut WindowState, preview: &RewindPreview) -> Vec<Effect> {
    let turn = preview.messages.last().filter(|_| preview.messages.len() == 1 && preview.what == RewindWhat::Both);
    let is_meant = match (preview.kind, &window.rewind_wanted) {
        (RewindKind::Message, Some(RewindWanted::Step)) => turn.is_some(),
        (RewindKind::Undo | RewindKind::Redo, Some(RewindWanted::Step)) => true,
        (RewindKind::Checkpoint, Some(RewindWanted::Named(wanted))) => {
            wanted == "end" || preview.rev.as_ref().is_some_and(|rev| rev.starts_with(wanted.as_str()))
        }
        // A list that is closed by now asked for it.
        _ => false,
    };
    if !is_meant || !window.person.waits_for_list() || !picking::is_waited_for(window) {
        return Vec::new();
    }
    window.rewind_wanted = None;
    let about = clean_line(&preview.about);
    let rev: String = preview.rev.iter().flat_map(|rev| rev.chars()).take(REV).collect();
    let go = |command| Picked::Go(Box::new(command), None);
    let (heading, yes, picked) = match preview.kind {
        RewindKind::Message => {
            let picked = turn.map(|point| Picked::Rewind(point.clone(), preview.what));
            (format!("Undo “{about}”?"), "Yes, undo it", picked)
        }
        RewindKind::Checkpoint => {
            let picked = preview.rev.clone().map(|rev| go(Command::RestoreCheckpoint { rev }));
            (format!("Restore the files of checkpoint {rev} ({about})?"), "Yes, restore them", picked)
        }
        RewindKind::Undo => {
            let heading = format!("Undo the rewind to before “{about}”?");
            (heading, "Yes, undo it", Some(go(Command::UndoRewind)))
        }
        RewindKind::Redo => {
            let heading = format!("Rewind to before “{about}” again?");
            let leaves = preview.messages.iter().find(|point| point.message_id == preview.message_id);
            let said = leaves.map_or(&preview.about, |point| &point.text);
            let said = preview.what.conversation().then(|| said.clone());
            (heading, "Yes, rewind again", Some(Picked::Go(Box::new(Command::RedoRewind), said)))
        }
    };
    let Some(picked) = picked else { return Vec::new() };
    if preview.kind != RewindKind::Checkpoint && !wording::is_asked(preview) {
        return match picked {
            Picked::Rewind(point, what) => rewind(window, &point, what),
            Picked::Go(command, said) => goes_back(window, *command, said),
            _ => Vec::new(),
        };
    }
    let entries = vec![Entry::new(yes, "", picked), Entry::new("No, change nothing", "", Picked::Leave)];
    // Enter alone loses nothing of others.
    let (at, hint) = match preview.files.iter().any(|file| file.by_others) {
        true => (1, "y confirm   n, Enter or Esc cancel"),
        false => (0, "y or Enter confirm   n or Esc cancel"),
    };
    let picker = Picker::new(heading, hint, Letters::Command, entries).at(at);
    window.picker = Some(picker.with_preview(wording::preview(preview, NAMED)));
    Vec::new()
}

pub(super) fn pick_what(window: &mut WindowState, point: RewindPoint) -> Vec<Effect> {
    let at = if point.files { 0 } else { 1 };
    let heading = format!("Rewind to before “{}”", clean_line(&point.text));
    let entries = REWINDS.iter().map(|(what, words)| Entry::new(words, "", Picked::Rewind(point.clone(), *what)));
    let hint = format!("{CHOOSE}   {}", wording::REDO);
    window.picker = Some(Picker::new(heading, hint, Letters::Filter, entries.collect()).at(at));
    preview(window)
}

/// Goes back to before a message. What was said comes back into the field when that is done, to be said better.
pub(super) fn rewind(window: &mut WindowState, point: &RewindPoint, what: RewindWhat) -> Vec<Effect> {
    let said = what.conversation().then(|| point.text.clone());
    goes_back(window, Command::Rewind { message_id: point.message_id, what }, said)
}

/// The session went back: what was said comes back into the field, unless something else is written there by now. Where
/// it came forth again, what stands in the field since it went back is said already.
pub(crate) fn went_back(window: &mut WindowState, rewind: &Rewind) {
    if rewind.undoes.is_some() {
        window.prompt.take_offer_back();
    }
    // What was taken back is not gone on with.
    if rewind.conversation {
        window.can_go_on = false;
    }
    if let Some(text) = window.said_better.take().filter(|_| window.prompt.is_free()) {
        window.prompt.offer_again(&text);
    }
}

/// Has the session go back; `said` comes back into the field when that is done.
pub(super) fn goes_back(window: &mut WindowState, command: Command, said: Option<String>) -> Vec<Effect> {
    window.said_better = said;
    window.transcript.view.standing.going_back = Some(GoingBack { since_ms: window.now_ms, files: None });
    vec![Effect::Send(command)]
}

/// What asks what an entry of a list would do.
fn preview_of(picked: &Picked) -> Option<Query> {
    match picked {
        Picked::Message(RewindPoint { message_id, .. }) => {
            Some(Query::RewindPreview { message_id: *message_id, what: RewindWhat::Both })
        }
        Picked::Rewind(RewindPoint { message_id, .. }, what) => {
            Some(Query::RewindPreview { message_id: *message_id, what: *what })
        }
        Picked::Checkpoint(info) => Some(Query::CheckpointPreview { rev: info.rev.clone() }),
        Picked::Checkpoints
        | Picked::Go(..)
        | Picked::Leave
        | Picked::GoOn
        | Picked::Session(_)
        | Picked::OfSession(..)
        | Picked::Model(_)
        | Picked::Rule(_)
        | Picked::NewRule
        | Picked::BuiltInRules
        | Picked::Agent(_)
        | Picked::Background(..)
        | Picked::Order(..)
        | Picked::Write(_)
        | Picked::Print(_)
        | Picked::Slash(_)
        | Picked::Fill(_)
        | Picked::EditFile(_)
        | Picked::Answer(..)
        | Picked::Nothing
        | Picked::Workflow(_) => None,
    }
}
