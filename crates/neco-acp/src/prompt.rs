//! What an editor says, as a message: words, pictures, files that are named or come along.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::app::AppError;
use neco_proto::{Attachment, IdeContext, Message, Selection};
use serde_json::{Map, Value};

use crate::failure;
use crate::updates::fenced;

/// Pictures that models see.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];

/// Checks pictures in base64, each with what it is called, as a message carries them.
pub type CheckPictures = fn(Vec<(String, String)>) -> Result<Vec<Attachment>, AppError>;

/// What an editor sent, as it came.
pub(crate) struct Sent {
    pub blocks: Vec<acp::ContentBlock>,
    /// What the person has open, where the editor says it.
    pub meta: Option<Map<String, Value>>,
}

impl Sent {
    /// The files that it names.
    pub fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let in_blocks = self.blocks.iter().filter_map(|block| match block {
            acp::ContentBlock::ResourceLink(link) => file(&link.uri),
            acp::ContentBlock::Resource(resource) => match &resource.resource {
                acp::EmbeddedResourceResource::TextResourceContents(contents) => file(&contents.uri),
                _ => None,
            },
            _ => None,
        });
        let open = open(self.meta.as_ref(), Path::new("")).unwrap_or_default();
        let open = open.active_file.into_iter().chain(open.open_files).map(|path| folder.join(path));
        in_blocks.chain(open).collect()
    }
}

/// A message that is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// What the person wrote.
    pub words: String,
    /// What comes along, as it stands behind that.
    pub along: String,
    /// Pictures.
    pub pictures: Vec<Attachment>,
    /// What the person has open, where the editor says it.
    pub open: Option<IdeContext>,
}

impl Said {
    /// Everything that is said.
    pub fn whole(&self) -> String {
        format!("{}{}", self.words, self.along)
    }
}

/// Reads what is said to an agent that works in `folder`. It may take long where much comes along.
pub(crate) fn read(sent: Sent, folder: &Path, check: CheckPictures) -> Result<Said, Error> {
    let mut said = Said { open: open(sent.meta.as_ref(), folder), ..Said::default() };
    let (mut pictures, mut selected) = (Vec::new(), None);
    for block in sent.blocks {
        match block {
            acp::ContentBlock::Text(text) => said.words.push_str(&text.text),
            acp::ContentBlock::Image(image) => {
                let name = image.uri.filter(|uri| !uri.is_empty()).map(|uri| place(&uri, folder));
                pictures.push((called(name, pictures.len()), image.data));
            }
            acp::ContentBlock::ResourceLink(link) => said.name(&named(&link.uri, folder), lines(&link.uri)),
            acp::ContentBlock::Resource(resource) => match resource.resource {
                acp::EmbeddedResourceResource::TextResourceContents(contents) => {
                    said.bring(&contents, folder);
                    selected = selected.or_else(|| selection(contents, folder));
                }
                acp::EmbeddedResourceResource::BlobResourceContents(contents) if is_picture(&contents) => {
                    pictures.push((called(Some(place(&contents.uri, folder)), pictures.len()), contents.blob));
                }
                acp::EmbeddedResourceResource::BlobResourceContents(contents) => {
                    said.name(&named(&contents.uri, folder), None);
                }
                _ => return Err(failure::invalid("Neco does not know what this resource holds")),
            },
            _ => return Err(failure::invalid("Neco takes text, pictures, and files; this is something else")),
        }
    }
    if let Some((file, selection)) = selected {
        said.selects(file, selection);
    }
    said.pictures = check(pictures).map_err(failure::of_app)?;
    if said.whole().trim().is_empty() && said.pictures.is_empty() {
        return Err(failure::invalid("the prompt is empty"));
    }
    Ok(said)
}

