//! MCP servers in the ways that people and other agents write them, and those that a repository brings.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::check::check;
use crate::decode::decode_section;
use crate::env::Env;
use crate::find::{origin_of, read_text};
use crate::json;
use crate::layer::{Entries, Node, Value};
use crate::notice::{Findings, Notice};
use crate::origin::{Layer, Origin};
use crate::policy_files::project_folders;
use crate::section::McpServerSection;
use crate::shape::known;
use crate::trail::Trail;

/// The section of servers in our own settings.
const SECTION: &str = "mcp_servers";

/// The file in which repositories bring servers to every agent, and the name of the servers in it.
const SHARED_FILE: &str = ".mcp.json";
const IN_SHARED_FILE: &str = "mcpServers";

/// What else the ways to reach a server are called.
const KINDS: [(&str, &str); 5] = [
    ("streamable-http", "http"),
    ("streamable_http", "http"),
    ("streamableHttp", "http"),
    ("remote", "http"),
    ("local", "stdio"),
];

/// What else the lists in `tools` are called, outside of it.
const TOOL_LISTS: [(&str, &str); 4] = [
    ("enabled_tools", "include"),
    ("includeTools", "include"),
    ("disabled_tools", "exclude"),
    ("excludeTools", "exclude"),
];

/// An MCP server that a repository brings. It is not in the settings: nobody starts it unasked.
#[derive(Clone, PartialEq)]
pub struct RepositoryServer {
    /// What it is called.
    pub name: String,
    /// What is written about it.
    pub section: McpServerSection,
    /// The same as it is written: another text when anything of it is another, known to us or not.
    pub written: String,
    /// Where it is written.
    pub origin: Origin,
    /// The folder that brings it.
    pub folder: PathBuf,
}

/// Without what is written: it may hold secrets.
impl fmt::Debug for RepositoryServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepositoryServer")
            .field("name", &self.name)
            .field("section", &self.section)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// The servers of every `.mcp.json` for work in `cwd`, those of the outermost folder of the repository first, and what is
/// to be said of the files. What is wrong with one server leaves out that one. Names that are not ours are left alone:
/// the file is for all agents.
pub fn shared_servers(env: &Env, cwd: &Path) -> (Vec<RepositoryServer>, Vec<Notice>) {
    let (mut servers, mut findings) = (Vec::new(), Findings::default());
    for folder in project_folders(cwd) {
        let path = folder.join(SHARED_FILE);
        let origin = origin_of(env, Layer::Project, &path);
        let Some(text) = read_text(&path, &origin) else { continue };
        // A folder holds the place where a file is missing, while a program runs in a box that must not make one.
        if path.is_dir() {
            continue;
        }
        let none = || Notice::about(&origin, format!("it has no \"{IN_SHARED_FILE}\""));
        match text.and_then(|text| json::parse(&text, &origin)?.remove(&[IN_SHARED_FILE]).ok_or_else(none)) {
            Ok(written) => servers.extend(of_repository(written, &folder, &mut findings)),
            Err(problem) => findings.problems.push(problem),
        }
    }
    let left_out = |problem: Notice| Notice { message: format!("left out: {}", problem.message), ..problem };
    (servers, findings.problems.into_iter().map(left_out).collect())
}

/// The servers of a plugin that lies in `folder`, each by its name and what is written of it as JSON in `file`, and what is
/// to be said of them. What is wrong with one leaves out that one.
pub fn plugin_servers(
    env: &Env,
    (folder, file): (&Path, &Path),
    servers: &[(String, String)],
) -> (Vec<RepositoryServer>, Vec<Notice>) {
    let (mut found, mut findings) = (Vec::new(), Findings::default());
    let origin = origin_of(env, Layer::User, file);
    for (name, text) in servers {
        match json::parse(text, &origin) {
            Ok(server) => found.extend(one_of_repository(name.clone(), server, folder, &mut findings)),
            Err(problem) => findings.problems.push(problem),
        }
    }
    (found, findings.problems)
}

/// Takes the servers out of a repository's layer, as whether they may be used is not decided here.
pub(crate) fn take_servers(layer: &mut Node, origin: &Origin, findings: &mut Findings) -> Vec<RepositoryServer> {
    let Some(servers) = layer.remove(&[SECTION]) else { return Vec::new() };
    // `.neco/config.toml` belongs to the folder that `.neco` lies in.
    match origin.file().and_then(Path::parent).and_then(Path::parent) {
        Some(folder) => of_repository(servers, folder, findings),
        None => Vec::new(),
    }
}

fn of_repository(servers: Node, folder: &Path, findings: &mut Findings) -> Vec<RepositoryServer> {
    let Value::Table(servers) = servers.value else {
        let trail = Trail::of(&[SECTION]);
        findings.problems.push(Notice::about_key(&servers.origin, &trail, "expected a table of servers"));
        return Vec::new();
    };
    let servers = servers.into_iter();
    servers.filter_map(|(name, server)| one_of_repository(name, *server, folder, findings)).collect()
}

