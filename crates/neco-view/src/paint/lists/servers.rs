//! MCP servers, how they stand and what they offer, as lines.

use std::fmt::Write;
use std::time::Duration;

use neco_proto::app::mcp::{
    ServerList, ServerOffers, ServerPrompt, ServerResource, ServerRow, ServerState, ServerTool, ServerTransport,
    ShownServer, TestedServer,
};
use neco_proto::clean::clean_line;

use crate::figures;
use crate::paint::colour::Paint;
use crate::paint::wrap::{columns, fitting};
use crate::wording::told::NEWER;

/// Columns before what follows a line about a test that is too wide.
pub const HANGING: usize = 6;

/// Columns of a description.
const DESCRIPTION: usize = 90;

/// Most columns of a name before its description.
const NAME: usize = 40;

/// What is said where there is no server.
pub const NONE: &str = "No MCP servers. `neco mcp add NAME -- COMMAND` adds a program, `neco mcp add NAME --url URL` an \
                        address\n";

/// Two lines for each server.
pub fn as_lines(list: &ServerList, paint: Paint) -> String {
    let width = list.servers.iter().map(|row| columns(&row.name)).max().unwrap_or_default();
    let mut text = String::new();
    for row in &list.servers {
        let name = paint.bold(&format!("{:<width$}", clean_line(&row.name)));
        let _ = writeln!(text, "{} {name}  {}", glyph(row.state, paint), standing(row));
        let place = format!("{}  ({})", clean_line(&row.in_short), clean_line(&row.file));
        let _ = writeln!(text, "  {:width$}  {}", "", paint.dim(&place));
    }
    if text.is_empty() { NONE.to_owned() } else { text }
}

/// All of a server.
pub fn one(shown: &ShownServer, paint: Paint) -> String {
    let row = &shown.server;
    let name = paint.bold(&clean_line(&row.name));
    let mut text = format!("{} {name} · {}\n", glyph(row.state, paint), standing(row));
    let mut line = |what: &str, words: &str| {
        if !words.is_empty() {
            let _ = writeln!(text, "  {what:<9} {}", clean_line(words));
        }
    };
    let reached = match row.transport {
        ServerTransport::Stdio => "runs",
        ServerTransport::Http | ServerTransport::Other => "at",
    };
    line(reached, &row.in_short);
    line("from", &row.file);
    line("given", &shown.given.join(", "));
    line("starts", if row.auto_start { "with the session" } else { "at its first call" });
    line("speaks", &row.offers.as_ref().map(spoken).unwrap_or_default());
    line("says", shown.instructions.as_deref().map(short).unwrap_or_default().as_str());
    line("log", &shown.log);
    row.left_out.iter().for_each(|why| line("left out", why));
    section(&mut text, "Tools", shown.tools.iter().map(tool).collect(), paint);
    section(&mut text, "Prompts", shown.prompts.iter().map(prompt).collect(), paint);
    section(&mut text, "Resources", shown.resources.iter().map(resource).collect(), paint);
    text
}

/// What came of a test, and the tools there are.
pub fn tested(tested: &TestedServer, paint: Paint) -> String {
    let row = &tested.server;
    let mut parts = vec![clean_line(&row.name)];
    parts.extend(tested.problem.as_ref().map(|problem| clean_line(problem)));
    let offers = row.offers.iter().filter(|_| tested.ok);
    parts.extend(offers.flat_map(|offers| [spoken(offers), offered(offers)]));
    parts.push(figures::duration(Duration::from_millis(tested.duration_ms)));
    let health = if tested.ok { paint.green("ok  ") } else { paint.red("fail") };
    let mut text = format!("{health}  {}\n", parts.join(" · "));
    if !tested.tools.is_empty() {
        let begins = format!("mcp__{}__", row.name);
        let names = tested.tools.iter().map(|tool| clean_line(tool.strip_prefix(&begins).unwrap_or(tool)));
        let _ = writeln!(text, "{:HANGING$}{}", "", names.collect::<Vec<_>>().join(", "));
    }
    for why in row.left_out.iter().filter(|_| tested.ok) {
        let _ = writeln!(text, "{:HANGING$}{} {}", "", paint.yellow("left out"), clean_line(why));
    }
    text
}

