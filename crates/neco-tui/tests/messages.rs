//! What is written and sent: messages, pictures, pastes, commands, and what is offered meanwhile.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::host::{CommandOutcome, ImageSource, Wanted};
use neco_tui::input::Candidate;
use neco_tui::update::{Effect, News, Unsent};
use neco_view::slash::{Custom, Outside};
use serde_json::json;
use support::{Scene, in_all_sizes};

#[test]
fn what_is_offered() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.app.offers.custom = vec![Custom {
            name: "ship".into(),
            argument: "WHAT".into(),
            help: "release it".into(),
            is_skill: false,
            also: None,
        }];
        scene.types("/mo");
        let commands = scene.picture();
        assert!(commands.contains("/model") && commands.contains("/mode"));
        scene.control('c');
        assert_eq!(scene.types("@"), [Effect::Files]);
        scene.news(News::Files(vec![
            "src/main.rs".into(),
            "src/parser/mod.rs".into(),
            "README.md".into(),
            "docs/".into(),
        ]));
        scene.types("mod");
        scene.key(KeyCode::Tab);
        assert_eq!(scene.app.prompt.text.as_str(), "@src/parser/mod.rs ");
        scene.control('c');
        scene.types("/mode ");
        scene.key(KeyCode::Down);
        assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Send(Command::SetMode { mode: Mode::Plan })));
        scene.types("/sh");
        scene.key(KeyCode::Tab);
        scene.types("it");
        assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Custom("ship".into(), "it".into())));
        scene.types("/");
    }));
}

#[test]
fn what_is_written_out_comes_first_and_what_needs_nothing_more_runs() {
    let mut scene = Scene::new((80, 24));
    scene.types("/mode");
    scene.key(KeyCode::Enter);
    assert!(scene.picture().contains("Mode of this session"), "not /model");
    scene.key(KeyCode::Esc);
    assert!(!scene.picture().contains("▎  /mode"), "a list that is closed leaves nothing: {}", scene.picture());
    scene.types("/cont");
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Ask(Query::Context)));
    scene.types("/res");
    assert_eq!(scene.key(KeyCode::Enter), [Effect::Arguments("/resume ".into())], "an id may follow");
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Sessions));
}

#[test]
fn enter_runs_a_command_with_the_word_that_is_marked() {
    let models = |scene: &mut Scene, written: &str| {
        scene.types(written);
        let known = ["think", "think-hard", "local/stand-in"].map(|name| Candidate::new(name, ""));
        scene.news(News::Arguments("/model ".into(), known.to_vec()));
    };
    let sets = |model: &str| Some(Effect::Send(Command::SetModel { model: model.into() }));
    let mut scene = Scene::new((80, 24));
    models(&mut scene, "/model stand");
    assert!(scene.picture().contains("❯ local/stand-in"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Enter).pop(), sets("local/stand-in"));
    assert!(scene.picture().contains("▎  /model local/stand-in"), "{}", scene.picture());
    // What is written out is meant as it is, whatever else begins so.
    models(&mut scene, "/model think");
    assert_eq!(scene.key(KeyCode::Enter).pop(), sets("think"));
    models(&mut scene, "/model think");
    scene.key(KeyCode::Down);
    assert_eq!(scene.key(KeyCode::Enter).pop(), sets("think-hard"));
    // An Enter before anything is written of it only takes the first into the field.
    models(&mut scene, "/model ");
    assert!(!scene.key(KeyCode::Enter).contains(&Effect::Send(Command::SetModel { model: "think".into() })));
    assert_eq!(scene.app.prompt.text.as_str(), "/model think ");
}

#[test]
fn an_other_name_of_a_command_is_shown_as_it_was_written() {
    let mut scene = Scene::new((80, 24));
    scene.types("/clear");
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Open(Wanted::New)));
    assert!(scene.picture().contains("▎  /clear"), "{}", scene.picture());
}

#[test]
fn a_command_that_is_refused_stays_to_be_corrected() {
    let mut scene = Scene::new((80, 24));
    scene.types("/model a/b c");
    scene.key(KeyCode::Enter);
    assert_eq!(scene.app.prompt.text.as_str(), "/model a/b c");
    assert!(scene.picture().contains("has no blanks"), "{}", scene.picture());
    scene.control('c');
    let refused = || News::NotRun(ClientError::Refused("there is no provider".into()), "/model a/b".into());
    scene.news(refused());
    assert_eq!(scene.app.prompt.text.as_str(), "/model a/b");
    scene.types("x");
    scene.news(refused());
    assert_eq!(scene.app.prompt.text.as_str(), "/model a/bx", "what is written by then stays");
}

