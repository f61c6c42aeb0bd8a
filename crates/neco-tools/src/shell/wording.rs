//! How commands and their ends are put into words.

use std::time::Duration;

use neco_safety::world::Exit;

use super::plain_text::plain_text;

/// How many lines of output a person is shown.
pub(super) const SHOWN_LINES: usize = 40;

/// A time as a person would say it.
pub(crate) fn seconds(time: Duration) -> String {
    if time.as_secs() < 10 { format!("{:.1} s", time.as_secs_f64()) } else { format!("{} s", time.as_secs()) }
}

/// How a process ended.
pub(crate) fn ending(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => match signal_name(signal) {
            Some(name) => format!("killed by signal {signal}, {name}"),
            None => format!("killed by signal {signal}"),
        },
        Exit::Unknown => "ended, exit code unknown".to_owned(),
    }
}

/// The exit code for a person's display.
pub(super) fn exit_code(exit: Exit) -> Option<i32> {
    match exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) | Exit::Unknown => None,
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}

/// The first line of a command that has something on it, at most so many characters long.
pub(super) fn one_line(command: &str, most: usize) -> String {
    let plain = plain_text(command.trim().as_bytes());
    let first = plain.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut line: String = first.chars().take(most).collect();
    if first.chars().nth(most).is_some() || plain.trim().lines().nth(1).is_some() {
        line.push('…');
    }
    line
}

pub(crate) fn last_lines(text: &str, lines: usize) -> &str {
    let body = text.trim_end_matches('\n');
    let Some(before) = lines.checked_sub(1) else { return "" };
    match body.rmatch_indices('\n').nth(before) {
        Some((at, _)) => body.get(at + 1..).unwrap_or(body),
        None => body,
    }
}

/// The last bytes of a text, from the start of a line where there is one.
pub(crate) fn last_bytes(text: &str, most: usize) -> &str {
    let Some(least) = text.len().checked_sub(most).filter(|least| *least > 0) else { return text };
    let start = text.ceil_char_boundary(least);
    let tail = text.get(start..).unwrap_or_default();
    match tail.split_once('\n') {
        Some((_, lines)) if !lines.is_empty() => lines,
        Some(_) | None => tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_command_becomes_one_short_line() {
        let table = [
            ("cargo test", "cargo test"),
            ("  \n\n cargo test \n", "cargo test"),
            ("cd a\ncargo test", "cd a…"),
            ("ééééééééééééé", "éééééééééé…"),
            ("echo \u{1b}[31mx", "echo x"),
            ("", ""),
        ];
        for (command, expected) in table {
            assert_eq!(one_line(command, 10), expected, "{command:?}");
        }
    }

    #[test]
    fn times_and_ends_read_well() {
        assert_eq!(seconds(Duration::from_millis(840)), "0.8 s");
        assert_eq!(seconds(Duration::from_millis(125_400)), "125 s");
        assert_eq!(ending(Exit::Code(2)), "exit code 2");
        assert_eq!(ending(Exit::Signal(9)), "killed by signal 9, SIGKILL");
    }

    #[test]
    fn the_end_of_a_text_is_cut_at_lines() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a\nb", 5), "a\nb");
        assert_eq!(last_lines("a\nb", 0), "");
        assert_eq!(last_bytes("first\nsecond\n", 9), "second\n");
        assert_eq!(last_bytes("日本語", 4), "語");
    }

    proptest! {
        #[test]
        fn ends_are_ends_and_never_longer(text in "[aé日\\n]{0,60}", most in 0usize..80) {
            let end = last_bytes(&text, most);
            prop_assert!(text.ends_with(end) && end.len() <= most);
            let lines = last_lines(&text, most);
            prop_assert!(lines.split('\n').count() <= most.max(1));
            prop_assert!(text.trim_end_matches('\n').ends_with(lines));
        }
    }
}
