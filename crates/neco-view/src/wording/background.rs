//! Commands in the background, in a few words.

use std::time::Duration;

use jiff::Timestamp;
use neco_proto::BackgroundCommand;
use neco_proto::clean::clean_line;

use crate::figures;

/// What is said where there is none.
pub const NONE: &str = "No commands in the background.";

/// Characters of a command line in a row.
const SHOWN: usize = 60;

/// How it stands: `running for 2 m 05 s`, `exit 0 after 3.2 s`, `stopped after 12 s`.
pub fn stands(command: &BackgroundCommand, now: Timestamp) -> String {
    let took = |milliseconds| figures::short_duration(milliseconds);
    match command.ended {
        None => {
            let runs = now.duration_since(command.started);
            format!("running for {}", figures::elapsed(Duration::try_from(runs).unwrap_or_default()))
        }
        Some(end) => match end.exit_code {
            Some(code) => format!("exit {code} after {}", took(end.took_ms)),
            None => format!("stopped after {}", took(end.took_ms)),
        },
    }
}

/// Its command line in a row.
pub fn line(command: &BackgroundCommand) -> String {
    let line = clean_line(&command.command);
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(&line).trim_end()),
        None => line,
    }
}

/// All of them as lines, numbered from 1; `name` names the agent of one unless that is the root.
pub fn list(
    commands: &[BackgroundCommand],
    name: impl Fn(&BackgroundCommand) -> Option<String>,
    now: Timestamp,
) -> String {
    let row = |(index, command): (usize, &BackgroundCommand)| {
        let agent = name(command).map(|name| format!("{}: ", clean_line(&name))).unwrap_or_default();
        let (called, line) = (clean_line(&command.name), line(command));
        format!("{}  {agent}{called}  {line}  ({})", index + 1, stands(command, now))
    };
    commands.iter().enumerate().map(row).collect::<Vec<_>>().join("\n")
}

/// Several of them by their command lines, such as `npm run dev, cargo watch`.
pub fn named<'a>(commands: impl IntoIterator<Item = &'a BackgroundCommand>) -> String {
    commands.into_iter().map(line).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use neco_proto::{AgentId, BackgroundEnd};

    use super::*;

    #[test]
    fn a_command_says_how_it_stands_and_is_cut_to_a_row() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let mut command = BackgroundCommand {
            agent_id: AgentId::new(),
            name: "bg-1".into(),
            command: "npm run\ndev".into(),
            started: Timestamp::from_second(1_000_000 - 125).unwrap(),
            ended: None,
        };
        assert_eq!(list(std::slice::from_ref(&command), |_| None, now), "1  bg-1  npm run dev  (running for 2 m 05 s)");
        command.ended = Some(BackgroundEnd { exit_code: Some(1), took_ms: 3200 });
        assert_eq!(stands(&command, now), "exit 1 after 3.2 s");
        command.ended = Some(BackgroundEnd { exit_code: None, took_ms: 3200 });
        assert_eq!(stands(&command, now), "stopped after 3.2 s");
        command.command = "ä".repeat(100);
        assert_eq!(line(&command), format!("{}…", "ä".repeat(60)));
    }
}
