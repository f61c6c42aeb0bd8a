//! What an editor says, as a message: words, pictures, files that are named or come along.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::{Attachment, IdeContext, Message, Selection};
use serde_json::{Map, Value};

use crate::failure;

/// Pictures that models see.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];

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

/// Reads what is said to an agent that works in `folder`.
pub(crate) fn read(blocks: Vec<acp::ContentBlock>, folder: &Path) -> Result<Said, Error> {
    let mut said = Said::default();
    for block in blocks {
        match block {
            acp::ContentBlock::Text(text) => said.words.push_str(&text.text),
            acp::ContentBlock::Image(image) => said.pictures.push(picture(image.mime_type, image.data)?),
            acp::ContentBlock::ResourceLink(link) => said.name(&named(&link.uri, folder)),
            acp::ContentBlock::Resource(resource) => said.bring(resource.resource, folder)?,
            _ => return Err(failure::invalid("Neco takes text, pictures, and files; this is something else")),
        }
    }
    if said.whole().trim().is_empty() && said.pictures.is_empty() {
        return Err(failure::invalid("the prompt is empty"));
    }
    Ok(said)
}

/// What the person has open, as `_meta` of a prompt says it: `{"editor": {"activeFile": …, "cursorLine": …, "selection":
/// {"firstLine": …, "lastLine": …, "text": …}, "openFiles": […]}}`, lines from 1.
pub(crate) fn open(meta: Option<&Map<String, Value>>, folder: &Path) -> Option<IdeContext> {
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
    /// Names something: a file is brought along by the session then.
    fn name(&mut self, name: &str) {
        let is_apart = self.words.chars().next_back().is_none_or(char::is_whitespace);
        self.words.push_str(if is_apart { "" } else { " " });
        self.words.push_str(name);
        self.words.push(' ');
    }

    /// Something of which the editor knows what stands in it, saved or not.
    fn bring(&mut self, resource: acp::EmbeddedResourceResource, folder: &Path) -> Result<(), Error> {
        match resource {
            acp::EmbeddedResourceResource::TextResourceContents(contents) => {
                let place = place(&contents.uri, folder);
                let before = if self.along.is_empty() { Message::ATTACHED } else { "\n\n" };
                let text = contents.text.trim_end_matches('\n');
                let fence = fence(text);
                self.along.push_str(&format!("{before}{place}:\n{fence}\n{text}\n{fence}"));
                Ok(())
            }
            acp::EmbeddedResourceResource::BlobResourceContents(contents) => {
                let is_picture = contents.mime_type.as_deref().is_some_and(|kind| PICTURES.contains(&kind));
                match contents.mime_type.filter(|_| is_picture) {
                    Some(kind) => self.pictures.push(picture(kind, contents.blob)?),
                    None => self.name(&named(&contents.uri, folder)),
                }
                Ok(())
            }
            _ => Err(failure::invalid("Neco does not know what this resource holds")),
        }
    }
}

fn picture(media_type: String, data: String) -> Result<Attachment, Error> {
    if PICTURES.contains(&media_type.as_str()) {
        return Ok(Attachment::Image { media_type, data });
    }
    Err(failure::invalid(format!("{media_type} is no picture that models see: PNG, JPEG, WebP and GIF are")))
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

/// More backquotes in a row than there are anywhere in `text`.
fn fence(text: &str) -> String {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(blocks: Value) -> Result<Said, Error> {
        read(serde_json::from_value(blocks).unwrap(), Path::new("/project"))
    }

    #[test]
    fn files_are_named_and_what_the_editor_has_of_them_comes_along() {
        let said = said(json!([
            { "type": "text", "text": "look at" },
            { "type": "resource_link", "name": "a.rs", "uri": "file:///project/src/a.rs" },
            { "type": "text", "text": "and" },
            { "type": "resource_link", "name": "b", "uri": "file:///etc/a%20b" },
            { "type": "resource_link", "name": "c", "uri": "/project/what is C#?.md" },
            { "type": "resource", "resource": { "uri": "file:///project/c.md#L3", "text": "```\nnew\n```\n" } },
        ]));
        let said = said.unwrap();
        assert_eq!(said.words, "look at @src/a.rs and `/etc/a b` @\"what is C#?.md\" ");
        assert_eq!(said.along, format!("{}c.md:\n````\n```\nnew\n```\n````", Message::ATTACHED));
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
        assert!(said(json!([{ "type": "image", "mimeType": "image/tiff", "data": "" }])).is_err());
        assert!(said(json!([{ "type": "audio", "mimeType": "audio/wav", "data": "" }])).is_err());
        let picture = said(json!([{ "type": "image", "mimeType": "image/png", "data": "AA==" }])).unwrap();
        assert_eq!(picture.pictures.len(), 1);
    }
}
