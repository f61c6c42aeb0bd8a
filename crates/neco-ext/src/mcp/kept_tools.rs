//! The tools of all servers as they were last seen, in one file: a start reads that one, and not one for each server.
//!
//! The file is made of the manifests, and says how old their folder was then. Whoever keeps a manifest makes the folder
//! younger; then the manifests are read, and the file is written anew. What it says of a tool is looked at when somebody
//! first wants to know it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use super::manifest::{Manifest, ToolInfo, folder_of_manifests};
use super::settings::ServerSettings;

/// How the file begins; another one is not read.
const VERSION: &str = "neco-mcp-tools 1";

/// How it ends; one that was cut off is not read.
const END: &str = "end\n";

/// Most bytes of the file; then it begins anew with what is needed.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// A folder that is younger may be changed once more without looking younger.
const SETTLED: Duration = Duration::from_secs(1);

/// A tool of a server as it was last seen.
#[derive(Debug)]
pub(super) struct KeptTool {
    /// What the server calls it.
    pub name: String,
    /// The rest of what it says, as JSON; not looked at before somebody wants it.
    text: Box<str>,
    info: OnceLock<ToolInfo>,
}

impl KeptTool {
    /// What the server says of it.
    pub(super) fn info(&self) -> &ToolInfo {
        self.info.get_or_init(|| {
            serde_json::from_str(&self.text)
                .unwrap_or_else(|_| ToolInfo { name: self.name.clone(), ..ToolInfo::default() })
        })
    }
}

/// The name of the tool of a line of the file, and the rest of the line.
fn parted(line: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut values = serde_json::Deserializer::from_str(line).into_iter::<Cow<'_, str>>();
    let name = values.next()?.ok()?;
    Some((name, line.get(values.byte_offset()..)?))
}

impl From<ToolInfo> for KeptTool {
    fn from(info: ToolInfo) -> Self {
        Self { name: info.name.clone(), text: Box::default(), info: info.into() }
    }
}

/// The file while the servers of a folder are made.
pub(super) struct KeptTools<'a> {
    data_dir: &'a Path,
    /// When the folder of the manifests was last changed.
    changed: Option<SystemTime>,
    /// What the file says, where it is as old as the folder.
    text: String,
    /// Where in it the tools of each server are.
    places: HashMap<Box<str>, Range<usize>>,
    /// What it lacks.
    lacking: String,
}

impl<'a> KeptTools<'a> {
    /// Reads the file.
    pub(super) fn open(data_dir: &'a Path) -> Self {
        // The folder is looked at before what is in it.
        let changed = fs::metadata(folder_of_manifests(data_dir)).and_then(|found| found.modified()).ok();
        let text = changed.and_then(|changed| {
            let mut text = fs::read_to_string(file(data_dir)).ok()?;
            text.truncate(text.strip_suffix(END)?.len());
            text.starts_with(&beginning(changed)).then_some(text)
        });
        let text = text.unwrap_or_default();
        Self { data_dir, changed, places: places(&text), text, lacking: String::new() }
    }

    /// The tools of a server that are `wanted`; nothing where nobody knows what it offers.
    pub(super) fn tools(
        &mut self,
        settings: &ServerSettings,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<Vec<Arc<KeptTool>>> {
        let key = key(settings);
        let lines = self.places.get(&*key).and_then(|place| self.text.get(place.clone()));
        if let Some(known) = lines.and_then(|lines| lines.lines().map(parted).collect::<Option<Vec<_>>>()) {
            let tool = |(name, text): (Cow<'_, str>, &str)| {
                Arc::new(KeptTool { name: name.into_owned(), text: text.into(), info: OnceLock::new() })
            };
            return Some(known.into_iter().filter(|(name, _)| wanted(name)).map(tool).collect());
        }
        let tools: Vec<ToolInfo> =
            Manifest::load(self.data_dir, settings)?.tools.into_iter().filter(|tool| wanted(&tool.name)).collect();
        self.lacking.push_str(&format!("{key}\n"));
        for tool in &tools {
            if let (Ok(name), Ok(text)) = (serde_json::to_string(&tool.name), serde_json::to_string(tool)) {
                self.lacking.push_str(&format!("{name}{text}\n"));
            }
        }
        Some(tools.into_iter().map(|tool| Arc::new(KeptTool::from(tool))).collect())
    }

    /// Writes what the file lacked.
    pub(super) fn close(self) {
        let Some(changed) = self.changed.filter(|_| !self.lacking.is_empty()) else { return };
        if !changed.elapsed().is_ok_and(|age| age > SETTLED) {
            return;
        }
        let before = Some(self.text).filter(|text| !text.is_empty() && text.len() < MOST_BYTES);
        let before = before.unwrap_or_else(|| beginning(changed));
        if let Err(error) = save(self.data_dir, &before, &self.lacking) {
            tracing::debug!(%error, "the tools of MCP servers are not kept in one file");
        }
    }
}

fn save(data_dir: &Path, before: &str, lacking: &str) -> io::Result<()> {
    let mut temporary = tempfile::NamedTempFile::new_in(data_dir.join("mcp"))?;
    temporary.write_all(before.as_bytes())?;
    temporary.write_all(lacking.as_bytes())?;
    temporary.write_all(END.as_bytes())?;
    temporary.persist(file(data_dir))?;
    Ok(())
}

fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("mcp/tools")
}

