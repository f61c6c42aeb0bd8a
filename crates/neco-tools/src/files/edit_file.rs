//! edit_file: text replaced in a file, in the one place that fits.

use std::borrow::Cow;

use neco_proto::{Display, ErrorCode};
use neco_safety::untrusted;
use neco_toolkit::{Plan, SideEffect, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{FileCall, FileTool, cancelled};
use super::change::Draft;
use super::diff::{self, Change};
use super::edit_words::{closest_words, fit_words, line_list, places_words, regions};
use super::ledger::Needed;
use super::left_out::{self, Written};
use super::matching::{Edited, Misfit, Replacement, apply, unfenced};
use super::{foreign, marked, near};

pub struct EditFile;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Path, relative or absolute.
    path: String,
    old_string: Option<String>,
    new_string: Option<String>,
    replace_all: Option<bool>,
    edits: Option<Vec<Edit>>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
}

impl FileTool for EditFile {
    type Args = Args;
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = include_str!("edit_file.md");
    const TOUCH: SideEffect = SideEffect::Writes;
    const FOREIGN: &'static [foreign::Names] = &[foreign::FILE, foreign::CHANGE];

    /// Others say beside it what the change is for, and how many places it is meant for: here it is one or all of them,
    /// and more than one is not changed unasked.
    fn adapt(arguments: &mut Map<String, Value>) {
        arguments.remove("instruction");
        arguments.remove("expected_replacements");
        if let Some(Value::Array(edits)) = arguments.get_mut("edits") {
            edits.iter_mut().for_each(|edit| foreign::rename(edit, foreign::CHANGE));
        }
    }

    fn summary(args: &Args) -> String {
        match args.edits.as_ref().map_or(1, Vec::len) {
            0 | 1 => format!("Edit {}", args.path),
            several => format!("Edit {} ({several} edits)", args.path),
        }
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        let prepared = prepare(args, call)?;
        Ok(Plan { diff: vec![prepared.change.diff], ..prepared.draft.judgement.plan() })
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        let mut prepared = prepare(args, call)?;
        call.go_on()?;
        let written = prepared.draft.write_changed(call, &prepared.text)?;
        prepared.notes.extend(Some(written.note().trim().to_owned()).filter(|note| !note.is_empty()));
        let (words, regions) = (prepared.words(), regions(&prepared.text, &prepared.change.regions));
        let (start, shown) = (words.len(), prepared.draft.located.shown());
        let known = call.ledger.to_keep(&prepared.draft.located);
        let output = ToolOutput::text(words + &regions).outside(start.., shown).with_known(known);
        let output = output.with_changed(&prepared.draft.located);
        Ok(output.with_display(Display::Diff { files: vec![prepared.change.diff] }))
    }
}

/// An edit that is ready to be written.
struct Prepared {
    draft: Draft,
    text: Vec<u8>,
    change: Change,
    /// How each replacement was found, where that is worth a word.
    notes: Vec<String>,
    count: usize,
}

impl Prepared {
    fn words(&self) -> String {
        let shown = self.draft.located.shown();
        let mut words = match (&self.draft.text, self.count) {
            (None, _) => format!("Created {shown}."),
            (Some(_), 1) => format!("Edited {shown}."),
            (Some(_), count) => format!("Edited {shown} in {count} places."),
        };
        for note in &self.notes {
            words.push(' ');
            words.push_str(note);
        }
        words.push('\n');
        words
    }
}