/// One server by itself: a value that is wrong leaves out all of it, as half of a command line is another one.
fn one_of_repository(name: String, server: Node, folder: &Path, findings: &mut Findings) -> Option<RepositoryServer> {
    let (written, origin) = (server.value.to_string(), server.name_origin.clone());
    let mut layer = server.below(&[SECTION.to_owned(), name.clone()]);
    let mut own = Findings::default();
    settle(&mut layer);
    check(&mut layer, known(), &mut own);
    let is_right = own.problems.is_empty();
    findings.problems.extend(own.problems);
    findings.warnings.extend(own.warnings);
    let server = layer.get(&[SECTION, name.as_str()]).filter(|_| is_right)?;
    match decode_section(server) {
        Ok(section) => Some(RepositoryServer { name, section, written, origin, folder: folder.to_owned() }),
        Err(problem) => {
            findings.problems.push(problem);
            None
        }
    }
}

/// Gives servers that are written in another way the settings that they mean. What is there under our name stays.
pub(crate) fn settle(layer: &mut Node) {
    let Value::Table(settings) = &mut layer.value else { return };
    let Some(Value::Table(servers)) = settings.get_mut(SECTION).map(|servers| &mut servers.value) else { return };
    for server in servers.values_mut() {
        if let Value::Table(entries) = &mut server.value {
            settle_server(entries);
        }
    }
}

fn settle_server(entries: &mut Entries) {
    match entries.remove("transport").map(|transport| *transport) {
        Some(Node { value: Value::Table(inner), .. }) => {
            for (name, node) in inner {
                entries.entry(name).or_insert(node);
            }
        }
        Some(kind) => {
            entries.entry("type".to_owned()).or_insert_with(|| Box::new(kind));
        }
        None => {}
    }
    if let Some(Value::Text(kind)) = entries.get_mut("type").map(|kind| &mut kind.value)
        && let Some((_, ours)) = KINDS.iter().find(|(theirs, _)| *theirs == kind.as_str())
    {
        *kind = (*ours).to_owned();
    }
    take_over(entries, "disabled", "enabled", opposite);
    take_over(entries, "timeout", "tool_timeout", in_seconds);
    take_over(entries, "startup_timeout_ms", "startup_timeout", thousandth);
    gather_tools(entries);
}

/// Makes another setting ours.
fn take_over(entries: &mut Entries, theirs: &str, ours: &str, means: fn(Value) -> Value) {
    if !entries.contains_key(ours)
        && let Some(mut node) = entries.remove(theirs)
    {
        node.value = means(node.value);
        entries.insert(ours.to_owned(), node);
    }
}

fn opposite(value: Value) -> Value {
    if let Value::Switch(is_on) = value { Value::Switch(!is_on) } else { value }
}

/// Nobody waits for more than a quarter of an hour, or for less than a second: what is above 1000 are milliseconds.
fn in_seconds(value: Value) -> Value {
    match value {
        Value::Whole(number) if number > 1000 => thousandth(value),
        Value::Number(number) if number > 1000.0 => thousandth(value),
        _ => value,
    }
}

fn thousandth(value: Value) -> Value {
    match value {
        Value::Whole(number) => Value::Number(number as f64 / 1000.0),
        Value::Number(number) => Value::Number(number / 1000.0),
        _ => value,
    }
}

