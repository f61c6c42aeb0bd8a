//! The hooks that a skill brings: they run while it is in use, and those of a repository only as they were trusted.

use std::io::{self, Read};
use std::path::Path;

use neco_config::front_matter::Field;
use neco_safety::path::open_without_links;
use serde_json::json;

use super::body::with_folder;
use super::find::{MOST_OF_FILE, SkillOrigin};
use super::head::{HeadError, fields};
use crate::hooks::{self, FingerprintError, Hook, Origin};

/// Why the hooks of a skill can't guard anything.
#[derive(Debug, thiserror::Error)]
pub enum SkillHooksError {
    /// They can't be read.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// What one runs can't be watched.
    #[error("a hook of it can't be trusted: {0}")]
    Untrusted(#[from] FingerprintError),
}

/// The hooks at the top of a skill's text. Those of a repository know what they run as it is now: it is what trust in
/// the skill is trust in.
///
/// # Errors
/// When one of them is not understood, or one of a repository's runs more than can be watched.
pub fn of_text(text: &str, file: &Path, origin: &SkillOrigin) -> Result<Vec<Hook>, SkillHooksError> {
    let at = file.parent().unwrap_or(Path::new("/"));
    let file = file.to_owned();
    let origin = match origin {
        SkillOrigin::Person => Origin::User { file },
        SkillOrigin::Folder(folder) => Origin::Repository { file, folder: folder.clone() },
    };
    let mut found = of_fields(&fields(text)?.0, &origin)?;
    found.iter_mut().for_each(|hook| hook.command = with_scripts(&hook.command, at));
    for hook in found.iter_mut().filter(|hook| hook.origin.folder().is_some()) {
        hook.trusted_as = Some(hook.fingerprint()?.hash);
    }
    Ok(found)
}

/// The hooks among the fields of a skill. A guard that is not understood would be none, so all of them have to be.
///
/// # Errors
/// When one of them is not understood.
pub(super) fn of_fields(fields: &[Field], origin: &Origin) -> Result<Vec<Hook>, HeadError> {
    let Some(field) = fields.iter().find(|field| field.name == "hooks") else { return Ok(Vec::new()) };
    let value = field.value().map_err(|(_, words)| HeadError::Hooks(words))?;
    let (found, notices) = hooks::parse(json!({ "hooks": value }).to_string().as_bytes(), origin);
    match notices.first() {
        Some(notice) => Err(HeadError::Hooks(notice.clone())),
        None => Ok(found),
    }
}

/// A command that finds the scripts of a skill's folder: by the variable of other agents, and where it begins with one.
fn with_scripts(command: &str, folder: &Path) -> String {
    let shown = folder.display().to_string();
    // What a shell would read in a name stays a variable that is not set: the command fails, and that is told.
    if shown.contains(|char: char| "\"'`$\\!\n".contains(char)) {
        return command.to_owned();
    }
    let command = with_folder(&command.replace("$CLAUDE_SKILL_DIR/", "${CLAUDE_SKILL_DIR}/"), folder);
    let Some(below) = command.strip_prefix("./") else { return command };
    let (script, rest) = below.split_at(below.find(char::is_whitespace).unwrap_or(below.len()));
    match folder.join(script).is_file() {
        true => format!("'{shown}/{script}'{rest}"),
        false => command,
    }
}

/// What trust in the hooks of a skill is trust in.
pub(super) fn fingerprint(hooks: &[Hook]) -> String {
    hooks.iter().filter_map(|hook| hook.trusted_as.as_ref()).map(|print| format!(" {print}")).collect()
}

/// The text of a skill's file, which is no link.
///
/// # Errors
/// When it can't be read, or is a link.
pub fn text_of(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open_without_links(file)?.take(MOST_OF_FILE).read_to_end(&mut bytes)?;
    Ok(text_in(&bytes))
}

/// The text in the bytes of a skill's file.
pub(super) fn text_in(bytes: &[u8]) -> String {
    let most = usize::try_from(MOST_OF_FILE).unwrap_or(usize::MAX);
    String::from_utf8_lossy(bytes.get(..most).unwrap_or(bytes)).into_owned()
}
