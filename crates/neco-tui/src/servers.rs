//! `/mcp`: the MCP servers, one of them, and one of them restarted or switched on and off.

use neco_proto::app::AppError;
use neco_proto::app::mcp::{
    GetServer, ListServers, RestartServer, ServerRow, ServerState, SetServerEnabled, WrittenServer,
};
use neco_proto::clean::clean_line;
use neco_view::figures;
use neco_view::paint::colour::Paint;
use neco_view::paint::lists::servers;
use neco_view::slash::Outside;

use crate::host::{CommandOutcome, Listed};
use crate::outside::{Beyond, print, usage};

/// `/mcp`, `/mcp NAME`, `/mcp restart NAME`, `/mcp enable NAME`, `/mcp disable NAME`, `/mcp login NAME`.
pub(crate) async fn mcp(beyond: &Beyond<'_>, text: &str) -> Result<CommandOutcome, AppError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let folder = beyond.folder();
    match words.as_slice() {
        [] | ["list"] => {
            let list = beyond.ask(&ListServers { folder }).await?;
            let text = servers::as_lines(&list, Paint::default());
            let row = |row: &ServerRow| (row.name.clone(), format!("{} · {}", servers::standing(row), row.in_short));
            let rows: Vec<(String, String)> = list.servers.iter().map(row).collect();
            if rows.is_empty() || !words.is_empty() {
                let warnings: String =
                    list.warnings.iter().map(|warning| format!("! {}\n", clean_line(warning))).collect();
                return Ok(print(&format!("{text}{warnings}")));
            }
            let title = format!("Search {}", figures::count(rows.len() as u64, "MCP server"));
            Ok(CommandOutcome::List(Listed { title, rows, shows: Outside::Mcp, warnings: list.warnings, text }))
        }
        ["restart", name] => {
            let row = beyond.ask(&RestartServer { folder, name: (*name).to_owned() }).await?;
            Ok(CommandOutcome::Say(format!("{name}: {}", servers::standing(&row))))
        }
        [word @ ("enable" | "disable"), name] => {
            let request = SetServerEnabled { folder, name: (*name).to_owned(), enabled: *word == "enable" };
            Ok(CommandOutcome::Say(switched(name, &beyond.ask(&request).await?)))
        }
        ["login", name] => Ok(CommandOutcome::Say(format!(
            "`neco mcp login {name}` in another terminal logs in; this session has it with its next turn"
        ))),
        [word @ ("restart" | "enable" | "disable" | "login" | "get" | "show")] => {
            Err(usage(format!("/mcp {word} NAME; /mcp lists the servers")))
        }
        [word @ ("add" | "add-json" | "remove" | "rm"), ..] | [word @ ("test" | "logout" | "logs"), _] => {
            let words = format!("`neco mcp {word} …` in another terminal does that; `neco mcp {word} --help` says how");
            Ok(CommandOutcome::Say(words))
        }
        [name] | ["get" | "show", name] => {
            let shown = beyond.ask(&GetServer { folder, name: (*name).to_owned() }).await?;
            Ok(print(&servers::one(&shown, Paint::default())))
        }
        _ => Err(usage("/mcp, /mcp NAME, /mcp restart NAME, /mcp enable NAME or /mcp disable NAME")),
    }
}

/// How a server stands that was switched on or off.
fn switched(name: &str, written: &WrittenServer) -> String {
    match &written.server {
        Some(row) if row.state == ServerState::Disabled => format!("{name} is disabled in {}", written.file),
        Some(row) => format!("{name} is enabled: {}", servers::standing(row)),
        None => {
            let warnings: Vec<String> = written.warnings.iter().map(|warning| clean_line(warning)).collect();
            format!("{name} is left out. {}", warnings.join(" "))
        }
    }
}