fn prepare(args: &Args, call: &FileCall) -> Result<Prepared, ToolError> {
    let (edits, redactor) = (edits_of(args)?, call.redactor());
    let draft = Draft::load(call, &args.path, Needed::Some)?;
    let before = draft.text.clone().unwrap_or_default();
    let (mut edits, old) = (restored(&edits, &draft), draft.old_text());
    let unfenced = without_fences(&mut edits, &draft);
    let shown = draft.located.shown();
    for (replaced, new, _) in &edits {
        marked::check(&redactor, replaced, &old, &shown)?;
        marked::check(&redactor, new, &old, &shown)?;
        left_out::check(&Written { shown: &shown, file: &old, old: replaced, new })?;
    }
    let edits: Vec<Replacement<'_>> = edits.iter().map(|(old, new, all)| Replacement { old, new, all: *all }).collect();
    if edits.iter().any(|edit| edit.old == edit.new) {
        let words = "the sign ¦ is only in what you are shown and not in the file, so there is nothing to change";
        return Err(ToolError::new(ErrorCode::InvalidArguments, words));
    }
    let creates = before.is_empty() && edits.first().is_some_and(|edit| edit.old.is_empty());
    if draft.text.is_none() && !creates {
        return Err(near::not_found(call.files(), &draft.located));
    }
    let mut state = Applied { text: before, notes: unfenced.into_iter().collect(), count: 0 };
    for (index, edit) in edits.iter().enumerate() {
        let which = if edits.len() > 1 { format!("edit {} of {}: ", index + 1, edits.len()) } else { String::new() };
        state.apply(edit, &which, &draft, call)?;
    }
    if draft.text.as_ref() == Some(&state.text) {
        let words =
            "it would change nothing: the text is there as it would be, and line endings stay those of the file";
        return Err(ToolError::new(ErrorCode::InvalidArguments, words));
    }
    let change = diff::change(&shown, draft.text.as_deref(), &state.text);
    if std::str::from_utf8(draft.text.as_deref().unwrap_or_default()).is_err()
        && edits.iter().any(|edit| !edit.new.is_ascii())
    {
        state.notes.push(
            "The file is not UTF-8 throughout, and the new text was written as UTF-8: the file now mixes encodings."
                .to_owned(),
        );
    }
    Ok(Prepared { draft, text: state.text, change, notes: state.notes, count: state.count })
}

/// Old and new text with what was broken for the model made whole again, and whether all is replaced.
fn restored<'a>(edits: &[Replacement<'a>], draft: &Draft) -> Vec<(Cow<'a, str>, Cow<'a, str>, bool)> {
    let original = draft.old_text();
    let whole = |text: &'a str| untrusted::restored(text, &original);
    edits.iter().map(|edit| (whole(edit.old), whole(edit.new), edit.all)).collect()
}

/// Takes code fences away that stand around new text alone, in a file that has none; says so.
fn without_fences(edits: &mut [(Cow<'_, str>, Cow<'_, str>, bool)], draft: &Draft) -> Option<String> {
    let file = draft.old_text();
    let has_fences = |text: &str| text.contains("```") || text.contains("~~~");
    if left_out::is_prose(&draft.located.shown()) || has_fences(&file) {
        return None;
    }
    let mut said = None;
    for (old, new, _) in edits.iter_mut().filter(|(old, _, _)| !has_fences(old)) {
        let Some(body) = unfenced(new) else { continue };
        let body = if old.ends_with('\n') { body.as_str() } else { body.strip_suffix('\n').unwrap_or(&body) };
        *new = Cow::Owned(body.to_owned());
        said = Some("The code fence around new_string was left out.".to_owned());
    }
    said
}

