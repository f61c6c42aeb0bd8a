//! Cases of files as people write them.

use neco_proto::event::MemoryScope;
use proptest::prelude::*;

use super::entry::{Category, Entry, one_line};
use super::frontmatter::{Around, read, write};

const AROUND: Around<'static> = Around { stem: "my-note", scope: MemoryScope::Global, modified_ms: 5000 };

fn lines(troubles: &[String]) -> Vec<String> {
    troubles.to_vec()
}

#[test]
fn a_whole_file_is_read_and_written_the_same() {
    let text = "---\nid: use-tabs-a1\ntitle: Use tabs\nsummary: \"Tabs: never spaces\"\ncategory: solution\n\
                topic: style\ntags: [style, \"a, b\"]\ndirectory: /home/me/x\nsource: person\n\
                created: 2026-01-31T12:00:00Z\nreviewed: yes\n---\nThe content.\n\nMore.\n";
    let (entry, troubles) = read(text, AROUND);
    assert_eq!(lines(&troubles), Vec::<String>::new());
    assert_eq!(entry.category, Category::Solution { topic: "style".to_owned() });
    assert_eq!(entry.tags, ["style", "a, b"]);
    assert_eq!(entry.summary, "Tabs: never spaces");
    assert_eq!(entry.others, ["reviewed: yes"]);
    assert_eq!(write(&entry), text);
}

#[test]
fn what_is_missing_is_filled_in() {
    let (entry, troubles) = read("# Build\n\nRun `make all` first.\nThen wait.\n", AROUND);
    assert!(troubles.is_empty());
    assert_eq!((entry.id.as_str(), entry.title.as_str()), ("my-note", "Build"));
    assert_eq!(entry.summary, "Run `make all` first. Then wait.");
    assert_eq!((entry.category, entry.created_ms), (Category::Preference, 5000));
    let (entry, _) = read("", Around { scope: MemoryScope::Directory, ..AROUND });
    assert_eq!((entry.title.as_str(), entry.category), ("my note", Category::Directory));
    let (entry, _) = read("---\ntitle: T\n---\n", AROUND);
    assert_eq!((entry.title.as_str(), entry.summary.as_str(), entry.content.as_str()), ("T", "", ""));
}

#[test]
fn what_is_broken_is_named_with_its_line_and_the_rest_counts() {
    for (text, expected) in [
        ("---\ntitle: T\nwhat is this\n---\nx", vec!["3: not understood: \"what is this\""]),
        (
            "---\ntitle: T\ncategory: diary\n---\nx",
            vec![
                "3: there is no category \"diary\"; there are: preference, directory, explore_result, solution, strategy",
            ],
        ),
        ("---\ntitle: T\ntitle: U\n---\nx", vec!["3: `title` is there twice; the first one counts"]),
        ("---\ntitle: T\ncreated: yesterday\n---\nx", vec!["3: \"yesterday\" is no time such as 2026-01-31T12:00:00Z"]),
        (
            "---\ntitle: T\nid: a b\n---\nx",
            vec!["3: an id has no spaces and at most 120 characters; the file's name is used"],
        ),
        ("---\ntitle: T\ntags: [a, b\n---\nx", vec!["3: the list of `tags` has no end: `]` is missing"]),
    ] {
        let (entry, troubles) = read(text, AROUND);
        assert_eq!(lines(&troubles), expected, "{text}");
        assert_eq!((entry.title.as_str(), entry.content.as_str()), ("T", "x"), "{text}");
    }
    let (entry, troubles) = read("---\ntitle: T\nno end", AROUND);
    assert_eq!(lines(&troubles), ["1: the head that begins here has no end: a line `---` is missing"]);
    assert_eq!((entry.title.as_str(), entry.content.as_str()), ("title: T", "title: T\nno end"));
}

#[test]
fn people_write_lists_and_lines_in_many_ways() {
    for (head, tags) in [
        ("tags: a, b", vec!["a", "b"]),
        ("tags: [a, 'b c', \"d\"]", vec!["a", "b c", "d"]),
        ("tags:\n  - a\n  - \"b\"", vec!["a", "b"]),
        ("tags:\n- a\n- a", vec!["a"]),
        ("tags: []", vec![]),
        ("tags:", vec![]),
    ] {
        let (entry, troubles) = read(&format!("---\n{head}\n---\nx"), AROUND);
        assert_eq!((entry.tags, lines(&troubles)), (tags.iter().map(ToString::to_string).collect(), vec![]), "{head}");
    }
    for head in ["summary: one two", "summary: >\n  one\n  two", "summary:\n  one\n  two", "summary: 'one two'"] {
        let (entry, _) = read(&format!("\u{feff}---\r\n{}\r\n---\r\nx\r\n", head.replace('\n', "\r\n")), AROUND);
        assert_eq!((entry.summary.as_str(), entry.content.as_str()), ("one two", "x"), "{head}");
    }
    assert_eq!(read("---\ncreated: 2026-01-31\n---\n", AROUND).0.created_ms, 1_769_817_600_000);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_an_entry(text in "\\PC*|(---\n)?([a-z]{1,8}: ?[\\[\\]\"'a-z,#|> -]{0,12}\n| ?- x\n|---\n|.{0,8}\n){0,12}") {
        let (entry, _) = read(&text, AROUND);
        prop_assert!(!entry.id.is_empty() && !entry.title.is_empty());
    }

    #[test]
    fn what_is_written_reads_back(
        title in "\\PC{1,40}", summary in "\\PC{0,40}", tags in prop::collection::vec("[a-z,\\[\\]\"' #:-]{1,8}", 0..4),
        topic in "[a-z :#'\"]{0,10}", content in "[a-z\n #:-]{0,60}", source in "[a-z :'\"]{1,12}",
    ) {
        let mut tags: Vec<String> = tags.iter().map(|tag| one_line(tag, 120)).filter(|tag| !tag.is_empty()).collect();
        tags.sort();
        tags.dedup();
        let title = one_line(&title, 120);
        let entry = Entry {
            id: "an-id".to_owned(),
            title: if title.is_empty() { "t".to_owned() } else { title },
            summary: one_line(&summary, 400),
            category: Category::Solution { topic: one_line(&topic, 120) },
            tags,
            source: Some(one_line(&source, 120)).filter(|text| !text.is_empty()).unwrap_or_else(|| "p".to_owned()),
            created_ms: 1000,
            reach: String::new(),
            others: Vec::new(),
            content: content.trim_matches('\n').to_owned(),
        };
        let (mut back, troubles) = read(&write(&entry), AROUND);
        if entry.summary.is_empty() {
            back.summary.clear();
        }
        prop_assert_eq!(troubles, Vec::<String>::new());
        prop_assert_eq!(back, entry);
    }
}