fn glyph(state: ServerState, paint: Paint) -> String {
    match state {
        ServerState::Running => paint.green("●"),
        ServerState::Starting => paint.cyan("◔"),
        ServerState::Known => "○".to_owned(),
        ServerState::Configured => paint.dim("·"),
        ServerState::Disabled => paint.dim("⊘"),
        ServerState::Untrusted => paint.yellow("!"),
        ServerState::NeedsLogin => paint.yellow("?"),
        ServerState::Failed => paint.red("✗"),
        ServerState::Other => " ".to_owned(),
    }
}

/// How a server stands, what it offers, and whether something of that is left out.
pub fn standing(row: &ServerRow) -> String {
    let state = match row.state {
        ServerState::Running => "running".to_owned(),
        ServerState::Starting => "starting".to_owned(),
        ServerState::Known => "ready, not running".to_owned(),
        ServerState::Configured => "not started yet".to_owned(),
        ServerState::Disabled => "disabled".to_owned(),
        ServerState::Untrusted => "not trusted: `neco trust` or /trust shows it".to_owned(),
        ServerState::NeedsLogin => format!("needs login: `neco mcp login {}`", clean_line(&row.name)),
        ServerState::Failed => format!("failed: {}", clean_line(row.error.as_deref().unwrap_or_default())),
        ServerState::Other => NEWER.to_owned(),
    };
    let left_out = (!row.left_out.is_empty()).then(|| format!("{} left out", row.left_out.len()));
    let parts = [Some(state), row.offers.as_ref().map(offered), left_out];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn offered(offers: &ServerOffers) -> String {
    let besides = [(offers.prompts, "prompt"), (offers.resources, "resource")];
    let besides = besides.into_iter().filter(|(number, _)| *number > 0);
    let all = std::iter::once((offers.tools, "tool")).chain(besides);
    all.map(|(number, thing)| figures::count(number as u64, thing)).collect::<Vec<_>>().join(", ")
}

/// What a server calls itself, and the version of the protocol.
fn spoken(offers: &ServerOffers) -> String {
    let protocol = format!("MCP {}", clean_line(&offers.protocol));
    match clean_line(&offers.server) {
        server if server.is_empty() => protocol,
        server => format!("{server}, {protocol}"),
    }
}

fn section(text: &mut String, title: &str, rows: Vec<(String, String)>, paint: Paint) {
    if rows.is_empty() {
        return;
    }
    let width = rows.iter().map(|(name, _)| columns(name)).max().unwrap_or_default().min(NAME);
    let _ = writeln!(text, "\n{}", paint.bold(title));
    for (name, about) in rows {
        let gap = " ".repeat(width.saturating_sub(columns(&name)) + 2);
        let _ = writeln!(text, "{}", format!("  {name}{gap}{about}").trim_end());
    }
}

fn tool(tool: &ServerTool) -> (String, String) {
    let hints = tool.hints.as_ref().map(|hints| format!(" (the server says: {})", clean_line(hints)));
    (clean_line(&tool.name), format!("{}{}", short(&tool.description), hints.unwrap_or_default()))
}

fn prompt(prompt: &ServerPrompt) -> (String, String) {
    let optional = prompt.optional.iter().map(|name| format!("[{}]", clean_line(name)));
    let arguments = prompt.required.iter().map(|name| clean_line(name)).chain(optional);
    let words: Vec<String> = std::iter::once(clean_line(&prompt.name)).chain(arguments).collect();
    (words.join(" "), short(&prompt.description))
}

fn resource(resource: &ServerResource) -> (String, String) {
    let about = if resource.description.is_empty() { &resource.name } else { &resource.description };
    (clean_line(&resource.uri), short(about))
}

/// The first line of a text, as far as there is room.
fn short(text: &str) -> String {
    fitting(&clean_line(text.trim().lines().next().unwrap_or_default()), DESCRIPTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> ServerRow {
        ServerRow {
            name: "files".to_owned(),
            state: ServerState::Known,
            in_short: "npx -y server /srv".to_owned(),
            file: "~/.config/neco/config.toml".to_owned(),
            offers: Some(ServerOffers {
                tools: 2,
                prompts: 1,
                resources: 0,
                protocol: "2025-11-25".to_owned(),
                server: "fs 1.0".to_owned(),
            }),
            left_out: vec!["odd: the schema of its arguments is broken".to_owned()],
            ..ServerRow::default()
        }
    }

    #[test]
    fn every_state_has_a_glyph_and_a_word() {
        let row = |name: &str, state: ServerState| ServerRow {
            name: name.to_owned(),
            state,
            error: Some("it ended\nbefore it answered".to_owned()),
            transport: ServerTransport::Http,
            in_short: "https://h/mcp".to_owned(),
            file: ".mcp.json".to_owned(),
            ..ServerRow::default()
        };
        let states = [
            ServerState::Running,
            ServerState::Starting,
            ServerState::Configured,
            ServerState::Disabled,
            ServerState::Untrusted,
            ServerState::NeedsLogin,
            ServerState::Failed,
        ];
        let mut servers = vec![files()];
        servers.extend(states.into_iter().map(|state| row("a", state)));
        let text = as_lines(&ServerList { servers, warnings: Vec::new() }, Paint::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "○ files  ready, not running · 2 tools, 1 prompt · 1 left out");
        assert_eq!(lines[1], "         npx -y server /srv  (~/.config/neco/config.toml)");
        let first: Vec<&str> = lines.iter().skip(2).step_by(2).copied().collect();
        assert_eq!(
            first,
            [
                "● a      running",
                "◔ a      starting",
                "· a      not started yet",
                "⊘ a      disabled",
                "! a      not trusted: `neco trust` or /trust shows it",
                "? a      needs login: `neco mcp login a`",
                "✗ a      failed: it ended before it answered",
            ]
        );
        assert_eq!(as_lines(&ServerList::default(), Paint::default()), NONE);
    }

    #[test]
    fn all_of_a_server_is_shown_with_its_tools() {
        let shown = ShownServer {
            server: files(),
            given: vec!["TOKEN".to_owned()],
            log: "~/files.log".to_owned(),
            instructions: None,
            tools: vec![ServerTool {
                name: "mcp__files__read".to_owned(),
                description: "Reads a file.\n\nMore about it.".to_owned(),
                hints: Some("changes nothing".to_owned()),
            }],
            prompts: vec![ServerPrompt {
                name: "greet".to_owned(),
                description: "Greets.".to_owned(),
                required: vec!["name".to_owned()],
                optional: vec!["tone".to_owned()],
            }],
            resources: vec![ServerResource { uri: "a://b".to_owned(), ..ServerResource::default() }],
        };
        let expected = "○ files · ready, not running · 2 tools, 1 prompt · 1 left out
  runs      npx -y server /srv
  from      ~/.config/neco/config.toml
  given     TOKEN
  starts    at its first call
  speaks    fs 1.0, MCP 2025-11-25
  log       ~/files.log
  left out  odd: the schema of its arguments is broken

Tools
  mcp__files__read  Reads a file. (the server says: changes nothing)

Prompts
  greet name [tone]  Greets.

Resources
  a://b
";
        assert_eq!(one(&shown, Paint::default()), expected);
    }

    #[test]
    fn a_test_tells_what_there_is_or_why_not() {
        let tools = vec!["mcp__files__read".to_owned(), "mcp__files__write".to_owned()];
        let well = TestedServer { server: files(), ok: true, problem: None, duration_ms: 320, tools };
        let expected = "ok    files · fs 1.0, MCP 2025-11-25 · 2 tools, 1 prompt · 320 ms
      read, write
      left out odd: the schema of its arguments is broken
";
        assert_eq!(tested(&well, Paint::default()), expected);
        let problem = Some("can't connect to the MCP server files: it ended before it answered".to_owned());
        let ill = TestedServer { ok: false, problem, tools: Vec::new(), ..well };
        let expected = "fail  files · can't connect to the MCP server files: it ended before it answered · 320 ms\n";
        assert_eq!(tested(&ill, Paint::default()), expected);
    }
}
