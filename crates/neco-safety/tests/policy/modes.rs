//! Modes that change nothing, whatever was allowed.

use neco_proto::{ApprovalMode, Mode, Risk, ToolOrigin};
use neco_safety::policy::Source;
use neco_safety::{Ruling, SideEffect, Who};
use serde_json::json;

use crate::support::{Call, judge, policy, user, who};

fn mode(mode: Mode) -> Who<'static> {
    Who { mode, approval: ApprovalMode::Auto, ..who() }
}

#[test]
fn plan_and_ask_mode_refuse_what_writes_or_runs_whatever_was_allowed() {
    let everything = "[[rule]]\ntool = '*'\ndecision = 'allow'\npriority = 999\n";
    let mut policy = policy(&[(Source::User, everything), (Source::CommandLine, everything)]);
    let make = Call::bash("make");
    if let Some(grant) = policy.offer(&make.action(), &who()) {
        policy.grant(&grant);
    }
    for who in [mode(Mode::Plan), mode(Mode::Ask)] {
        for call in [Call::write("a"), make.clone(), Call::bash("touch x"), Call::other("mcp__x__y", json!({}))] {
            let verdict = judge(&policy, &call, &who);
            assert_eq!(verdict.ruling, Ruling::Deny, "{} {}", who.mode, verdict.reason);
            assert_eq!(verdict.rule.source, Source::BuiltIn);
        }
        assert_eq!(judge(&policy, &Call::read("a"), &who).ruling, Ruling::Allow);
    }
}

#[test]
fn plan_mode_runs_what_is_known_to_only_look() {
    let policy = user("");
    for (command, expected) in [
        ("git log | head", Ruling::Allow),
        ("ls -la src", Ruling::Allow),
        ("git log > out.txt", Ruling::Deny),
        ("cargo test", Ruling::Deny),
        ("git log; touch x", Ruling::Deny),
    ] {
        assert_eq!(judge(&policy, &Call::bash(command), &mode(Mode::Plan)).ruling, expected, "{command}");
        assert_eq!(judge(&policy, &Call::bash(command), &mode(Mode::Ask)).ruling, Ruling::Deny, "{command}");
    }
    let manual = Who { approval: ApprovalMode::Manual, ..mode(Mode::Plan) };
    assert_eq!(judge(&policy, &Call::bash("ls"), &manual).ruling, Ruling::Ask);
}

#[test]
fn a_secret_is_asked_about_in_plan_mode_and_refused_in_ask_mode() {
    let policy = user("");
    let secret = Call::read(".env").risky(Risk::Critical);
    assert_eq!(judge(&policy, &secret, &mode(Mode::Plan)).ruling, Ruling::Ask);
    assert_eq!(judge(&policy, &secret, &mode(Mode::Ask)).ruling, Ruling::Deny);
}

#[test]
fn a_rule_of_the_user_that_names_the_mode_opens_it() {
    let text = "[[rule]]\ntool = 'write_file'\npath = 'plans/*.md'\nmode = 'plan'\ndecision = 'allow'\n";
    let plans = Call::write("plans/one.md");
    assert_eq!(judge(&user(text), &plans, &mode(Mode::Plan)).ruling, Ruling::Allow);
    assert_eq!(judge(&user(text), &Call::write("src/a.rs"), &mode(Mode::Plan)).ruling, Ruling::Deny);
    assert_eq!(judge(&policy(&[(Source::Project, text)]), &plans, &mode(Mode::Plan)).ruling, Ruling::Deny);
}

#[test]
fn tools_that_are_always_refused_need_not_exist() {
    let policy = user(
        "[[rule]]\ntool = 'bash'\ndecision = 'deny'\n[[rule]]\ntool = 'grep'\npath = 'secret'\ndecision = 'deny'\n\
         [[rule]]\ntool = 'memory_store'\nmode = 'plan'\ndecision = 'deny'\n\
         [[rule]]\ntool = 'write_file'\ndecision = 'deny'\n\
         [[rule]]\ntool = 'write_file'\npath = 'docs/**'\ndecision = 'allow'\npriority = 5\n",
    );
    let refuses = |tool, who: &Who<'_>| policy.refuses(tool, ToolOrigin::BUILT_IN, SideEffect::Runs, who);
    assert!(refuses("bash", &who()));
    assert!(!refuses("grep", &who()), "some calls are fine");
    assert!(!refuses("write_file", &who()), "an exception is open");
    assert!(!refuses("read_file", &who()));
    assert!(!refuses("memory_store", &who()) && refuses("memory_store", &mode(Mode::Plan)));
    assert!(refuses("git", &who()) && refuses("edit_file", &who()), "they do the same as what is denied");
}

#[test]
fn where_the_sandbox_is_read_only_every_edit_is_asked_about() {
    use ApprovalMode::{AcceptEdits, AskFirst, Auto, Manual};
    let kept = "[[rule]]\ntool = ['edit_file', 'write_file']\ndecision = 'allow'\nkept = true\n";
    let mut before = user(kept);
    let session = policy(&[]).offer(&Call::write("a").action(), &who()).unwrap();
    before.grant(&session);
    assert_eq!(judge(&before, &Call::write("a"), &who()).ruling, Ruling::Allow);
    let narrow = before.reading_only();
    for approval in [Auto, AcceptEdits, AskFirst, Manual] {
        let who = Who { approval, ..who() };
        let verdict = judge(&narrow, &Call::write("a"), &who);
        assert_eq!(
            (verdict.ruling, verdict.reason.as_str()),
            (Ruling::Ask, "it changes a file, and the sandbox is read-only"),
            "{approval}"
        );
        assert!(narrow.offer(&Call::write("a").action(), &who).is_none(), "each is asked about by itself");
        let alone = judge(&narrow, &Call::write("a"), &Who { person_present: false, ..who });
        assert_eq!((alone.ruling, alone.unasked), (Ruling::Deny, true));
        assert!(alone.reason.contains("--allow 'write_file'") && !alone.reason.contains("--yes"), "{}", alone.reason);
    }
    let remembered = Call { touch: SideEffect::Writes, ..Call::other("memory_store", json!({})).risky(Risk::Low) };
    for call in [Call::read("a"), Call::bash("make"), remembered] {
        assert_eq!(judge(&narrow, &call, &mode(Mode::Agent)).ruling, Ruling::Allow, "{}", call.tool);
    }
    let named = policy(&[(Source::CommandLine, "[[rule]]\ntool = 'write_file'\ndecision = 'allow'\n")]).reading_only();
    assert_eq!(judge(&named, &Call::write("a"), &who()).ruling, Ruling::Allow, "a flag of this run means it");
    let forbidden = user("[[rule]]\ntool = 'write_file'\ndecision = 'deny'\n").reading_only();
    assert_eq!(judge(&forbidden, &Call::write("a"), &who()).ruling, Ruling::Deny);
}
