//! What is written behind `/export`, and the format that a file's name asks for.

use std::path::Path;

use neco_proto::app::port::ExportFormat;
use neco_proto::app::{AppError, Trouble};

/// What is written behind `/export`, with flags as on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportLine {
    /// The name of the file; may be empty.
    pub file: String,
    /// The format, if one is named.
    pub format: Option<ExportFormat>,
    /// Whether a file that is there is written over.
    pub over: bool,
    /// Whether keys stay in it.
    pub with_keys: bool,
}

impl ExportLine {
    /// Reads it.
    ///
    /// # Errors
    /// When a flag is not known, or a format.
    pub fn read(argument: &str) -> Result<Self, AppError> {
        let mut line = Self::default();
        let (mut file, mut words) = (Vec::new(), argument.split_whitespace());
        while let Some(word) = words.next() {
            match word {
                "--force" => line.over = true,
                "--no-redact" => line.with_keys = true,
                "--format" => line.format = Some(by_name(words.next().unwrap_or_default())?),
                _ => match word.strip_prefix("--format=") {
                    Some(name) => line.format = Some(by_name(name)?),
                    None if word.starts_with("--") => {
                        let words = format!("/export has no {word}; it takes --format, --force and --no-redact");
                        return Err(AppError::new(Trouble::Invalid, words));
                    }
                    None => file.push(word),
                },
            }
        }
        Ok(Self { file: file.join(" "), ..line })
    }
}

fn by_name(name: &str) -> Result<ExportFormat, AppError> {
    of_ending(name).ok_or_else(|| {
        AppError::new(Trouble::Invalid, format!("no format `{name}`: jsonl, yaml, markdown and html are known"))
    })
}

fn of_ending(ending: &str) -> Option<ExportFormat> {
    match ending.to_ascii_lowercase().as_str() {
        "jsonl" | "json" | "ndjson" => Some(ExportFormat::Jsonl),
        "yaml" | "yml" => Some(ExportFormat::Yaml),
        "md" | "markdown" => Some(ExportFormat::Markdown),
        "html" | "htm" => Some(ExportFormat::Html),
        _ => None,
    }
}

/// The format that was named, else that of the file's ending, else JSONL; they must not say different things.
///
/// # Errors
/// When they do, or the ending says nothing.
pub fn format_of(named: Option<ExportFormat>, file: Option<&Path>) -> Result<ExportFormat, AppError> {
    let Some(file) = file else { return Ok(named.unwrap_or(ExportFormat::Jsonl)) };
    let ending = file.extension().and_then(|ending| of_ending(&ending.to_string_lossy()));
    let (words, hint) = match (named, ending) {
        (Some(named), Some(other)) if named != other => (
            format!("{} does not end as --format asks", file.display()),
            "The endings are .jsonl, .yaml, .md and .html; without --format they choose the format.",
        ),
        (Some(format), _) | (None, Some(format)) => return Ok(format),
        (None, None) => (
            format!("which format? The ending of {} is not known", file.display()),
            "Name it .jsonl, .yaml, .md or .html, or add --format.",
        ),
    };
    Err(AppError::new(Trouble::Invalid, words).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_anywhere_and_a_name_may_have_blanks() {
        let line = ExportLine::read(" my notes.html --force --format html").unwrap();
        let wanted =
            ExportLine { file: "my notes.html".into(), format: Some(ExportFormat::Html), over: true, with_keys: false };
        assert_eq!(line, wanted);
        assert_eq!(ExportLine::read("").unwrap(), ExportLine::default());
        assert!(ExportLine::read("a.md --all").is_err() && ExportLine::read("a.md --format pdf").is_err());
        let of = |named, file: &str| format_of(named, Some(Path::new(file)));
        assert_eq!(of(None, "a.MD").unwrap(), ExportFormat::Markdown);
        assert!(of(Some(ExportFormat::Html), "a.md").is_err() && of(None, "a.txt").is_err());
    }
}
