//! Calls as editors show them: what kind they are, which files they are about, what came of them.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema as acp;
use neco_proto::clean::{clean, clean_line, without_marks};
use neco_proto::event::{CallStatus, ToolCallEnd};
use neco_proto::{Display, ResultPart};
use neco_view::paint::text::diff;
use neco_view::reduce::block::Call;
use neco_view::wording::calls::{error_words, given};
use serde_json::Value;

use crate::terminal::content;
use crate::updates::fenced;

/// Characters of a plain result that are shown.
const MOST_SHOWN: usize = 8000;

/// What kind of call a tool makes.
pub(crate) fn kind(tool: &str) -> acp::ToolKind {
    match tool {
        "read_file" | "list_directory" | "memory_get" | "state_get" => acp::ToolKind::Read,
        "write_file" | "edit_file" | "apply_patch" => acp::ToolKind::Edit,
        "delete_file" => acp::ToolKind::Delete,
        "glob" | "grep" | "code_search" | "code_index" | "memory_search" => acp::ToolKind::Search,
        "bash" | "process" | "git" | "diagnostics" => acp::ToolKind::Execute,
        "web_fetch" | "web_search" => acp::ToolKind::Fetch,
        "enter_plan_mode" | "exit_plan_mode" => acp::ToolKind::SwitchMode,
        "todo_write" | "task" | "spawn_agent" | "workflow" | "skill" | "ask_user" => acp::ToolKind::Think,
        _ => acp::ToolKind::Other,
    }
}

/// A path as editors want it: from the root on.
pub(crate) fn absolute(folder: &Path, path: &str) -> PathBuf {
    folder.join(path)
}

/// The files that a call is about.
fn locations(arguments: &Value, folder: &Path) -> Vec<acp::ToolCallLocation> {
    let Some(path) = arguments.get("path").and_then(Value::as_str) else { return Vec::new() };
    let line = arguments.get("offset").or_else(|| arguments.get("line")).and_then(Value::as_u64);
    let line = line.and_then(|line| u32::try_from(line).ok()).filter(|line| *line > 0);
    vec![acp::ToolCallLocation::new(absolute(folder, path)).line(line)]
}

/// A text in an update.
pub(crate) fn text(words: impl Into<String>) -> acp::ToolCallContent {
    acp::ToolCallContent::Content(acp::Content::new(acp::ContentBlock::Text(acp::TextContent::new(words))))
}

/// Where a call stands.
pub(crate) fn status(status: CallStatus) -> acp::ToolCallStatus {
    match status {
        CallStatus::Validating | CallStatus::Scheduled | CallStatus::AwaitingApproval => acp::ToolCallStatus::Pending,
        CallStatus::Executing => acp::ToolCallStatus::InProgress,
        CallStatus::Success => acp::ToolCallStatus::Completed,
        CallStatus::Error | CallStatus::Cancelled => acp::ToolCallStatus::Failed,
    }
}

