//! Files that go with a message: text is added to it, of documents their text, pictures are shown.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use neco_proto::Message;
use neco_safety::path::Access;
use neco_safety::world::Files;
use neco_tools::files::document_text;
use neco_tui::line::run::stdin::fence;

use crate::args::RunArgs;
use crate::failure::Failure;

/// The most bytes of one file that is added: what is bigger the agent reads by itself, part by part.
const MOST_BYTES: u64 = 256 * 1024;

/// Endings of files that are shown instead of added.
const PICTURES: &[&str] = &["png", "jpg", "jpeg", "webp", "gif"];

/// The pictures of a request: those that are named as such, and those among its files.
pub fn pictures(args: &RunArgs) -> Vec<PathBuf> {
    args.images.iter().chain(args.files.iter().filter(|file| is_picture(file))).cloned().collect()
}

/// The message with the files of the request behind it.
pub fn added(mut message: String, args: &RunArgs) -> Result<String, Failure> {
    let files = args.files.iter().filter(|file| !is_picture(file));
    for (before, file) in std::iter::once(Message::ATTACHED).chain(std::iter::repeat("\n\n")).zip(files) {
        let text = read(file)?;
        let fence = fence(&text);
        message.push_str(&format!("{before}{}:\n{fence}\n{}\n{fence}", file.display(), text.trim_end_matches('\n')));
    }
    Ok(message)
}

fn is_picture(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    ending.is_some_and(|ending| PICTURES.contains(&ending.as_str()))
}

/// The text of a document; `None` when the file is none, or can't be looked at, which reading it as text tells.
fn document(file: &Path) -> Option<Result<String, Failure>> {
    let whole = file.canonicalize().ok()?;
    let files = Files::new(whole.parent()?, Vec::new()).ok()?;
    let located = files.locate(whole.file_name()?.to_str()?, Access::Read).ok()?;
    let text = document_text(&located, usize::try_from(MOST_BYTES).unwrap_or(usize::MAX), &|| false)?;
    let hint = "Take --file away and name it in the message: the agent reads what it can of it.";
    Some(text.map_err(|error| Failure::usage(error.message).hint(hint)))
}

fn read(file: &Path) -> Result<String, Failure> {
    let shown = file.display();
    let unreadable = |error: std::io::Error| Failure::usage(format!("the file {shown} can't be read: {error}"));
    // A pipe could keep us waiting for ever.
    if !std::fs::metadata(file).map_err(unreadable)?.is_file() {
        return Err(Failure::usage(format!("{shown} is not a file")));
    }
    if let Some(text) = document(file) {
        return text;
    }
    let mut bytes = Vec::new();
    File::open(file).map_err(unreadable)?.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        let words = format!("{shown} has more than {} KB", MOST_BYTES / 1024);
        return Err(Failure::usage(words).hint("Name it in the message: the agent reads what it needs of it."));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!("{shown} is not UTF-8 text, no PDF document and no notebook"))
            .hint("Name it in the message: the agent can look at it with commands.")
    })
}
