//! A picture from the clipboard, by whichever program of the system gives one.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// Programs that print a picture of the clipboard, and when they can.
const PROGRAMS: &[(&str, &str, &[&str])] = &[
    ("WAYLAND_DISPLAY", "wl-paste", &["--no-newline", "--type", "image/png"]),
    ("DISPLAY", "xclip", &["-selection", "clipboard", "-target", "image/png", "-out"]),
    ("", "pngpaste", &["-"]),
];

/// Bytes that are read at most; a picture that is bigger is refused later, by its size.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// How long the program may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A program that gives pictures of the clipboard.
#[derive(Clone)]
pub struct PicturePrinter {
    program: PathBuf,
    arguments: &'static [&'static str],
}

impl PicturePrinter {
    /// The first one that is there and works with the variables that are set.
    pub fn find(is_set: impl Fn(&str) -> bool, find_program: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let mut usable = PROGRAMS.iter().filter(|(variable, ..)| variable.is_empty() || is_set(variable));
        usable.find_map(|(_, program, arguments)| Some(Self { program: find_program(program)?, arguments }))
    }
}

/// The bytes of a picture in the clipboard; none when there is no picture.
///
/// # Errors
/// In words, when no program here can tell.
pub async fn picture(printer: Option<PicturePrinter>) -> Result<Option<Vec<u8>>, String> {
    let Some(PicturePrinter { program, arguments }) = printer else {
        return Err("No program to read pictures from the clipboard (wl-paste, xclip or pngpaste). A file works \
                    too: type its name, or drop it here"
            .to_owned());
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let read = async {
        let mut child = command.spawn()?;
        let mut bytes = Vec::new();
        if let Some(out) = child.stdout.take() {
            out.take(MOST_BYTES).read_to_end(&mut bytes).await?;
        }
        std::io::Result::Ok(bytes)
    };
    match tokio::time::timeout(PATIENCE, read).await {
        Ok(Ok(bytes)) => Ok((!bytes.is_empty()).then_some(bytes)),
        Ok(Err(error)) => Err(format!("the clipboard can't be read: {error}")),
        Err(_) => Err("the clipboard does not answer".to_owned()),
    }
}
