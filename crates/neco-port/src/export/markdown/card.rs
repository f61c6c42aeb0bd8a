//! Calls, folded.

use std::io::{self, Write};

use neco_proto::Display;
use neco_proto::event::CallStatus;

use crate::export::figures;
use crate::export::tale::Card;
use neco_view::paint::markdown::text::{fenced, in_tag, inline};

/// Lines of an output that are given; of what is longer, beginning and end.
const LINES: usize = 120;

/// Writes a card.
pub(super) fn card(out: &mut impl Write, card: &Card<'_>) -> io::Result<()> {
    let mark = match card.status {
        Some(CallStatus::Success) => "✓",
        Some(CallStatus::Cancelled) => "⊘",
        Some(_) => "✗",
        None => "…",
    };
    let summary = if card.summary.trim().is_empty() { &card.tool } else { &card.summary };
    let facts: String = facts(card).iter().map(|fact| format!(" · {}", in_tag(fact))).collect();
    writeln!(out, "<details><summary>{mark} <code>{}</code>{facts}</summary>\n", in_tag(summary))?;
    if let Some(decided) = &card.decided {
        writeln!(out, "*You: {}*\n", inline(decided))?;
    }
    inside(out, card)?;
    if let Some(file) = card.spilled_to {
        writeln!(out, "All of it was kept in {}\n", inline(file))?;
    }
    writeln!(out, "</details>\n")
}

fn facts(card: &Card<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(Display::Diff { files }) = card.display {
        let (added, removed) = files.iter().fold((0_u64, 0_u64), |(added, removed), file| {
            (added + u64::from(file.added), removed + u64::from(file.removed))
        });
        facts.push(format!("+{added} −{removed}"));
    }
    if let Some(Display::Terminal { exit_code: Some(code), .. }) = card.display
        && *code != 0
    {
        facts.push(format!("exit {code}"));
    }
    facts.extend(card.error.map(|code| format!("error {code}")));
    facts.extend(card.duration_ms.map(figures::duration));
    if card.status.is_none() {
        facts.push("no end was recorded".to_owned());
    }
    facts
}

fn inside(out: &mut impl Write, card: &Card<'_>) -> io::Result<()> {
    match card.display {
        Some(Display::Diff { files }) => {
            for file in files {
                let kind = match (file.created, file.deleted) {
                    (_, true) => " (deleted)",
                    (true, false) => " (new file)",
                    (false, false) => "",
                };
                writeln!(out, "**{}**{kind}\n", inline(&file.path))?;
                if !file.unified.trim().is_empty() {
                    writeln!(out, "{}", fenced(&file.unified, "diff"))?;
                }
            }
            Ok(())
        }
        Some(Display::Terminal { command, tail, .. }) => {
            writeln!(out, "{}", fenced(command, "sh"))?;
            output(out, if card.output.trim().is_empty() { tail } else { &card.output })
        }
        Some(Display::List { .. } | Display::Text { .. }) | None => {
            if let Some(arguments) = card.arguments.as_deref().filter(|text| !matches!(text.trim(), "" | "{}")) {
                writeln!(out, "{}", fenced(arguments, "json"))?;
            }
            output(out, &card.output)
        }
    }
}

fn output(out: &mut impl Write, text: &str) -> io::Result<()> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= LINES {
        return writeln!(out, "{}", fenced(text, "text"));
    }
    let (head, tail) = (lines.iter().take(LINES / 2), lines.iter().skip(lines.len() - LINES / 2));
    let left_out = format!("… {} lines left out …", lines.len() - LINES / 2 * 2);
    let shown: Vec<&str> = head.chain([&left_out.as_str()]).chain(tail).copied().collect();
    writeln!(out, "{}", fenced(&shown.join("\n"), "text"))
}