#[test]
fn another_model_and_being_asked_nothing_are_told() {
    let mut scene = Scene::new((120, 24));
    scene.types("/model ");
    scene.news(News::Arguments("/model ".into(), vec![Candidate::new("local/stand-in", "")]));
    let to = |model: &str| EventBody::ModeChange(ModeChange { model: Some(model.into()), ..ModeChange::default() });
    scene.happen(to("local/stand-in"));
    scene.happen(to("local/other"));
    scene.happen(to("elsewhere/big"));
    let auto = ModeChange { approval: Some(ApprovalMode::Auto), ..ModeChange::default() };
    scene.happen(EventBody::ModeChange(auto));
    let picture = scene.picture();
    for words in [
        "Model local/stand-in from now on.",
        "Model local/other from now on; /model does not list it",
        "Model elsewhere/big from now on.",
        "only what is high risk; /approval ask_first asks again",
    ] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
}

#[test]
fn what_a_command_says_does_not_break_a_program() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.streams(&["Here it is:\n\n```rust\nfn one() {}\n", "fn two() {}\n"]);
    scene.picture();
    scene.types("/cost");
    scene.key(KeyCode::Enter);
    assert!(!scene.picture().contains("Used so far"), "{}", scene.picture());
    scene.streams(&["fn three() {}\n```\n\nThat is all of it.\n\n"]);
    let picture = scene.picture();
    let at = |words: &str| picture.find(words).unwrap_or_else(|| panic!("{words}: {picture}"));
    assert!([at("fn one"), at("fn two"), at("fn three"), at("Used so far")].is_sorted(), "{picture}");
}

#[test]
fn a_picture_that_a_message_names_goes_with_it() {
    let mut scene = Scene::new((80, 24));
    scene.types("what is in @a.png and /tmp/none.png?");
    let asked = scene.key(KeyCode::Enter);
    let file = |name: &str| Effect::Image(ImageSource::File(name.into()));
    let remembered = Effect::Remember("what is in @a.png and /tmp/none.png?".into());
    assert_eq!(asked, [remembered, file("a.png"), file("/tmp/none.png")]);
    // It has left: what is written meanwhile is the next message, and a question that comes is not answered with it.
    scene.types("next");
    scene.questions(json!({"about": "loop", "text": "again and again"}));
    let picture = Attachment::Image { media_type: "image/png".into(), data: "AA==".into() };
    assert_eq!(scene.news(News::Image(Ok(Some(picture.clone())), Some("a.png".into()))), []);
    let sent = scene.news(News::Image(Err("no such file".into()), Some("/tmp/none.png".into())));
    let content = "what is in @a.png [image 1] and /tmp/none.png?".to_owned();
    let message = Effect::Send(Command::UserMessage { content, attachments: vec![picture] });
    assert_eq!(sent, [message]);
    assert_eq!(scene.app.prompt.text.as_str(), "next");
    assert!(scene.app.naming.is_empty());
}

#[test]
fn a_message_whose_picture_can_t_be_looked_at_is_sent_all_the_same() {
    let mut scene = Scene::new((80, 24));
    scene.types("see @a.png");
    scene.key(KeyCode::Enter);
    scene.news(News::Broken("the picture"));
    let message = Command::UserMessage { content: "see @a.png".into(), attachments: Vec::new() };
    assert!(scene.app.take_wanted().contains(&Effect::Send(message)));
    scene.types("see @a.png");
    scene.key(KeyCode::Enter);
    scene.app.left();
    assert_eq!(scene.app.prompt.text.as_str(), "see @a.png", "another session: it comes back");
}

#[test]
fn a_sign_alone_is_no_message() {
    for (sign, word) in [("!", "a shell command"), ("#", "what to remember")] {
        let mut scene = Scene::new((80, 24));
        scene.types(sign);
        let effects = scene.key(KeyCode::Enter);
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Send(_))), "{effects:?}");
        assert!(scene.picture().contains(word));
    }
}

#[test]
fn pastes_and_pictures_are_chips() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.types("look at ");
        scene.app.paste(&"a line\n".repeat(30));
        assert_eq!(scene.app.paste("/tmp/shot.png"), [Effect::Image(ImageSource::File("/tmp/shot.png".into()))]);
        let picture = Attachment::Image { media_type: "image/png".into(), data: "AA==".into() };
        // What is written meanwhile stands behind it.
        scene.types(" and say");
        scene.news(News::Image(Ok(Some(picture)), Some("/tmp/shot.png".into())));
        scene.types(" what it is, in more words than fit into one row of a small terminal");
    }));
}

