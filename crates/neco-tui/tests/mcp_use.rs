//! What MCP servers bring to the field: resources behind an `@`, prompts behind a slash.

mod support;

use crossterm::event::KeyCode;
use neco_proto::app::mcp_use::{NamedResource, ResourceList};
use neco_proto::app::{AppError, Trouble};
use neco_proto::{Command, Message};
use neco_tui::update::{Effect, News};
use neco_view::slash::Custom;
use support::Scene;

fn resources() -> ResourceList {
    let resource = |uri: &str, help: &str, template: bool| NamedResource {
        server: "docs".into(),
        uri: uri.into(),
        help: help.into(),
        template,
    };
    let resources = vec![
        resource("doc://start", "Where to begin.", false),
        resource("doc://sky.png", "The sky.", false),
        resource("doc://page?n={number}", "A page.", true),
    ];
    ResourceList { servers: vec!["docs".into()], resources }
}

/// A window in which the files and resources are known.
fn scene() -> Scene {
    let mut scene = Scene::new((100, 30));
    assert_eq!(scene.types("@"), [Effect::Files]);
    scene.news(News::Files(vec!["src/start.rs".into(), "README.md".into()]));
    scene.news(News::Resources(resources()));
    scene
}

fn greet() -> Custom {
    let (name, argument, help) = ("mcp__docs__greet".into(), "who".into(), "Greets. (MCP docs)".into());
    Custom { name, argument, help, is_skill: false, also: None }
}

#[test]
fn resources_are_offered_below_files_and_templates_behind_their_server() {
    let mut scene = scene();
    let picture = scene.picture();
    let place = |words: &str| picture.find(words).unwrap_or_else(|| panic!("{words} is not in {picture}"));
    assert!(place("@README.md") < place("@docs:doc://start"), "{picture}");
    assert!(picture.contains("Where to begin. (MCP docs)") && !picture.contains("doc://page"), "{picture}");
    scene.types("star");
    let picture = scene.picture();
    assert!(picture.contains("@src/start.rs") && picture.contains("@docs:doc://start"), "{picture}");
    assert!(!picture.contains("sky.png"), "{picture}");
    scene.control('c');
    scene.types("see @docs:");
    let picture = scene.picture();
    assert!(picture.contains("@docs:doc://page?n=") && picture.contains("{number}"), "{picture}");
    scene.types("page");
    scene.key(KeyCode::Tab);
    assert_eq!(scene.app.prompt.text.as_str(), "see @docs:doc://page?n=");
    scene.types("7");
    let message = Command::UserMessage { content: "see @docs:doc://page?n=7".into(), attachments: Vec::new() };
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Send(message)));
}

#[test]
fn a_picture_of_a_server_is_no_file() {
    let mut scene = scene();
    scene.types("docs:doc://sky.png is blue");
    let message = Command::UserMessage { content: "@docs:doc://sky.png is blue".into(), attachments: Vec::new() };
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Send(message)));
}

#[test]
fn a_prompt_is_a_command_of_two_names() {
    let mut scene = Scene::new((100, 30));
    scene.app.offers.custom = vec![greet()];
    scene.types("/greet");
    let picture = scene.picture();
    assert!(picture.contains("/mcp__docs__greet") && picture.contains("Greets. (MCP docs)"), "{picture}");
    scene.control('c');
    scene.types("/docs:");
    assert!(scene.picture().contains("/mcp__docs__greet"), "{}", scene.picture());
    scene.control('c');
    scene.types("/docs:greet");
    let custom = Effect::Custom("mcp__docs__greet".into(), String::new());
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&custom), "a name that is written out is run");
    scene.control('c');
    for line in ["/mcp__docs__greet Ann", "/docs:greet Ann"] {
        scene.types(line);
        let custom = Effect::Custom("mcp__docs__greet".into(), "Ann".into());
        assert_eq!(scene.key(KeyCode::Enter).last(), Some(&custom), "{line}");
    }
    let needs = AppError::new(Trouble::Invalid, "/mcp__docs__greet needs who: /mcp__docs__greet who");
    scene.news(News::Custom(Err(needs)));
    assert!(scene.picture().contains("needs who"), "{}", scene.picture());
    assert_eq!(scene.app.prompt.text.as_str(), "/mcp__docs__greet Ann", "it is there to be corrected");
}

#[test]
fn a_server_is_not_waited_for_once_it_has_answered() {
    let mut scene = Scene::new((100, 30));
    scene.app.offers.custom = vec![greet()];
    scene.types("/docs:greet Ann");
    scene.key(KeyCode::Enter);
    assert!(scene.picture().contains("Waiting for the MCP server"), "{}", scene.picture());
    scene.news(News::Custom(Err(AppError::new(Trouble::Invalid, "it needs who"))));
    assert!(!scene.picture().contains("Waiting for the MCP server"), "{}", scene.picture());
}

#[test]
fn what_a_prompt_says_is_sent_and_shown_as_what_the_person_says() {
    let mut scene = Scene::new((100, 30));
    scene.app.offers.custom = vec![greet()];
    scene.types("/docs:greet Ann");
    scene.key(KeyCode::Enter);
    let text = format!("/mcp__docs__greet Ann{}Say hello to Ann.", Message::PROMPT);
    let sent = scene.news(News::Custom(Ok(text.clone().into())));
    let message = Command::UserMessage { content: text.clone(), attachments: Vec::new() };
    assert_eq!(sent.last(), Some(&Effect::Send(message)));
    scene.said(&text);
    let shown = format!("{}{}", scene.out.join("\n"), scene.picture());
    assert!(shown.contains("Say hello to Ann."), "{shown}");
}
