//! What is told of rules without a call: what was allowed for the session, how many allow something, and whether edits
//! are among it.

use neco_proto::{ApprovalMode, Mode};
use neco_safety::policy::Source;
use neco_safety::{Policy, Who};

use crate::support::{Call, policy, user, who};

fn grant(policy: &mut Policy, call: &Call) {
    let grant = policy.offer(&call.action(), &who()).unwrap();
    policy.grant(&grant);
}

#[test]
fn what_was_allowed_for_the_session_is_told_in_the_words_of_the_question_oldest_first() {
    let mut policy = user("");
    for call in [Call::write("a"), Call::bash("cargo test --lib"), Call::write("b")] {
        grant(&mut policy, &call);
    }
    let always = policy.offer(&Call::bash("make").action(), &who()).unwrap();
    policy.grant_for_good(&always);
    let told = ["edit and write ordinary files", "run `cargo test *`"];
    assert_eq!(policy.granted(), told, "what is kept for good is in a file");
}

#[test]
fn rules_that_allow_something_here_are_counted_and_edits_are_found_among_them() {
    let all = "[[rule]]\ntool = 'edit_file'\ndecision = 'allow'\n";
    let some = "[[rule]]\ntool = 'edit_file'\npath = 'src/**'\ndecision = 'allow'\n";
    let elsewhere = "[[rule]]\ntool = 'edit_file'\nworkspace = '/srv/other'\ndecision = 'allow'\n";
    let stricter = "[[rule]]\ntool = 'bash'\ndecision = 'deny'\n";
    for (source, text, expected) in [
        (Source::User, "", (0, false)),
        (Source::User, all, (1, true)),
        (Source::CommandLine, all, (1, true)),
        (Source::Project, all, (0, false)),
        (Source::User, some, (1, false)),
        (Source::User, elsewhere, (0, false)),
        (Source::User, stricter, (0, false)),
    ] {
        let policy = policy(&[(source, text)]);
        assert_eq!((policy.allowing(&who()), policy.edits_unasked(&who())), expected, "{source}: {text}");
    }
    let mut policy = user("");
    grant(&mut policy, &Call::write("a"));
    assert_eq!((policy.allowing(&who()), policy.edits_unasked(&who())), (1, true));
    assert!(!policy.edits_unasked(&Who { mode: Mode::Ask, ..who() }), "the mode forbids it");
    assert!(!policy.clone().reading_only().edits_unasked(&who()), "the sandbox is read-only");
    let accepts = Who { approval: ApprovalMode::AcceptEdits, ..who() };
    assert!(user("").edits_unasked(&accepts) && user("").allowing(&accepts) == 0, "the approval mode allows it");
}
