//! Whatever a session holds, what is written of it is whole, reads back, and is no more than text.

mod sample;

use neco_proto::event::Rewind;
use neco_proto::{Event, EventBody, MessageId};
use proptest::prelude::*;
use pulldown_cmark::{Options, Parser};
use serde_json::Value;

use self::sample::{Sample, everything};
use super::jsonl::{FORMAT, JsonlError, JsonlReader};
use super::{About, Header, HtmlWriter, JsonlWriter, MarkdownWriter, Outline};

/// What stands in hostile text and may stand in no tag.
const MARKER: &str = "ZZZ";
/// What may stand nowhere.
const STEERS: [char; 5] = ['\u{1b}', '\u{9b}', '\u{202e}', '\u{8}', '\0'];

fn about(events: &[Event]) -> About {
    let id = events.first().map(|event| event.session_id).unwrap();
    let cwd = "/home/someone".to_owned();
    About { id, title: String::new(), cwd, created_ms: 1, updated_ms: 2, neco: "0.1.0".to_owned() }
}

fn outline(events: &[Event]) -> Outline {
    let mut outline = Outline::default();
    events.iter().for_each(|event| outline.read(event));
    outline
}

fn html(events: &[Event], about: &About) -> String {
    let outline = outline(events);
    let agents = outline.agents.clone();
    let mut writer = HtmlWriter::new(Vec::new(), about, outline).unwrap();
    events.iter().for_each(|event| writer.event(event).unwrap());
    for agent in &agents {
        writer.agent(agent).unwrap();
        events.iter().for_each(|event| writer.event(event).unwrap());
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn markdown(events: &[Event], about: &About) -> String {
    let outline = outline(events);
    let agents = outline.agents.clone();
    let mut writer = MarkdownWriter::new(Vec::new(), about, outline).unwrap();
    events.iter().for_each(|event| writer.event(event).unwrap());
    for agent in &agents {
        writer.agent(agent).unwrap();
        events.iter().for_each(|event| writer.event(event).unwrap());
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn jsonl(events: &[Event], about: About) -> Vec<u8> {
    let header = Header::new(about, events.len() as u64);
    let mut writer = JsonlWriter::new(Vec::new(), &header).unwrap();
    events.iter().for_each(|event| writer.event(event).unwrap());
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> Result<(Vec<Event>, bool), JsonlError> {
    let mut reader = JsonlReader::new(bytes)?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    Ok((events, reader.is_cut()))
}

/// The same events with `text` in the place of every string that may be anything.
fn with_text(events: &[Event], text: &str) -> Vec<Event> {
    events.iter().map(|event| hostile(event, text)).collect()
}

fn hostile(event: &Event, text: &str) -> Event {
    let mut json = serde_json::to_value(event).unwrap();
    let mut paths = Vec::new();
    strings(&json, String::new(), &mut paths);
    for path in paths {
        let fixed = ["/session_id", "/agent_id", "/turn_id", "/ts", "/type"].contains(&path.as_str());
        let old = json.pointer(&path).cloned();
        if let (false, Some(place), Some(old)) = (fixed, json.pointer_mut(&path), old) {
            *place = Value::String(text.to_owned());
            if serde_json::from_value::<Event>(json.clone()).is_err() {
                *json.pointer_mut(&path).unwrap() = old;
            }
        }
    }
    serde_json::from_value(json).unwrap()
}

fn strings(value: &Value, at: String, paths: &mut Vec<String>) {
    match value {
        Value::String(_) => paths.push(at),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(index, value)| strings(value, format!("{at}/{index}"), paths));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, value)| strings(value, format!("{at}/{name}"), paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn hostile_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("<script src=ZZZ>alert(1)</script>"),
        Just("</style></pre></code></details></div></main><img src=x onerror=ZZZ>"),
        Just("\" onload=\"ZZZ"),
        Just("' onclick='ZZZ"),
        Just("<!-- ZZZ"),
        Just("<![CDATA[ZZZ"),
        Just("]]>"),
        Just("[x](javascript:ZZZ)"),
        Just("[x](data:text/html,ZZZ)"),
        Just("![x](\"onerror=ZZZ)"),
        Just("<a href=\"javascript:ZZZ\">"),
        Just("\n\n```\n</details>\n"),
        Just("\n| a | <b ZZZ> |\n|---|---|\n"),
        Just("\u{1b}]0;title\u{7}\u{1b}[31m"),
        Just("\u{9b}31m\u{202e}"),
        Just("&lt;script&gt;"),
        Just("\n\n    <p ZZZ>\n\n<p ZZZ>\n"),
        Just("~~~\n- > "),
        Just("\0\u{8}\r"),
        Just(" 漢字 🐈 words "),
    ];
    prop::collection::vec(pieces, 1..8).prop_map(|pieces| pieces.concat())
}

/// Every tag of a page, without its brackets.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|rest| rest.split_once('>').expect("every tag ends").0).collect()
}

const ELEMENTS: &str = " a article b blockquote body br code dd details div dl dt em footer h1 h2 h3 h4 h5 h6 head header \
    hr html img li main meta nav ol p pre s span strong style summary table td th time title tr ul ";
const ATTRIBUTES: &str = " alt charset class content datetime dir href http-equiv id lang name open rel src start ";

fn check_tag(tag: &str) {
    assert!(!tag.contains(MARKER) || tag.starts_with("a rel="), "{tag}");
    if tag == "!doctype html" {
        return;
    }
    let tag = tag.trim_start_matches('/');
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(ELEMENTS.contains(&format!(" {name} ")), "{tag}");
    while !rest.trim().is_empty() {
        let (attribute, value) = rest.split_once("=\"").unwrap_or((rest, "\""));
        assert!(ATTRIBUTES.contains(&format!(" {} ", attribute.trim())), "{tag}");
        let (value, after) = value.split_once('"').expect("a value ends");
        match attribute.trim() {
            "href" => {
                assert!(["#e", "http://", "https://", "mailto:"].iter().any(|begin| value.starts_with(begin)), "{tag}")
            }
            "src" => assert!(value.starts_with("data:image/"), "{tag}"),
            _ => {}
        }
        rest = after;
    }
}

#[test]
fn a_session_with_everything_is_told_with_everything() {
    let events = everything();
    let page = html(&events, &about(&events));
    tags(&page).into_iter().for_each(check_tag);
    for (begin, end) in
        [("<details", "</details>"), ("<div", "</div>"), ("<article", "</article>"), ("<span", "</span>")]
    {
        assert_eq!(page.matches(begin).count(), page.matches(end).count(), "{begin}");
    }
    let text = markdown(&events, &about(&events));
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    for words in [
        "Mend the parser's last token",
        "/home/someone",
        "tests/last_token.rs",
        "Change the test, and say so in the changelog",
        "Removed by a rewind · 1 message",
        "$0.1917",
    ] {
        let unescaped = text.replace('\\', "");
        assert!(page.replace("&#39;", "'").contains(words) && unescaped.contains(words), "{words}");
    }
    assert!(!page.contains('\u{1b}') && !text.contains('\u{1b}'));
    assert!(page.contains("data:image/png;base64,iVBOR"));
    assert_eq!(page.matches("interrupted").count(), 1);
    assert!(page.contains("Run sleep 100") && page.contains("Not finished."));
}

#[test]
fn what_an_agent_did_is_told_apart_from_the_session() {
    let mut sample = Sample::new();
    sample.says("the person asks");
    sample.answers("", "the root answers", None);
    let [one, two] = ["explore-1", "coder-1"].map(|name| sample.agent_begins(name));
    sample.as_agent(one, |sample| {
        sample.says("the task of one");
        sample.answers("", "one answers", None);
    });
    sample.as_agent(two, |sample| sample.answers("", "two answers", None));
    sample.answers("", "the root again", None);
    for text in [markdown(&sample.events, &about(&sample.events)), html(&sample.events, &about(&sample.events))] {
        let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
        let order = ["the root answers", "the root again", "the task of one", "one answers", "two answers"];
        assert!(order.map(place).is_sorted(), "{text}");
        assert_eq!(text.matches("one answers").count(), 1);
        assert_eq!(text.matches("<details").count(), text.matches("</details>").count());
    }
}

#[test]
fn what_a_rewind_took_away_is_marked_and_comes_back_when_the_rewind_is_undone() {
    let mut sample = Sample::new();
    let rewind = |to, undoes| {
        let message_id = MessageId::new();
        EventBody::Rewind(Rewind {
            to,
            message_id,
            conversation: true,
            files: None,
            undo: None,
            now: None,
            undoes,
            changed: 0,
            deleted: 0,
            reverted: Vec::new(),
            over_others: false,
            by: None,
        })
    };
    for number in 1..=4 {
        sample.says(&format!("message {number}"));
    }
    let first = sample.push(rewind(2, None));
    sample.says("message 6");
    assert_eq!(outline(&sample.events).taken_back(), [3..=4]);
    sample.push(rewind(first - 1, Some(first)));
    sample.says("message 8");
    assert_eq!(outline(&sample.events).taken_back(), [first..=first + 1]);
    sample.push(rewind(1, None));
    assert_eq!(outline(&sample.events).taken_back(), [2..=8]);
}

#[test]
fn a_file_that_was_cut_off_gives_what_is_whole_and_says_so() {
    let events = everything();
    let bytes = jsonl(&events, about(&events));
    let (back, cut) = read(&bytes).unwrap();
    assert_eq!((back.as_slice(), cut), (events.as_slice(), false));
    let (back, cut) = read(&bytes[..bytes.len() - 20]).unwrap();
    assert_eq!((back.len(), cut), (events.len() - 1, true));
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let (back, cut) = read(&lines[..5].concat()).unwrap();
    assert_eq!((back.len(), cut), (4, true), "the header promised more");
    let (back, cut) = read(&lines[1..].concat()).unwrap();
    assert_eq!((back.len(), cut), (events.len(), false), "a log without a header is one too");
}

#[test]
fn what_is_no_session_of_ours_is_refused() {
    let events = everything();
    let bytes = jsonl(&events, about(&events));
    let text = String::from_utf8(bytes).unwrap();
    let newer = text.replacen(&format!("\"neco_session\":{FORMAT}"), "\"neco_session\":99", 1);
    assert!(matches!(read(newer.as_bytes()), Err(JsonlError::TooNew(99))));
    assert!(matches!(read(b""), Err(JsonlError::NotOurs)));
    assert!(matches!(read(b"{\"type\":\"user\"}\n"), Err(JsonlError::NotOurs)));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let gap = [&lines[..3], &lines[4..]].concat().concat();
    assert!(matches!(read(gap.as_bytes()), Err(JsonlError::Gap { line: 4, expected: 3, got: 4 })));
    let odd = [&lines[..3], &["{\"type\":\"tomorrow\"}\n"], &lines[3..]].concat().concat();
    assert!(matches!(read(odd.as_bytes()), Err(JsonlError::Line { line: 4, .. })));
    let other = lines[3].replace(&events[0].session_id.to_string(), &neco_proto::SessionId::new().to_string());
    let mixed = [&lines[..3], &[other.as_str()]].concat().concat();
    assert!(matches!(read(mixed.as_bytes()), Err(JsonlError::Mixed { line: 4 })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lines_of_json_are_the_same_events_byte_for_byte(text: String) {
        let events = with_text(&everything(), &text);
        let about = About { title: text.clone(), cwd: text, ..about(&events) };
        let bytes = jsonl(&events, about.clone());
        let (back, cut) = read(&bytes).unwrap();
        prop_assert_eq!((&back, cut), (&events, false));
        prop_assert_eq!(jsonl(&back, about), bytes);
    }

    #[test]
    fn no_text_is_markup_of_a_page(text in hostile_text()) {
        let events = with_text(&everything(), &text);
        let about = About { title: text.clone(), cwd: text, ..about(&events) };
        let page = html(&events, &about);
        tags(&page).into_iter().for_each(check_tag);
        prop_assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
        prop_assert!(!page.contains(STEERS));
    }

    #[test]
    fn no_text_is_structure_of_a_document(text in hostile_text()) {
        let events = with_text(&everything(), &text);
        let about = About { title: text.clone(), cwd: text, ..about(&events) };
        let document = markdown(&events, &about);
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        for event in Parser::new_ext(&document, options) {
            if let pulldown_cmark::Event::Html(html) | pulldown_cmark::Event::InlineHtml(html) = event {
                let own = ["<details>", "</details>", "<sub>", "</sub>"].iter().any(|own| html.starts_with(own));
                let tags = tags(&html);
                let known = |tag: &&str| {
                    ["details", "summary", "code", "sub"].contains(&tag.trim_start_matches('/'))
                };
                prop_assert!(own && tags.iter().all(known), "{} in\n{}", html, document);
            }
        }
        prop_assert!(!document.contains(STEERS));
    }
}