#[test]
fn a_dropped_file_that_is_no_picture_stays_as_it_was_dropped() {
    let mut scene = Scene::new((80, 24));
    assert_eq!(scene.app.paste("'/tmp/a b.png' "), [Effect::Image(ImageSource::File("/tmp/a b.png".into()))]);
    scene.types("is wrong");
    scene.news(News::Image(Ok(None), Some("/tmp/a b.png".into())));
    assert_eq!(scene.app.prompt.text.as_str(), "'/tmp/a b.png' is wrong");
    assert!(scene.app.dropped.is_empty());
}

#[test]
fn what_was_refused_comes_back_with_its_pictures_before_what_was_written_since() {
    let mut scene = Scene::new((80, 24));
    let picture = Attachment::Image { media_type: "image/png".into(), data: "AA==".into() };
    scene.types("next");
    let unsent = Unsent { text: "see [image 1]".into(), pictures: vec![picture.clone()] };
    scene.news(News::Refused(ClientError::Gone, Some(unsent)));
    assert_eq!(scene.app.prompt.text.as_str(), "see [image 1]\nnext");
    let message = Command::UserMessage { content: "see [image 1]\nnext".into(), attachments: vec![picture] };
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Send(message)));
}

#[test]
fn the_files_are_asked_for_once() {
    let mut scene = Scene::new((80, 24));
    assert_eq!(scene.types("@src/ma"), [Effect::Files]);
    scene.news(News::Files(vec!["src/main.rs".into(), "README.md".into()]));
    assert!(scene.picture().contains("@src/main.rs"));
}

#[test]
fn a_search_that_is_left_gives_the_draft_back() {
    let mut scene = Scene::new((80, 24));
    scene.types("three lines");
    scene.control('r');
    assert!(!scene.picture().contains("fix the parser"), "nothing is looked for yet");
    scene.types("tests");
    assert!(scene.picture().contains("run the tests"));
    scene.key(KeyCode::Esc);
    assert_eq!(scene.app.prompt.text.as_str(), "three lines");
}

#[test]
fn a_paste_that_looks_like_a_command_comes_back_as_a_paste() {
    let mut scene = Scene::new((80, 24));
    let readme = format!("![build](https://x)\n{}", "touch /tmp/x\n".repeat(30));
    scene.app.paste(&readme);
    let sent = Effect::Send(Command::UserMessage { content: readme, attachments: Vec::new() });
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&sent));
    scene.key(KeyCode::Up);
    assert_eq!(scene.app.prompt.text.as_str(), "[paste 1: 31 lines]");
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&sent));
}

#[test]
fn what_is_written_is_sent_as_what_it_is() {
    let mut scene = Scene::new((80, 24));
    let remembered = |text: &str| Effect::Remember(text.to_owned());
    let send = |scene: &mut Scene, text: &str| {
        scene.types(text);
        scene.key(KeyCode::Enter)
    };
    let message =
        |content: &str| Effect::Send(Command::UserMessage { content: content.into(), attachments: Vec::new() });
    assert_eq!(send(&mut scene, "hello"), [remembered("hello"), message("hello")]);
    assert_eq!(
        send(&mut scene, "/etc/hosts is wrong"),
        [remembered("/etc/hosts is wrong"), message("/etc/hosts is wrong")]
    );
    assert_eq!(send(&mut scene, "# always test"), [remembered("# always test"), Effect::Keep("always test".into())]);
    assert_eq!(send(&mut scene, "!ls -l"), [remembered("!ls -l"), Effect::Shell("ls -l".into())]);
    scene.news(News::Printed("a\nb\n".into()));
    scene.news(News::ShellEnded(Ok(Some(1))));
    let told = "why?\n\nI ran this myself:\n\n```\n$ ls -l\na\nb\n(exit code 1)\n```";
    assert_eq!(send(&mut scene, "why?"), [remembered("why?"), message(told)]);
    scene.works();
    assert_eq!(
        send(&mut scene, "faster"),
        [remembered("faster"), Effect::Send(Command::Steer { text: "faster".into() })]
    );
    scene.types("then commit");
    assert_eq!(scene.key(KeyCode::Tab), [remembered("then commit"), message("then commit")]);
    scene.types("two\\");
    scene.key(KeyCode::Enter);
    scene.types("lines");
    assert_eq!(scene.app.prompt.text.as_str(), "two\nlines");
    scene.app.prompt.text.take();
    assert_eq!(send(&mut scene, "/new"), [remembered("/new")], "it is at work");
    let mut scene = Scene::new((80, 24));
    assert_eq!(send(&mut scene, "/new"), [remembered("/new"), Effect::Open(Wanted::New)]);
}