/// The replacements of a call, however they were given.
fn edits_of(args: &Args) -> Result<Vec<Replacement<'_>>, ToolError> {
    let invalid = |words: &str| Err(ToolError::new(ErrorCode::InvalidArguments, words));
    // Models that fill in every field leave the one pair empty beside the list.
    let given = |text: &'_ Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    let list_only = !given(&args.old_string)
        && !given(&args.new_string)
        && args.edits.as_ref().is_some_and(|edits| !edits.is_empty());
    let pair = if list_only { (None, None) } else { (args.old_string.as_deref(), args.new_string.as_deref()) };
    let edits: Vec<Replacement<'_>> = match (pair.0, pair.1, args.edits.as_deref()) {
        (Some(old), Some(new), None | Some([])) => {
            vec![Replacement { old, new, all: args.replace_all.unwrap_or(false) }]
        }
        (None, None, Some(edits)) if !edits.is_empty() => {
            edits.iter().map(|edit| listed(edit, args.replace_all)).collect()
        }
        (Some(_), None, _) => return invalid("new_string is missing; give \"\" to delete old_string"),
        (None, Some(_), _) => return invalid("old_string is missing"),
        // The pair may only repeat what the list says.
        (Some(old), Some(new), Some(edits))
            if edits.iter().any(|edit| edit.old_string == old && edit.new_string == new) =>
        {
            edits.iter().map(|edit| listed(edit, args.replace_all)).collect()
        }
        (Some(_), Some(_), Some(_)) => return invalid("give either old_string and new_string, or edits, not both"),
        (None, None, _) => return invalid("give old_string and new_string, or edits"),
    };
    if edits.iter().any(|edit| edit.old == edit.new) {
        return invalid("old_string and new_string are the same, so there is nothing to change");
    }
    Ok(edits)
}

fn listed(edit: &Edit, all: Option<bool>) -> Replacement<'_> {
    Replacement { old: &edit.old_string, new: &edit.new_string, all: edit.replace_all.or(all).unwrap_or(false) }
}

struct Applied {
    text: Vec<u8>,
    notes: Vec<String>,
    count: usize,
}

impl Applied {
    fn apply(&mut self, edit: &Replacement<'_>, which: &str, draft: &Draft, call: &FileCall) -> Result<(), ToolError> {
        if edit.old.is_empty() {
            return self.fill(edit.new, which, draft);
        }
        let Edited { content, fit, count } = apply(&self.text, edit, &|| call.ctx.cancel.is_cancelled())
            .map_err(|misfit| self.refusal(edit, &misfit, which, draft))?;
        self.text = content;
        self.count += count;
        self.notes.extend(fit_words(fit).map(|how| format!("{which}old_string was not there exactly; {how}.")));
        Ok(())
    }

    fn fill(&mut self, new: &str, which: &str, draft: &Draft) -> Result<(), ToolError> {
        if !self.text.is_empty() {
            let message = format!(
                "{which}old_string is empty, which is only for a missing or empty file, and {} has content; nothing \
                 was changed. Give the text to replace, or use write_file to replace all of it",
                draft.located.shown()
            );
            return Err(ToolError::new(ErrorCode::InvalidArguments, message));
        }
        self.text = new.as_bytes().to_vec();
        self.count += 1;
        Ok(())
    }

    fn refusal(&self, edit: &Replacement<'_>, misfit: &Misfit, which: &str, draft: &Draft) -> ToolError {
        let shown = draft.located.shown();
        match misfit {
            Misfit::NotUnique { fit, count, lines } => {
                let how = fit_words(*fit).map(|how| format!(" ({how})")).unwrap_or_default();
                let advice = if edit.all {
                    "replace_all needs the exact text"
                } else {
                    "add lines around it until it fits one place, or set replace_all"
                };
                let message = format!(
                    "{which}the text to replace fits {} in {shown}{how}, at {}; nothing was changed",
                    places_words(*count),
                    line_list(lines, *count)
                );
                ToolError::new(ErrorCode::EditTextNotUnique, message).advising(advice)
            }
            Misfit::TooLong => {
                let message = format!("{which}{shown} would become too long; nothing was changed");
                ToolError::new(ErrorCode::FileTooLarge, message)
            }
            Misfit::Stopped => cancelled(),
            Misfit::NotFound(closest) => {
                let near = closest
                    .as_ref()
                    .map_or_else(|| "Nothing in it comes near; read the file again".to_owned(), closest_words);
                let message = format!("{which}old_string was not found in {shown}; nothing was changed. {near}");
                ToolError::new(ErrorCode::EditTextNotFound, message)
            }
        }
    }
}
