//! The pages of events and commands: every type with its fields, from doc comments.

use neco_proto::{Command, Event};
use schemars::schema_for;
use serde_json::Map;

use super::markdown::Markdown;
use super::schema::{Choice, Field, Schema, link};

/// Types that have a page of their own.
const ELSEWHERE: &[(&str, &str)] = &[("ErrorCode", "errors.md")];

/// What `events.md` says.
pub fn events() -> String {
    page(
        "Events",
        "neco_proto::Event",
        "Events are the only way out of a session. The log keeps exactly these objects and \
         `--output-format stream-json` prints them, one a line; `type` says which one it is. What a reader does \
         not know it should skip: types and fields are added over time. What is done when a session is closed, \
         such as hooks of `SessionEnd`, comes after the last line, `agent_complete`, and is in the log alone \
         (`neco session log ID --json`). A message that begins with `#` is kept by memory and opens no session: it \
         prints one `memory_update` with `seq` 1 and zeros for ids.",
        schema_for!(Event).as_value(),
    )
}

/// What `commands.md` says.
pub fn commands() -> String {
    page(
        "Commands",
        "neco_proto::Command",
        "Commands are the only way into a session; every window sends these. `type` says which one it is.",
        schema_for!(Command).as_value(),
    )
}

fn page(title: &str, source: &str, purpose: &str, document: &serde_json::Value) -> String {
    let none = Map::new();
    let schema = Schema::of(document, &none);
    let mut page = Markdown::titled(title);
    page.paragraph(&format!("Written by `cargo xtask reference` from `{source}`; do not edit."));
    page.paragraph(purpose);
    let mut common = schema.fields();
    let choices = schema.choices();
    if let Some(name) = choices.first().and_then(|choice| choice.tag) {
        let doc = "Which one it is: the name of a section below.";
        common.insert(0, Field { name, doc, words: "string".to_owned(), optional: false });
    }
    page.heading(2, "In every one");
    fields(&mut page, &common);
    for choice in choices {
        page.heading(2, &format!("`{}`", choice.value));
        page.paragraph(choice.doc);
        fields(&mut page, &choice.fields);
        alternatives(&mut page, "", &choice.inner);
    }
    types(&mut page, schema);
    page.into_text()
}

/// The types that fields name; those that only lend their fields to an event are told there.
fn types(page: &mut Markdown, schema: Schema<'_>) {
    let named = words_of_all_fields(schema);
    page.heading(2, "Types");
    for (name, each) in schema.definitions() {
        if !named.contains(&link(name)) || ELSEWHERE.iter().any(|(known, _)| *known == name) {
            continue;
        }
        page.heading(3, &format!("Type {name}"));
        page.paragraph(each.doc());
        let choices = each.choices();
        if choices.is_empty() {
            scalar_or_object(page, each);
        } else {
            alternatives(page, "", &choices);
        }
    }
}

fn words_of_all_fields(schema: Schema<'_>) -> String {
    let everything = std::iter::once(schema).chain(schema.definitions().map(|(_, each)| each));
    let fields = everything
        .flat_map(|each| each.fields().into_iter().chain(each.choices().into_iter().flat_map(Choice::all_fields)));
    fields.map(|field| field.words).collect()
}

fn scalar_or_object(page: &mut Markdown, schema: Schema<'_>) {
    let all = schema.fields();
    if all.is_empty() {
        page.paragraph(&format!("A {}.", schema.words()));
    } else {
        fields(page, &all);
    }
}

/// What something can be; `outer` is what it is already.
fn alternatives(page: &mut Markdown, outer: &str, choices: &[Choice<'_>]) {
    let words = choices.iter().filter(|choice| choice.tag.is_none());
    let words: Vec<_> = words.map(|choice| [format!("`{}`", choice.value), choice.doc.to_owned()]).collect();
    page.table(["value", "meaning"], &words);
    for choice in choices {
        let Some(tag) = choice.tag else { continue };
        let tags = format!("{outer}{tag}: \"{}\"", choice.value);
        page.paragraph(format!("**`{tags}`** {}", choice.doc).trim_end());
        fields(page, &choice.fields);
        alternatives(page, &format!("{tags}, "), &choice.inner);
    }
}

fn fields(page: &mut Markdown, fields: &[Field<'_>]) {
    let rows: Vec<_> = fields
        .iter()
        .map(|Field { name, doc, words, optional }| {
            let words = linked(words);
            let kind = if *optional { format!("{words}, optional") } else { words };
            [format!("`{name}`"), kind, (*doc).to_owned()]
        })
        .collect();
    page.table(["field", "type", "meaning"], &rows);
}

/// Links to types that another page tells about.
fn linked(words: &str) -> String {
    ELSEWHERE
        .iter()
        .fold(words.to_owned(), |words, (name, file)| words.replace(&link(name), &format!("[{name}]({file})")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use neco_proto::EventBody;

    #[test]
    fn every_event_has_its_section_with_its_fields() {
        let page = events();
        for name in EventBody::TYPES {
            assert!(page.contains(&format!("\n## `{name}`\n")), "{name} is missing");
        }
        for row in [
            "| `seq` | whole number | Position in the session's log, from 1, without gaps. |",
            "| `turn_id` | [TurnId](#type-turnid), optional | The turn it belongs to, if any. |",
            "| `error_code` | [ErrorCode](errors.md), optional | Why it failed; absent on success. |",
            "| `parts` | list of [Part](#type-part) | What is said, in order. |",
            "| `type` | string | Which one it is: the name of a section below. |",
            "**`way: \"up\", kind: \"report\"`**",
            "**`about: \"plan\"`**",
        ] {
            assert!(page.contains(row), "no row\n{row}\nin\n{page}");
        }
    }

    #[test]
    fn every_command_is_told() {
        let page = commands();
        for name in ["user_message", "steer", "approve", "cancel", "shutdown"] {
            assert!(page.contains(&format!("\n## `{name}`\n")), "{name} is missing");
        }
        assert!(page.contains("**`kind: \"reject\"`** Not this call."), "{page}");
        assert!(page.contains("| `type` | string | Which one it is"), "{page}");
    }

    #[test]
    fn every_link_has_its_target() {
        for page in [events(), commands()] {
            let headings: BTreeSet<String> =
                page.lines().filter_map(|line| line.strip_prefix("### ")).map(slug).collect();
            for link in page.split("](#").skip(1) {
                let target = link.split(')').next().unwrap();
                assert!(headings.contains(target), "no heading for #{target}");
            }
        }
    }

    /// The anchor that a heading gets.
    fn slug(heading: &str) -> String {
        heading.to_lowercase().replace(' ', "-")
    }
}