/// Where what a call prints is shown.
#[derive(Clone, Copy)]
pub(crate) enum Live<'a> {
    /// It printed this.
    Text(&'a str),
    /// It is in a terminal of the editor.
    Terminal(&'a acp::TerminalId),
}

/// All that is known of a call now, which may be shown in a terminal.
pub(crate) fn fields(call: &Call, folder: &Path, terminal: Option<&acp::TerminalId>) -> acp::ToolCallUpdateFields {
    let mut fields = acp::ToolCallUpdateFields::new()
        .title(clean_line(&call.summary))
        .kind(kind(&call.tool))
        .status(status(call.status));
    if let Some(arguments) = &call.arguments {
        let locations = Some(locations(arguments, folder)).filter(|places| !places.is_empty());
        fields = fields.raw_input(arguments.clone()).locations(locations);
    }
    match &call.end {
        Some(end) => ended(fields, end, folder, terminal.map_or(Live::Text(&call.printed), Live::Terminal)),
        None if call.is_over() => fields,
        None if let Some(terminal) = terminal => fields.content(vec![content(terminal)]),
        None if !call.printed.is_empty() => fields.content(vec![text(fenced(&clean(&call.printed)))]),
        None => fields,
    }
}

/// What is new of a call; nothing where nothing is.
pub(crate) fn news(
    before: &acp::ToolCallUpdateFields,
    mut fields: acp::ToolCallUpdateFields,
) -> Option<acp::ToolCallUpdateFields> {
    fn forget<T: PartialEq>(known: &Option<T>, field: &mut Option<T>) {
        if known == field {
            *field = None;
        }
    }
    forget(&before.kind, &mut fields.kind);
    forget(&before.status, &mut fields.status);
    forget(&before.title, &mut fields.title);
    forget(&before.content, &mut fields.content);
    forget(&before.locations, &mut fields.locations);
    forget(&before.raw_input, &mut fields.raw_input);
    forget(&before.raw_output, &mut fields.raw_output);
    (fields != acp::ToolCallUpdateFields::new()).then_some(fields)
}

/// The end of a call, added to what is known of it.
fn ended(
    fields: acp::ToolCallUpdateFields,
    end: &ToolCallEnd,
    folder: &Path,
    live: Live<'_>,
) -> acp::ToolCallUpdateFields {
    let mut content = came_of(end, folder, live);
    if let Some(file) = &end.spilled_to {
        content.push(text(format!("All of the output: {}", clean_line(file))));
    }
    content.extend(end.parts.iter().filter_map(part));
    let fields = fields.status(status(end.status)).raw_output(Value::String(clean(&without_marks(&end.output))));
    let files = match &end.display {
        Some(Display::Diff { files }) => files.as_slice(),
        _ => &[],
    };
    let changed: Vec<_> = files.iter().map(|file| acp::ToolCallLocation::new(absolute(folder, &file.path))).collect();
    let fields = if changed.is_empty() { fields } else { fields.locations(changed) };
    if content.is_empty() { fields } else { fields.content(content) }
}

/// What a person sees of what a call came to.
fn came_of(end: &ToolCallEnd, folder: &Path, live: Live<'_>) -> Vec<acp::ToolCallContent> {
    let mut came = match &end.display {
        Some(Display::Diff { files }) => changes(files, folder),
        Some(Display::Terminal { tail, exit_code, background, .. }) => {
            let after = match (background, exit_code) {
                (Some(name), _) => Some(format!("runs in the background as {}", clean_line(name))),
                (None, Some(0)) => None,
                (None, Some(code)) => Some(format!("exit code {code}")),
                (None, None) => Some(killed(end)),
            };
            let after = after.map(|words| text(format!("[{words}]")));
            let ran = match live {
                Live::Terminal(terminal) => Some(content(terminal)),
                Live::Text(live) => {
                    let ran = if tail.is_empty() { live } else { tail };
                    (!ran.is_empty()).then(|| text(fenced(&clean(ran))))
                }
            };
            ran.into_iter().chain(after).collect()
        }
        Some(Display::Text { text: words }) => vec![text(shortened(&clean(words), str::to_owned))],
        Some(Display::List { title, items, total }) => {
            let more = total.saturating_sub(items.len() as u64);
            let more = if more > 0 { format!("\n… and {more} more") } else { String::new() };
            let lines: Vec<String> = items.iter().map(|item| clean_line(item)).collect();
            let listed = if lines.is_empty() { String::new() } else { format!("\n{}", fenced(&lines.join("\n"))) };
            vec![text(format!("{}{listed}{more}", clean_line(title)))]
        }
        None => given(end).into_iter().map(|words| text(shortened(&words, fenced))).collect(),
    };
    match end.status {
        // What was printed and how it ended is shown.
        CallStatus::Error if matches!(end.display, Some(Display::Terminal { .. })) => {}
        CallStatus::Error => came.push(text(error_words(end))),
        CallStatus::Cancelled => came.push(text("Stopped.")),
        // What did what it should has said so.
        _ if came.is_empty() && !end.output.is_empty() => {
            let is_data =
                matches!(kind(&end.tool), acp::ToolKind::Read | acp::ToolKind::Search | acp::ToolKind::Execute);
            let as_shown = if is_data { fenced } else { str::to_owned };
            came.push(text(shortened(&clean(&without_marks(&end.output)), as_shown)));
        }
        _ => {}
    }
    came
}

/// How a command ended that has no exit code, as its last line says it, without what the model is advised to do.
fn killed(end: &ToolCallEnd) -> String {
    let last = end.output.trim_end().lines().last().and_then(|line| line.strip_prefix('[')?.strip_suffix(']'));
    let words = last.and_then(|words| words.split(';').next()).filter(|_| end.status != CallStatus::Cancelled);
    words.map_or_else(|| "stopped".to_owned(), clean_line)
}

/// What a call gave that is more than text. Pictures come with the message that follows, and are shown then.
fn part(part: &ResultPart) -> Option<acp::ToolCallContent> {
    let block = match part {
        ResultPart::Link { uri, name, description, media_type } => acp::ContentBlock::ResourceLink(
            acp::ResourceLink::new(name.clone(), uri.clone())
                .description(description.clone())
                .mime_type(media_type.clone()),
        ),
        ResultPart::Resource { uri, media_type, text: Some(text), .. } => {
            let contents = acp::TextResourceContents::new(text.clone(), uri.clone()).mime_type(media_type.clone());
            let resource = acp::EmbeddedResourceResource::TextResourceContents(contents);
            acp::ContentBlock::Resource(acp::EmbeddedResource::new(resource))
        }
        ResultPart::Picture { .. } | ResultPart::Resource { .. } | ResultPart::Data { .. } => return None,
    };
    Some(acp::ToolCallContent::Content(acp::Content::new(block)))
}

/// The changes of files. An editor shows what was and what is; of a change that is too long to be kept, how much it is.
pub(crate) fn changes(files: &[neco_proto::Diff], folder: &Path) -> Vec<acp::ToolCallContent> {
    files.iter().flat_map(|file| change(file, folder)).collect()
}

fn change(file: &neco_proto::Diff, folder: &Path) -> Vec<acp::ToolCallContent> {
    let path = absolute(folder, &file.path);
    let pieces = pieces(&file.unified);
    if pieces.is_empty() && file.created {
        return vec![acp::Diff::new(path, "").into()];
    }
    if pieces.is_empty() {
        return vec![text(diff::heading(file))];
    }
    let piece = |(old, new): (String, String)| -> acp::ToolCallContent {
        acp::Diff::new(path.clone(), new).old_text((!file.created).then_some(old)).into()
    };
    pieces.into_iter().map(piece).collect()
}

/// What stood there and what stands there now, for every piece of a unified diff.
fn pieces(unified: &str) -> Vec<(String, String)> {
    let mut pieces: Vec<(String, String)> = Vec::new();
    let mut last = None;
    for line in unified.split_inclusive('\n') {
        if line.starts_with("@@") {
            pieces.push(Default::default());
            continue;
        }
        let Some((old, new)) = pieces.last_mut() else { continue };
        let mut signs = line.chars();
        let sign = signs.next();
        let words = signs.as_str();
        match sign {
            Some('-') => old.push_str(words),
            Some('+') => new.push_str(words),
            // The line before has no end.
            Some('\\') => {
                let sides = [(old, '+'), (new, '-')];
                let ends = sides.into_iter().filter(|(_, other)| last != Some(*other));
                ends.for_each(|(side, _)| side.truncate(side.trim_end_matches('\n').len()));
            }
            _ => [old, new].into_iter().for_each(|side| side.push_str(if sign == Some(' ') { words } else { line })),
        }
        last = sign;
    }
    pieces
}

/// The beginning of a long text, and how much more there is.
fn shortened(words: &str, as_shown: impl Fn(&str) -> String) -> String {
    let shown: String = words.chars().take(MOST_SHOWN).collect();
    let more = words.len() - shown.len();
    let more = if more > 0 { format!("\n[{more} more bytes]") } else { String::new() };
    format!("{}{more}", as_shown(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_change_are_what_was_and_what_is() {
        let unified = "@@ -1,2 +1,2 @@\n same\n-old\n+new\n@@ -9 +9,2 @@\n end\n+more\n\\ No newline at end of file\n";
        let pieces = pieces(unified);
        assert_eq!(pieces[0], ("same\nold\n".to_owned(), "same\nnew\n".to_owned()));
        assert_eq!(pieces[1], ("end\n".to_owned(), "end\nmore".to_owned()));
    }

    #[test]
    fn a_change_that_is_only_counted_is_told_in_words() {
        let file = neco_proto::Diff {
            path: "a.rs".to_owned(),
            unified: "(too long)".to_owned(),
            added: 9000,
            removed: 1,
            created: false,
            deleted: false,
        };
        let shown = serde_json::to_value(change(&file, Path::new("/project"))).unwrap();
        assert_eq!(shown[0]["type"], "content", "{shown}");
        let new = neco_proto::Diff { unified: "@@ -0,0 +1 @@\n+hi\n".to_owned(), created: true, ..file };
        let shown = serde_json::to_value(change(&new, Path::new("/project"))).unwrap();
        assert_eq!((&shown[0]["path"], &shown[0]["newText"]), (&"/project/a.rs".into(), &"hi\n".into()));
        assert!(shown[0].get("oldText").is_none_or(Value::is_null), "{shown}");
    }
}
