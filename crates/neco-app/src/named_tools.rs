//! Tools that somebody names: our own, and those that MCP servers, scripts and the definitions of agents bring.

use neco_ext::mcp::ServerSettings;
use neco_safety::policy::ToolPattern;
use neco_safety::tools::{is_known, spelling};
use neco_toolkit::{Registry, ToolError};

/// What the names of servers' tools begin with; it may be left out.
const OF_SERVERS: &str = "mcp__";

/// What parts the name of a server from that of its tool.
const PARTS: &str = "__";

/// The only tools that there are, by their names.
#[derive(Clone)]
pub(crate) struct NamedTools {
    /// Those of ours.
    own: Vec<String>,
    /// Those that somebody brings, who may not be there yet.
    brought: Vec<ToolPattern>,
}

impl NamedTools {
    /// The tools of these names; `all` are those of ours, and `plugged` those that somebody brings. Fails for a name that
    /// is none, with near ones.
    pub(crate) fn new(names: &[String], all: &Registry, plugged: &Registry) -> Result<Self, ToolError> {
        let is_brought = |name: &String| name.contains(PARTS) || plugged.iter().any(|tool| tool.name() == name.trim());
        let (brought, own): (Vec<String>, Vec<String>) = names.iter().cloned().partition(is_brought);
        own.iter().try_for_each(|name| all.find(name).map(drop))?;
        Ok(Self { own, brought: brought.iter().map(|name| pattern(name.trim())).collect() })
    }

    /// Only these of all tools, also of those that come later.
    pub(crate) fn of(&self, all: &Registry) -> Registry {
        let there: Vec<String> = all.named(&self.own).iter().map(|tool| tool.name().to_owned()).collect();
        let brought = self.brought.clone();
        all.filtered(move |tool| {
            let name = tool.name();
            there.iter().any(|one| one == name) || brought.iter().any(|pattern| pattern.fits(name))
        })
    }
}

/// `mcp__SERVER` stands for all tools of a server.
fn pattern(name: &str) -> ToolPattern {
    match name.strip_prefix(OF_SERVERS) {
        Some(server) if !server.contains(PARTS) && !server.contains('*') => ToolPattern::new(&format!("{name}__*")),
        Some(_) | None => ToolPattern::new(name),
    }
}

/// Those of the names that are tools of MCP servers which are not in use, each with why there is no such tool.
pub(crate) fn without_server<'a>(
    names: impl IntoIterator<Item = &'a String>,
    servers: &[ServerSettings],
) -> Vec<(&'a str, String)> {
    let why = |name: &'a String| {
        let server = missing_server(name.trim(), servers)?;
        let words = format!("no MCP server {server} is in use here; `neco mcp list` shows those there are");
        Some((name.as_str(), words))
    };
    names.into_iter().filter_map(why).collect()
}

fn missing_server<'a>(name: &'a str, servers: &[ServerSettings]) -> Option<&'a str> {
    let rest = match name.strip_prefix(OF_SERVERS) {
        Some(rest) => rest,
        None if name.contains(PARTS) && !is_known(&spelling(name)) => name,
        None => return None,
    };
    let is_of = |server: &ServerSettings| {
        let parted = rest.split_at_checked(server.name.len());
        parted.is_some_and(|(head, tail)| {
            head.eq_ignore_ascii_case(&server.name) && (tail.is_empty() || tail.starts_with(PARTS))
        })
    };
    let server = rest.split(PARTS).next().unwrap_or(rest);
    let is_there = servers.iter().filter(|server| server.enabled).any(is_of);
    // A wildcard may mean any of them.
    (!server.contains('*') && !is_there).then_some(server)
}

#[cfg(test)]
mod tests {
    use neco_config::{Config, Env, LoadOptions, load};
    use neco_ext::mcp::find;

    use super::*;
    use crate::services::{all_tools, indexes};

    #[test]
    fn names_of_ours_must_be_known_and_those_of_servers_need_not() {
        let folder = tempfile::tempdir().unwrap();
        let all = all_tools(&Config::built_in().tools, &indexes(folder.path()));
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            NamedTools::new(&names, &all, &Registry::default())
        };
        let tools = named(&["Read", "mcp__py__echo", "py__*", "mcp__py", "agent__explore"]).unwrap();
        let there: Vec<String> = tools.of(&all).iter().map(|tool| tool.name().to_owned()).collect();
        assert_eq!(there, ["read_file"]);
        let wrong = named(&["read_fiel", "mcp__py__echo"]).err().unwrap();
        assert!(wrong.message.contains("did you mean read_file"), "{}", wrong.message);
        for (name, tool, fits) in [
            ("mcp__py", "mcp__py__echo", true),
            ("mcp__py", "mcp__python__echo", false),
            ("py__*", "mcp__py__echo", true),
            ("mcp__p*", "mcp__py__echo", true),
            ("py__echo", "mcp__py__echo2", false),
        ] {
            assert_eq!(pattern(name).fits(tool), fits, "{name} {tool}");
        }
    }

    #[test]
    fn tools_of_servers_that_are_not_in_use_are_told() {
        let home = tempfile::tempdir().unwrap();
        let settings = "[mcp_servers.Py]\ncommand = 'py'\n[mcp_servers.a_b]\ncommand = 'x'\n\
                        [mcp_servers.off]\ncommand = 'x'\nenabled = false\n";
        std::fs::write(home.path().join("config.toml"), settings).unwrap();
        let env = Env::for_test([("NECO_HOME", home.path().to_str().unwrap())], home.path());
        let loaded = load(LoadOptions { env: &env, cwd: home.path(), overrides: &[] }).unwrap();
        let found = find(&env, home.path(), &loaded, &[]).servers;
        let servers: Vec<ServerSettings> = found.into_iter().map(|found| found.settings).collect();
        for (name, missing) in [
            ("mcp__Py__echo", None),
            ("mcp__py", None),
            ("py__*", None),
            ("mcp__a_b__x", None),
            ("mcp__*", None),
            ("read_file", None),
            ("agent__explore", None),
            ("mcp__nosuch__x", Some("nosuch")),
            ("nosuch__x", Some("nosuch")),
            ("mcp__python__x", Some("python")),
            ("mcp__off__x", Some("off")),
        ] {
            assert_eq!(missing_server(name, &servers), missing, "{name}");
        }
    }
}