/// What the person has open, as `_meta` of a prompt says it: `{"editor": {"activeFile": …, "cursorLine": …, "selection":
/// {"firstLine": …, "lastLine": …, "text": …}, "openFiles": […]}}`, lines from 1.
fn open(meta: Option<&Map<String, Value>>, folder: &Path) -> Option<IdeContext> {
    let editor = meta?.get("editor")?.as_object()?;
    let line = |of: &Map<String, Value>, name: &str| of.get(name)?.as_u64().and_then(|line| u32::try_from(line).ok());
    let selection = editor.get("selection").and_then(Value::as_object).and_then(|selection| {
        let text = selection.get("text")?.as_str()?.to_owned();
        Some(Selection { first_line: line(selection, "firstLine")?, last_line: line(selection, "lastLine")?, text })
    });
    let files = editor.get("openFiles").and_then(Value::as_array).into_iter().flatten();
    Some(IdeContext {
        active_file: editor.get("activeFile").and_then(Value::as_str).map(|file| place(file, folder)),
        cursor_line: line(editor, "cursorLine"),
        selection,
        open_files: files.filter_map(Value::as_str).map(|file| place(file, folder)).collect(),
    })
}

impl Said {
    /// Names something, or lines of it: a file is brought along by the session then.
    fn name(&mut self, name: &str, lines: Option<Lines>) {
        let is_apart = self.words.chars().next_back().is_none_or(char::is_whitespace);
        self.words.push_str(if is_apart { "" } else { " " });
        self.words.push_str(name);
        self.words.push_str(&lines.map(|lines| format!(" ({lines})")).unwrap_or_default());
        self.words.push(' ');
    }

    /// A text of which the editor knows what stands in it, saved or not. One that is too long is only named.
    fn bring(&mut self, contents: &acp::TextResourceContents, folder: &Path) {
        let length = contents.text.len();
        if length > Message::MOST_OF_ONE || self.along.len() + length > Message::MOST_ATTACHED {
            return self.name(&named(&contents.uri, folder), lines(&contents.uri));
        }
        let place = place(&contents.uri, folder);
        let before = if self.along.is_empty() { Message::ATTACHED } else { "\n\n" };
        let lines = lines(&contents.uri).map(|lines| format!(", {lines}")).unwrap_or_default();
        self.along.push_str(&format!("{before}{place}{lines}:\n{}", fenced(&contents.text)));
    }

    /// Lines of a file came along: they are what is selected, unless the editor has said what is.
    fn selects(&mut self, file: String, selection: Selection) {
        let open = self.open.get_or_insert_default();
        if open.selection.is_none() && open.active_file.as_ref().is_none_or(|active| *active == file) {
            (open.active_file, open.selection) = (Some(file), Some(selection));
        }
    }
}

/// Lines of a file, from 1.
#[derive(Clone, Copy)]
struct Lines {
    first: u32,
    last: u32,
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "line {}", self.first),
            false => write!(f, "lines {}-{}", self.first, self.last),
        }
    }
}

/// The lines that the address of a file points to: `#L3`, `#L3-5`, `#L3-L5` or `#L3:5`.
fn lines(uri: &str) -> Option<Lines> {
    let (path, fragment) = uri.split_once('#')?;
    let numbers = fragment.strip_prefix('L').filter(|_| !path.starts_with('/') && file(uri).is_some())?;
    let (first, last) = numbers.split_once(['-', ':']).unwrap_or((numbers, numbers));
    let number = |number: &str| number.strip_prefix('L').unwrap_or(number).parse().ok().filter(|number| *number > 0);
    let lines = Lines { first: number(first)?, last: number(last)? };
    Some(lines).filter(|lines| lines.first <= lines.last)
}

/// The lines of a file that a resource holds, as what is selected in it.
fn selection(contents: acp::TextResourceContents, folder: &Path) -> Option<(String, Selection)> {
    let Lines { first, last } = lines(&contents.uri)?;
    let selection = Selection { first_line: first, last_line: last, text: contents.text };
    Some((place(&contents.uri, folder), selection))
}

fn is_picture(contents: &acp::BlobResourceContents) -> bool {
    contents.mime_type.as_deref().is_some_and(|kind| PICTURES.contains(&kind))
}

/// What a picture is called that comes behind so many others.
fn called(name: Option<String>, before: usize) -> String {
    let number = before + 1;
    name.map_or_else(|| format!("picture {number} of the message"), |name| format!("picture {number} ({name})"))
}

/// How something is named in a message: a file of the workspace by its path behind `@`, which brings it along.
fn named(uri: &str, folder: &Path) -> String {
    let Some(path) = file(uri) else { return uri.to_owned() };
    let inside = path.strip_prefix(folder).ok().map(|inside| inside.display().to_string());
    match inside.filter(|inside| !inside.is_empty()) {
        Some(inside) if !inside.contains([' ', '\t', '\n', '"']) => format!("@{inside}"),
        Some(inside) if !inside.contains(['"', '\n']) => format!("@\"{inside}\""),
        _ => format!("`{}`", path.display()),
    }
}

