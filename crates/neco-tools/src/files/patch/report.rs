//! What a patch says to the model and shows the person.

use neco_proto::{Diff, ErrorCode};
use neco_toolkit::ToolError;

use super::find::Misfit;
use super::stage::{Stage, Staged};
use crate::files::diff;
use crate::files::edit_words::{closest_words, line_list, places_words};
use crate::files::matching::Fit;
use crate::files::text::count_lines;

/// How a looser reading is told; nothing for an exact one.
pub fn fit_words(fit: Fit) -> Option<&'static str> {
    match fit {
        Fit::Exact => None,
        Fit::LineEndings => Some("with other line endings, which were kept"),
        Fit::TrailingSpace => Some("without regard to white space at line ends"),
        Fit::Indentation => Some("with another indentation, which the new lines were given too"),
        Fit::Escapes => Some("with its escaped sequences written out"),
        Fit::Wrapping | Fit::NewMarks => Some("without what was put around it"),
    }
}

/// Why a hunk has no place, and what to do about it.
pub fn refusal(shown: &str, index: usize, count: usize, misfit: &Misfit) -> ToolError {
    let hunk =
        if count > 1 { format!("hunk {} of {count} of {shown}", index + 1) } else { format!("the hunk of {shown}") };
    let at = |lines: &[usize]| line_list(lines, lines.len());
    let nothing = "nothing was changed, in no file";
    let (code, words) = match misfit {
        Misfit::NotFound { closest, already } => {
            let near = closest
                .as_ref()
                .map_or_else(|| "Nothing in it comes near; read the file again".to_owned(), closest_words)
                .replace("old_string has", "the patch has");
            let already = already
                .map(|line| {
                    format!(" Its new lines are there already, at line {line}: it may have been applied before.")
                })
                .unwrap_or_default();
            (ErrorCode::EditTextNotFound, format!("{hunk}: its lines are not in the file; {nothing}.{already} {near}"))
        }
        Misfit::NotUnique { fit, lines } => {
            let how = fit_words(*fit).map(|how| format!(" ({how})")).unwrap_or_default();
            let words = format!(
                "{hunk}: it fits {}{how}, at {}; {nothing}. Give more lines around the change, or a line that it stands \
                 below after @@",
                places_words(lines.len()),
                at(lines)
            );
            (ErrorCode::EditTextNotUnique, words)
        }
        Misfit::NoHint(hint) => {
            let words = format!("{hunk}: the line after @@, {hint:?}, is not in the file; {nothing}");
            (ErrorCode::EditTextNotFound, words)
        }
        Misfit::NotBelowHint { hint, lines } => {
            let words = format!("{hunk}: its lines are at {}, but not below {hint:?} as @@ says; {nothing}", at(lines));
            (ErrorCode::EditTextNotFound, words)
        }
        Misfit::NotAtEnd(lines) => {
            let words = format!("{hunk}: its lines are at {}, not at the end of the file; {nothing}", at(lines));
            (ErrorCode::EditTextNotFound, words)
        }
        Misfit::Taken(lines) => {
            let words = format!(
                "{hunk}: its lines are only at {}, where an earlier hunk is or before it; {nothing}. Put hunks in the \
                 order of the file and join those that overlap",
                at(lines)
            );
            (ErrorCode::EditTextNotFound, words)
        }
        Misfit::NoContext => {
            let words = format!(
                "{hunk}: it has only new lines, so nothing says where they belong; {nothing}. Give the lines around them"
            );
            (ErrorCode::InvalidArguments, words)
        }
        Misfit::TooLong => (ErrorCode::FileTooLarge, format!("{shown} would become too long; {nothing}")),
        Misfit::Stopped => return crate::files::call::cancelled(),
    };
    ToolError::new(code, words)
}

/// The changes as a person sees them, one a file.
pub fn plan_diffs(stage: &Stage) -> Vec<Diff> {
    stage
        .staged
        .iter()
        .filter(|staged| staged.is_changed() && staged.moved_to.is_none())
        .map(|staged| diff_of(stage, staged))
        .collect()
}

fn diff_of(stage: &Stage, staged: &Staged) -> Diff {
    let shown = staged.located.shown();
    let old = |staged: &Staged| staged.before.as_ref().map(|before| before.text().unwrap_or_default());
    let Some(from) = &staged.from else {
        let text = staged.text.as_deref().unwrap_or_default();
        let diff = diff::change(&shown, old(staged).as_deref(), text).diff;
        return Diff { deleted: staged.is_deleted(), ..diff };
    };
    // What was moved is compared with what it was, not with what it takes the place of.
    let source = stage.staged.iter().find(|other| other.located.shown() == *from);
    let before = source.and_then(old).unwrap_or_default();
    let text = staged.text.as_deref().unwrap_or_default();
    let mut diff = diff::change(&format!("{from} → {shown}"), Some(&before), text).diff;
    if staged.before.is_some() {
        diff.unified.insert_str(0, &format!("(takes the place of what {shown} was)\n"));
    }
    diff
}

/// What was done, a line a file.
pub fn done_words(stage: &Stage, notes: &[String]) -> String {
    let mut words = String::new();
    for staged in stage.staged.iter().filter(|staged| staged.moved_to.is_none()) {
        let shown = staged.located.shown();
        let what = match (&staged.text, &staged.before, &staged.from) {
            (Some(_), _, Some(from)) => {
                format!("{} {from} to {shown}{}", if staged.copied { "Copied" } else { "Moved" }, over(staged))
            }
            (Some(text), None, None) => format!("Added {shown} ({})", lines(count_lines(text))),
            (Some(_), Some(_), None) if !staged.is_changed() => format!("{shown} stays as it is"),
            (Some(text), Some(before), None) => {
                let diff = diff::change(&shown, Some(&before.text().unwrap_or_default()), text);
                let places: Vec<String> = diff.regions.iter().map(place).collect();
                let places = if places.is_empty() { String::new() } else { format!(" at {}", places.join(", ")) };
                format!("Updated {shown} (+{} −{}{places})", diff.diff.added, diff.diff.removed)
            }
            (None, Some(_), _) => format!("Deleted {shown}"),
            (None, None, _) => continue,
        };
        words.push_str(&what);
        for note in &staged.notes {
            words.push_str("; ");
            words.push_str(note);
        }
        words.push('\n');
    }
    for note in notes {
        words.push_str(note);
        words.push('\n');
    }
    words
}

fn over(staged: &Staged) -> &'static str {
    if staged.before.is_some() { ", in the place of what was there" } else { "" }
}

fn lines(count: usize) -> String {
    format!("{count} {}", if count == 1 { "line" } else { "lines" })
}

/// A changed stretch in the new file.
fn place(region: &std::ops::Range<usize>) -> String {
    match region.len() {
        0 | 1 => format!("line {}", region.start + 1),
        _ => format!("lines {}–{}", region.start + 1, region.end),
    }
}
