//! Settings and where they come from, as lines.

use std::fmt::Write;

use neco_proto::app::settings::{SettingFile, SettingRow};

/// Values below each other, and where they come from below each other; what is very long stands out.
pub fn as_lines(settings: &[SettingRow], with_origin: bool) -> String {
    let widest = |lengths: &mut dyn Iterator<Item = usize>, most: usize| lengths.max().unwrap_or_default().min(most);
    let keys = widest(&mut settings.iter().map(|setting| setting.key.chars().count()), 40);
    let values = widest(&mut settings.iter().map(|setting| setting.value.chars().count()), 30);
    let mut text = String::new();
    for setting in settings {
        let (key, value) = (&setting.key, &setting.value);
        let _ = match with_origin {
            true => writeln!(text, "{key:<keys$} = {value:<values$}  # {}", setting.origins.join(", ")),
            false => writeln!(text, "{key:<keys$} = {value}"),
        };
    }
    text
}

/// The files that settings are read from.
pub fn paths(files: &[SettingFile]) -> String {
    let mut text = String::new();
    for file in files {
        let there = if file.exists { "" } else { "  (not there)" };
        let _ = writeln!(text, "{:<8} {}{there}", file.layer, file.path);
    }
    text
}