/// What the tools of a server stand below: the server, and which of its tools are wanted, as the others are left out.
fn key(settings: &ServerSettings) -> String {
    let ServerSettings { name, include, exclude, .. } = settings;
    match include.is_empty() && exclude.is_empty() {
        true => format!("{name}@{}", settings.hash()),
        false => format!("{name}@{} {}", settings.hash(), serde_json::json!([include, exclude])),
    }
}

/// The first line of a file that was made when the folder was last changed then.
fn beginning(changed: SystemTime) -> String {
    let since = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{VERSION} {}\n", since.as_nanos())
}

/// Where the tools of each server are: a line with the name and the hash of the server, then one for each tool, which
/// begins with a quote.
fn places(text: &str) -> HashMap<Box<str>, Range<usize>> {
    let mut places = HashMap::new();
    let mut server: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !line.starts_with('"') {
            places.extend(server.map(|(key, start)| (key.into(), start..at)));
            server = Some((line.trim_end(), at + line.len()));
        }
        at += line.len();
    }
    places.extend(server.map(|(key, start)| (key.into(), start..at)));
    places
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::manifest::List;
    use crate::mcp::settings::{Reach, ServerAddress};

    fn server(name: &str) -> ServerSettings {
        ServerSettings::new(name, Reach::Address(ServerAddress::new("https://example.com/mcp")))
    }

    fn keep(folder: &Path, name: &str, tools: &[&str]) {
        let mut manifest = Manifest::of("2025-11-25".to_owned(), "x 1".to_owned(), None);
        let tools: Vec<_> = tools.iter().map(|tool| json!({ "name": tool, "description": "does it\n" })).collect();
        manifest.add(List::Tools, &json!({ "tools": tools }));
        manifest.save(folder, &server(name)).unwrap();
        // As if it had been a while ago.
        let folder = fs::File::open(folder_of_manifests(folder)).unwrap();
        folder.set_modified(SystemTime::now() - 10 * SETTLED).unwrap();
    }

    /// The names of the tools of a server, and whether the file had them.
    fn names(folder: &Path, name: &str, wanted: fn(&str) -> bool) -> (Option<Vec<String>>, bool) {
        let mut kept = KeptTools::open(folder);
        let tools = kept.tools(&server(name), wanted);
        let had = kept.lacking.is_empty();
        kept.close();
        (tools.map(|tools| tools.iter().map(|tool| tool.name.clone()).collect()), had)
    }

    #[test]
    fn the_second_start_has_all_from_one_file_until_a_server_offers_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert_eq!(names(folder, "x", |_| true), (None, true));
        keep(folder, "x", &["a", "\u{e9}\"\n", "b"]);
        let all = || Some(["a", "\u{e9}\"\n", "b"].map(str::to_owned).to_vec());
        assert_eq!(names(folder, "x", |_| true), (all(), false));
        assert_eq!(names(folder, "x", |_| true), (all(), true));
        assert_eq!(names(folder, "x", |name| name == "b").0.unwrap(), ["b"]);
        keep(folder, "y", &[]);
        assert_eq!(names(folder, "y", |_| true), (Some(Vec::new()), false), "another one came");
        assert_eq!(names(folder, "x", |_| true), (all(), false));
        assert_eq!((names(folder, "x", |_| true).1, names(folder, "y", |_| true).1), (true, true));
        keep(folder, "x", &["c"]);
        assert_eq!(names(folder, "x", |_| true), (Some(vec!["c".to_owned()]), false));
    }

    #[test]
    fn what_a_server_says_of_a_tool_is_the_same_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        keep(folder.path(), "x", &["a"]);
        let info = || {
            let mut kept = KeptTools::open(folder.path());
            let tools = kept.tools(&server("x"), |_| true).unwrap();
            kept.close();
            tools[0].info().clone()
        };
        assert_eq!(info(), info());
        assert_eq!(info().description, "does it\n");
    }

    #[test]
    fn a_folder_that_is_changed_just_now_is_not_summed_up() {
        let folder = tempfile::tempdir().unwrap();
        keep(folder.path(), "x", &["a"]);
        fs::File::open(folder_of_manifests(folder.path())).unwrap().set_modified(SystemTime::now()).unwrap();
        assert!(!names(folder.path(), "x", |_| true).1 && !names(folder.path(), "x", |_| true).1);
    }

    #[test]
    fn what_is_cut_off_or_broken_is_read_from_the_manifest() {
        let folder = tempfile::tempdir().unwrap();
        keep(folder.path(), "x", &["a"]);
        names(folder.path(), "x", |_| true);
        let text = fs::read_to_string(file(folder.path())).unwrap();
        for junk in [
            "",
            "\u{feff}",
            "\"",
            "neco-mcp-tools 1 0\n",
            &text.replace("\"a\"{", "\"a\u{1}\"{"),
            &text[..text.len() / 2],
        ] {
            fs::write(file(folder.path()), junk).unwrap();
            assert_eq!(names(folder.path(), "x", |_| true), (Some(vec!["a".to_owned()]), false), "{junk:?}");
        }
    }
}
