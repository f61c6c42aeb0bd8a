//! The list of settings, and the list of what one of them can be set to.

use neco_proto::app::settings::{SettingList, SettingProblem, SettingRow};
use neco_view::setting::Setting;
use neco_view::slash::Slash;
use neco_view::wording::Told;

use super::picking::{CHOOSE, is_waited_for};
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, WindowState};
use crate::text::figures;

/// The settings that people change first, by how their keys begin.
const CHANGED_FIRST: &[&str] =
    &["tui.theme", "tui.vi", "tui.keys", "tui.notif", "tui.", "approval", "model", "mode", "sandbox.level"];

/// The settings that people change last.
const CHANGED_LAST: &[&str] = &["agent.guards.", "network."];

/// What something can be set to, at how it is set now.
pub(super) fn pick_setting(window: &mut WindowState, setting: Setting, present: &str) {
    let choices = setting.choices();
    let at = choices.iter().position(|(word, ..)| *word == present).unwrap_or_default();
    let entry = |(word, about, slash): (&str, &str, Slash)| {
        let here = if word == present { "• " } else { "  " };
        Entry::spaced(format!("{here}{word:<16}"), about, Picked::Slash(Box::new(slash)))
    };
    let entries = choices.into_iter().map(entry).collect();
    window.picker = Some(Picker::new(setting.title(), CHOOSE, Letters::Filter, entries).at(at));
}

/// The settings with their values and where those come from; what is wrong in their files stands first.
pub(super) fn pick_setting_key(window: &mut WindowState, list: SettingList) {
    if !is_waited_for(window) {
        return;
    }
    let wrong = |problem: &SettingProblem| {
        let (about, picked) = match &problem.file {
            Some(file) => ("Enter opens it in your editor", Picked::EditFile(file.clone())),
            None => ("", Picked::Nothing),
        };
        let kept = Told::plain("what is open keeps the settings it had");
        Entry::new(&format!("! {}", problem.words), about, picked).telling(vec![kept])
    };
    let row = |row: &SettingRow| {
        let value = if row.value.is_empty() { "not set" } else { &row.value };
        let from = row.origins.first().map(|origin| format!(" · {origin}")).unwrap_or_default();
        // What is hidden is not there to be changed.
        let present = if row.value.contains("***") { "" } else { &row.value };
        let fill = Picked::Fill(format!("/config {} {present}", row.key));
        let told = [&row.meaning, &row.takes].into_iter().filter(|text| !text.is_empty());
        let told = told.map(Told::plain).collect();
        Entry::new(&row.key, &format!("{value}{from}"), fill).telling(told)
    };
    let (built_in, set): (Vec<&SettingRow>, Vec<&SettingRow>) =
        list.settings.iter().partition(|row| row.layer == "built-in");
    let group = |name: &str, mut rows: Vec<&SettingRow>| {
        rows.sort_by_key(|row| place_of(&row.key));
        let name = (!rows.is_empty()).then(|| Entry::heading(name));
        name.into_iter().chain(rows.into_iter().map(row)).collect::<Vec<Entry>>()
    };
    let unset = list.unset.iter().collect();
    let groups = [group("Set", set), group("Defaults", built_in), group("Not set", unset)].concat();
    let heading = format!("Search {}", figures::count(list.settings.len() + list.unset.len(), "setting", "settings"));
    let entries = list.problems.iter().map(wrong).chain(groups).collect();
    window.picker = Some(Picker::new(heading, "↑↓ Enter change   Esc close", Letters::Filter, entries));
}

/// How far up in the list a setting stands; those of the same place stay in the order of their names.
fn place_of(key: &str) -> usize {
    let first = CHANGED_FIRST.iter().position(|begins| key.starts_with(begins));
    let is_last = CHANGED_LAST.iter().any(|begins| key.starts_with(begins));
    first.unwrap_or(CHANGED_FIRST.len() + usize::from(is_last))
}