/// Where something is, as people name it: files of the workspace from there on.
fn place(uri: &str, folder: &Path) -> String {
    match file(uri) {
        Some(path) => path.strip_prefix(folder).unwrap_or(&path).display().to_string(),
        None => uri.to_owned(),
    }
}

/// The file that an address names, without what points to a place in it; a path that is no address is one as it stands.
pub(crate) fn file(uri: &str) -> Option<PathBuf> {
    if uri.starts_with('/') {
        return Some(PathBuf::from(uri));
    }
    let rest = uri.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://")).and_then(|_| uri.get(7..))?;
    // The files of another machine are none of ours.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = path.split(['#', '?']).next().unwrap_or(path);
    Some(PathBuf::from(OsString::from_vec(unescaped(path)))).filter(|path| path.is_absolute())
}

/// Bytes that have no letter in an address, or mean something there, are written `%20` in it.
fn unescaped(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (byte == b'%').then(|| Some((digit(ahead.next()?)?, digit(ahead.next()?)?))).flatten();
        match digits {
            Some((high, low)) => {
                bytes.push((high << 4) | low);
                rest = ahead;
            }
            None => bytes.push(byte),
        }
    }
    bytes
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(blocks: Value) -> Result<Said, Error> {
        let sent = Sent { blocks: serde_json::from_value(blocks).unwrap(), meta: None };
        // The names of pictures stand for them.
        let check: CheckPictures = |pictures| {
            let picture = |(name, data): (String, String)| match data.as_str() {
                "bad" => Err(AppError::new(neco_proto::app::Trouble::Invalid, format!("{name} is damaged"))),
                _ => Ok(Attachment::Image { media_type: name, data }),
            };
            pictures.into_iter().map(picture).collect()
        };
        read(sent, Path::new("/project"), check)
    }

    #[test]
    fn files_are_named_and_what_the_editor_has_of_them_comes_along() {
        let said = said(json!([
            { "type": "text", "text": "look at" },
            { "type": "resource_link", "name": "a.rs", "uri": "file:///project/src/a.rs" },
            { "type": "text", "text": "and" },
            { "type": "resource_link", "name": "b", "uri": "file:///etc/a%20b" },
            { "type": "resource_link", "name": "c", "uri": "/project/what is C#?.md" },
            { "type": "resource", "resource": { "uri": "file:///project/c.md", "text": "```\nnew\n```\n" } },
        ]));
        let said = said.unwrap();
        assert_eq!(said.words, "look at @src/a.rs and `/etc/a b` @\"what is C#?.md\" ");
        assert_eq!(said.along, format!("{}c.md:\n````\n```\nnew\n```\n````", Message::ATTACHED));
        assert_eq!(said.open, None, "whole files are not selected");
    }

    #[test]
    fn what_is_too_long_to_come_along_is_named() {
        let resource = |name: usize, length: usize| {
            let uri = format!("file:///project/{name}.txt");
            json!({ "type": "resource", "resource": { "uri": uri, "text": "x".repeat(length) } })
        };
        let all: Vec<Value> = (0..6).map(|name| resource(name, if name == 0 { 70_000 } else { 60_000 })).collect();
        let said = said(json!(all)).unwrap();
        assert_eq!(said.words, "@0.txt @5.txt ");
        assert!(
            said.along.len() < Message::MOST_ATTACHED + 200 && said.along.contains("4.txt:"),
            "{}",
            said.along.len()
        );
    }

    #[test]
    fn lines_of_a_file_are_told_as_such_and_are_what_is_selected() {
        let said = said(json!([
            { "type": "resource_link", "name": "a", "uri": "file:///project/a.rs#L7" },
            { "type": "resource", "resource": { "uri": "file:///project/c.md#L3-5", "text": "some" } },
            { "type": "resource", "resource": { "uri": "file:///project/d.md?symbol=x#L4:4", "text": "more" } },
        ]));
        let said = said.unwrap();
        assert_eq!(said.words, "@a.rs (line 7) ");
        let along = "c.md, lines 3-5:\n```\nsome\n```\n\nd.md, line 4:\n```\nmore\n```";
        assert_eq!(said.along, format!("{}{along}", Message::ATTACHED));
        let open = said.open.unwrap();
        let selection = Selection { first_line: 3, last_line: 5, text: "some".to_owned() };
        assert_eq!((open.active_file.as_deref(), &open.selection), (Some("c.md"), &Some(selection.clone())));
        for (uri, is) in
            [("file:///c.md#L3-L5", true), ("file:///c.md#L5-3", false), ("/C#/L3", false), ("https://a/b#L3", false)]
        {
            assert_eq!(lines(uri).is_some(), is, "{uri}");
        }
        // What the editor says by itself comes first.
        let meta = json!({ "editor": { "activeFile": "b.rs" } });
        let text = json!({ "type": "text", "text": "x" });
        let block = json!({ "type": "resource", "resource": { "uri": "file:///project/c.md#L3", "text": "some" } });
        let blocks = serde_json::from_value(json!([text, block])).unwrap();
        let sent = Sent { blocks, meta: meta.as_object().cloned() };
        let open = read(sent, Path::new("/project"), |_| Ok(Vec::new())).unwrap().open.unwrap();
        assert_eq!((open.active_file.as_deref(), open.selection), (Some("b.rs"), None));
    }

    #[test]
    fn an_address_is_unescaped_and_a_path_stands_as_it_is() {
        let of = |uri: &str| file(uri).map(|path| path.display().to_string());
        for (uri, path) in [
            ("file:///a/b%23c%3Fd%20%25e.md", "/a/b#c?d %e.md"),
            ("file:///a/b.md#L3", "/a/b.md"),
            ("file:///a/b.md?line=3", "/a/b.md"),
            ("FILE://localhost/a/b", "/a/b"),
            ("file:///a/100%", "/a/100%"),
            ("file:///%C3%A4", "/ä"),
            ("/a/C#/what?.md", "/a/C#/what?.md"),
            ("/a/100%25", "/a/100%25"),
        ] {
            assert_eq!(of(uri).as_deref(), Some(path), "{uri}");
        }
        for uri in ["file://server/a", "https://example.org/a", "a/b", ""] {
            assert_eq!(of(uri), None, "{uri}");
        }
    }

    #[test]
    fn what_is_open_is_told_from_the_workspace_on() {
        let meta = json!({ "editor": {
            "activeFile": "/project/src/a.rs", "cursorLine": 3, "openFiles": ["file:///project/b.rs", "/etc/hosts"],
            "selection": { "firstLine": 1, "lastLine": 2, "text": "fn" },
        } });
        let open = open(meta.as_object(), Path::new("/project")).unwrap();
        assert_eq!((open.active_file.as_deref(), open.cursor_line), (Some("src/a.rs"), Some(3)));
        assert_eq!(
            (open.open_files, open.selection.unwrap().text),
            (vec!["b.rs".into(), "/etc/hosts".into()], "fn".into())
        );
        assert_eq!(super::open(None, Path::new("/project")), None);
    }

    #[test]
    fn what_no_model_sees_is_refused() {
        assert!(said(json!([])).is_err());
        assert!(said(json!([{ "type": "audio", "mimeType": "audio/wav", "data": "" }])).is_err());
    }

    #[test]
    fn a_picture_that_is_refused_is_named() {
        let of_uri = |data: &str, uri: Option<&str>| json!({ "type": "image", "mimeType": "image/png", "data": data, "uri": uri });
        let image = |data: &str| of_uri(data, None);
        let named = |data: &str| of_uri(data, Some("file:///project/a.png"));
        let of = |said: Said| said.pictures.into_iter().map(|Attachment::Image { media_type, .. }| media_type);
        let blob = json!({ "uri": "file:///b.gif", "mimeType": "image/gif", "blob": "x" });
        let blob = json!({ "type": "resource", "resource": blob });
        let names: Vec<String> = of(said(json!([image("x"), named("x"), blob])).unwrap()).collect();
        assert_eq!(names, ["picture 1 of the message", "picture 2 (a.png)", "picture 3 (/b.gif)"]);
        let error = said(json!([image("x"), named("bad")])).unwrap_err();
        assert_eq!(error.message, "picture 2 (a.png) is damaged");
    }
}