/// Puts the lists of tools into `tools`; a list in its place is that of the tools there are.
fn gather_tools(entries: &mut Entries) {
    if let Some(list) = entries.get_mut("tools").filter(|tools| matches!(tools.value, Value::List(_))) {
        **list = (**list).clone().below(&["include".to_owned()]);
    }
    for (theirs, ours) in TOOL_LISTS {
        let Some(list) = entries.remove(theirs) else { continue };
        let empty = || Box::new(Node::empty_table(list.origin.clone()));
        let tools = entries.entry("tools".to_owned()).or_insert_with(empty);
        if let Value::Table(lists) = &mut tools.value {
            lists.entry(ours.to_owned()).or_insert(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::parse;
    use crate::origin::Source;
    use crate::section::{McpSampling, McpToolsSection, McpTransport};

    fn read(text: &str) -> (Vec<RepositoryServer>, Vec<String>) {
        let source = Source::File { path: "/r/.neco/config.toml".into(), shown: "c".into() };
        let origin = Origin::new(Layer::Project, source);
        let mut findings = Findings::default();
        let servers = take_servers(&mut parse(text, &origin).unwrap(), &origin, &mut findings);
        let said = findings.problems.iter().chain(&findings.warnings).map(ToString::to_string).collect();
        (servers, said)
    }

    fn section(settings: &str) -> McpServerSection {
        let (mut servers, said) = read(&format!("[mcp_servers.x]\n{settings}"));
        assert!(said.is_empty(), "{settings}: {said:?}");
        servers.remove(0).section
    }

    #[test]
    fn every_way_of_writing_means_the_same() {
        let start = "command = 'npx'\nargs = ['-y', 'x']\nenv = { A = '1' }\n";
        let http = "url = 'https://h/mcp'\nheaders = { a = 'b' }\n";
        for (ours, others) in [
            (
                "type = 'stdio'\ncommand = 'npx -y x'",
                &["transport = { type = 'stdio', command = 'npx -y x' }", "type = 'local'\ncommand = 'npx -y x'"][..],
            ),
            (start, &["transport = { command = 'npx', args = ['-y', 'x'] }\nenv = { A = '1' }"]),
            (
                http,
                &[
                    "httpUrl = 'https://h/mcp'\nheaders.a = 'b'",
                    "url = 'https://h/mcp'\nhttp_headers = { a = 'b' }",
                    "transport = { url = 'https://h/mcp', headers = { a = 'b' } }",
                ],
            ),
            (
                "type = 'http'\nurl = 'u'",
                &[
                    "type = 'streamable-http'\nurl = 'u'",
                    "type = 'streamableHttp'\nurl = 'u'",
                    "transport = 'streamable_http'\nurl = 'u'",
                    "transport = { type = 'http', url = 'u' }",
                    "type = 'remote'\nurl = 'u'",
                ],
            ),
            ("enabled = false", &["disabled = true"]),
            ("enabled = true", &["disabled = false", ""]),
            (
                "tools = { include = ['a*'], exclude = ['b'] }",
                &[
                    "enabled_tools = ['a*']\ndisabled_tools = ['b']",
                    "includeTools = ['a*']\nexcludeTools = ['b']",
                    "tools = ['a*']\nexcludeTools = ['b']",
                    "tools.include = ['a*']\ntools.exclude = ['b']\ndisabled_tools = ['c']",
                ],
            ),
            (
                "startup_timeout = 5\ntool_timeout = 90",
                &[
                    "startup_timeout_sec = 5\ntool_timeout_sec = 90",
                    "startup_timeout_ms = 5000\ntimeout = 90000",
                    "startup_timeout_ms = 5000.0\ntimeout = 90",
                ],
            ),
            ("tool_timeout = 1000", &["timeout = 1000", "timeout = 1000000"]),
            ("oauth = { client_id = 'i', callback_port = 80 }", &["oauth = { clientId = 'i', callbackPort = 80 }"]),
        ] {
            for other in others {
                assert_eq!(section(other), section(ours), "{other}");
            }
        }
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        let usual = section("");
        assert_eq!((usual.startup_timeout, usual.tool_timeout, usual.idle_timeout), (30.0, 60.0, 600.0));
        assert!(usual.network && usual.sandbox && usual.sampling == McpSampling::Ask);
        assert_eq!(section("args = []\ncommand = 'a b'").args, Some(Vec::new()));
        assert_eq!(section("type = 'sse'").kind, Some(McpTransport::Sse));
        assert_eq!(usual.tools, McpToolsSection::default());
    }

    #[test]
    fn a_wrong_value_is_named_and_leaves_out_its_server_only() {
        let (servers, said) = read(
            "[mcp_servers.a]\ncommand = 'x'\nargs = ['-y', 3]\n[mcp_servers.b]\ncommand = 'x'\n[mcp_servers.c]\n\
             timeout = 'soon'\n[mcp_servers.d]\ntype = 'carrier pigeon'\n[mcp_servers.e]\ncomand = 'x'\n",
        );
        let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["b", "e"]);
        assert_eq!((servers[0].folder.as_path(), servers[0].origin.to_string().as_str()), (Path::new("/r"), "c:4:14"));
        assert_eq!(
            said,
            [
                "c:3:15: mcp_servers.a.args[2]: expected a string, found a whole number",
                "c:7:11: mcp_servers.c.tool_timeout: expected a number more than 0 and at most 86400, found the string \"soon\"",
                "c:9:8: mcp_servers.d.type: expected one of `stdio`, `http`, `sse`, found the string \"carrier pigeon\"",
                "c:11:1: mcp_servers.e.comand: unknown setting; did you mean `mcp_servers.e.command`?",
            ]
        );
        assert_eq!(read("mcp_servers = 3").1, ["c:1:15: mcp_servers: expected a table of servers"]);
        assert_eq!(read("mcp_servers.x = 3").1, ["c:1:17: mcp_servers.x: expected a table, found the whole number 3"]);
    }

    #[test]
    fn what_is_written_tells_servers_apart_and_is_printed_nowhere() {
        let written = |text: &str| read(&format!("[mcp_servers.x]\n{text}")).0.remove(0);
        let one = written("command = 'a'\nenv = { T = 'sesame' }");
        assert_eq!(one.written, written("env.T = 'sesame'\n# why\ncommand = \"a\"").written);
        for other in ["command = 'a'\nenv = { T = 'other' }", "command = 'a'\nenv = { T = 'sesame' }\nnew = 1"] {
            assert_ne!(one.written, written(other).written, "{other}");
        }
        assert!(!format!("{one:?}").contains("sesame"));
    }
}