#[test]
fn a_session_that_begins_with_a_command_is_called_what_was_written() {
    let says = || News::Outside(Ok(CommandOutcome::Prompt("Review this: src/a.rs.".into())));
    let content = "Review this: src/a.rs.".to_owned();
    let message = Effect::Send(Command::UserMessage { content, attachments: Vec::new() });
    let asks = |scene: &mut Scene| {
        scene.types("/review src/a.rs");
        let sent = scene.key(KeyCode::Enter);
        assert_eq!(sent.last(), Some(&Effect::Outside(Outside::Review, "src/a.rs".into())));
    };
    let mut scene = Scene::new((80, 24));
    asks(&mut scene);
    let title = "/review src/a.rs".to_owned();
    let named = Effect::Send(Command::Rename { title: title.clone() });
    assert_eq!(scene.news(says()), [named, message.clone()]);
    scene.happen(EventBody::Title(SessionTitle { title, by: TitleSource::Person }));
    assert!(!scene.picture().contains("Renamed"), "nobody renamed it: {}", scene.picture());
    // One that has begun otherwise keeps its title.
    let mut scene = Scene::new((80, 24));
    scene.said("hello");
    asks(&mut scene);
    assert_eq!(scene.news(says()), [message]);
}

#[test]
fn what_was_pasted_is_a_message_whatever_it_begins_with() {
    let mut scene = Scene::new((80, 24));
    let paste = format!("![build](https://example.com)\n{}", "a line\n".repeat(30));
    scene.app.paste(&paste);
    let sent = scene.key(KeyCode::Enter);
    let content = paste.clone();
    assert_eq!(sent.last(), Some(&Effect::Send(Command::UserMessage { content, attachments: Vec::new() })));
}

#[test]
fn what_waits_is_taken_back() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let queue = |scene: &mut Scene, text: &str| {
        let message = Message::user(text);
        scene.happen(EventBody::MessageQueued(MessageQueued { when: Admission::AfterWork, message: message.clone() }));
        message
    };
    let back = |message: &Message| {
        EventBody::MessageQueued(MessageQueued { when: Admission::Withdrawn, message: message.clone() })
    };
    let withdraw = |ids: &[MessageId]| Effect::Send(Command::Withdraw { message_ids: ids.to_vec() });
    let (one, two) = (queue(&mut scene, "first"), queue(&mut scene, "second"));
    assert!(scene.picture().contains("↑ take back"));
    assert_eq!(scene.key(KeyCode::Up), [withdraw(&[two.id])]);
    assert_eq!(scene.key(KeyCode::Up), [], "it is on its way");
    scene.happen(back(&two));
    assert_eq!(scene.app.prompt.text.as_str(), "second");
    let three = queue(&mut scene, "third");
    assert_eq!(scene.key(KeyCode::Esc), [Effect::Send(Command::Cancel), withdraw(&[one.id, three.id])]);
    scene.happen(back(&one));
    scene.happen(back(&three));
    assert_eq!(scene.app.prompt.text.as_str(), "first\nthird\nsecond", "before what was written since");
    assert!(scene.app.transcript.waiting().next().is_none());
}

#[test]
fn ctrl_c_leaves_as_it_says_also_with_messages_that_came_back() {
    let message = Message::user("and the docs");
    let queued = |when| EventBody::MessageQueued(MessageQueued { when, message: message.clone() });
    let stopped = || {
        let mut scene = Scene::new((80, 24));
        scene.works();
        scene.happen(queued(Admission::AfterWork));
        let withdraw = Effect::Send(Command::Withdraw { message_ids: vec![message.id] });
        assert_eq!(scene.control('c'), [Effect::Send(Command::Cancel), withdraw]);
        scene.happen(queued(Admission::Withdrawn));
        assert!(scene.picture().contains("Ctrl-C again leaves"), "{}", scene.picture());
        scene
    };
    let sent = stopped().control('c');
    assert_eq!(sent.first(), Some(&Effect::Remember("and the docs".into())), "it is kept for a later window");
    assert_eq!(sent.last(), Some(&Effect::Quit));
    // What was written since is put away first.
    let mut scene = stopped();
    scene.types("!");
    assert_eq!(scene.control('c'), [Effect::Remember("and the docs!".into())]);
}

#[test]
fn a_command_of_the_person_runs() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.types("!make");
        scene.picture();
        scene.key(KeyCode::Enter);
        scene.news(News::Printed("cc -c a.c\ncc -c b.c\n".into()));
        assert_eq!(scene.key(KeyCode::Esc), [Effect::StopShell]);
    }));
}

#[test]
fn earlier_messages_are_searched() {
    insta::assert_snapshot!(in_all_sizes(|scene| {
        scene.control('r');
        scene.types("tes");
    }));
}
