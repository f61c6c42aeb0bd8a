//! A patch as text: which format it has, and what models put around it.

use super::hunk::FilePatch;
use super::{envelope, loose, unified};

const BEGIN: &str = "*** Begin Patch";

/// Reads a patch in either format.
///
/// # Errors
/// What is wrong with it, with the line of the patch where that is.
pub fn read(text: &str) -> Result<Vec<FilePatch>, String> {
    read_lines(&lines_of(text))
}

/// Reads a patch whose headings are padded, in other letters or in a code fence; nothing where it is none then either.
pub fn read_loosely(text: &str) -> Option<Vec<FilePatch>> {
    read_lines(&loose::mended(&lines_of(text))).ok()
}

fn read_lines(lines: &[String]) -> Result<Vec<FilePatch>, String> {
    let files = match lines.iter().position(|line| line.trim_end() == BEGIN) {
        Some(at) => envelope::read(lines, at + 1)?,
        None if lines.iter().any(|line| is_envelope_heading(line)) => envelope::read(lines, 0)?,
        None => unified::read(lines)?,
    };
    if files.is_empty() {
        return Err("the patch is empty: it changes no file".to_owned());
    }
    Ok(files)
}

/// The lines without their newlines. A patch that has CRLF throughout has it by chance: what stands
/// in front of the text, its signs, is not from any file.
fn lines_of(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let all_crlf = text.contains("\r\n") && text.split('\n').rev().skip(1).all(|line| line.ends_with('\r'));
    let plain =
        |line: &str| if all_crlf { line.strip_suffix('\r').unwrap_or(line).to_owned() } else { line.to_owned() };
    text.split('\n').map(plain).collect()
}

fn is_envelope_heading(line: &str) -> bool {
    ["*** Add File: ", "*** Update File: ", "*** Delete File: "].iter().any(|heading| line.starts_with(heading))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_at_all(text in any::<String>()) {
            let _ = (read(&text), read_loosely(&text));
        }

        #[test]
        fn any_lines_that_patches_have(lines in prop::collection::vec(prop::sample::select(vec![
            "*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Delete File: b", "*** Update File: c",
            "*** Move to: d", "*** End of File", "@@", "@@ fn x", "@@ -1,2 +1 @@ fn", "@@ -0,0 +1 @@", "+x", "-y", " z", "",
            "--- a/f", "+++ b/f", "--- /dev/null", "+++ /dev/null", "diff --git a/f b/f", "rename from f", "rename to g",
            "new file mode 100755", "deleted file mode 100644", "\\ No newline at end of file", "Binary files differ",
            "--- \"a/\\303\\244\"", "+++ \"b/\\30", "```", "EOF", "\r", "+\r",
        ]), 0..14)) {
            let text = lines.join("\n");
            let _ = (read(&text), read_loosely(&text));
        }
    }
}
