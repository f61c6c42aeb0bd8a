//! What holds for any rules and any call.

use neco_proto::{ApprovalMode, Mode, Risk};
use neco_safety::policy::{Rule, RuleReader, Source};
use neco_safety::{Confinement, Policy, Ruling, SideEffect, Who};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Call, place};

fn rule() -> impl Strategy<Value = String> {
    let tool = prop_oneof![Just("*"), Just("bash"), Just("write_file"), Just("read_file"), Just("mcp__a__*")];
    let decision = prop_oneof![Just("allow"), Just("ask"), Just("deny")];
    let condition = prop_oneof![
        Just(String::new()),
        Just("command = ['make', 'git log']\n".to_owned()),
        Just("command_regex = '^cargo'\n".to_owned()),
        Just("path = 'src/**'\n".to_owned()),
        Just("args = 'x'\n".to_owned()),
        Just("risk = ['high', 'critical']\n".to_owned()),
        Just("mode = ['plan', 'ask']\n".to_owned()),
        Just("approval = 'auto'\n".to_owned()),
        Just("person = true\n".to_owned()),
        Just("known_safe = true\n".to_owned()),
        Just("history = true\n".to_owned()),
    ];
    (tool, decision, condition, -9..9i32).prop_map(|(tool, decision, condition, priority)| {
        format!("[[rule]]\ntool = '{tool}'\ndecision = '{decision}'\npriority = {priority}\n{condition}")
    })
}

fn rules() -> impl Strategy<Value = String> {
    prop::collection::vec(rule(), 0..6).prop_map(|rules| rules.concat())
}

fn call() -> impl Strategy<Value = Call> {
    let risk =
        prop_oneof![Just(Risk::Safe), Just(Risk::Low), Just(Risk::Medium), Just(Risk::High), Just(Risk::Critical)];
    let command = prop_oneof![
        Just("make"),
        Just("git log | head"),
        Just("cargo build && make"),
        Just("rm -rf /"),
        Just("git reset --hard"),
        Just("echo $(x"),
    ];
    prop_oneof![
        command.prop_map(Call::bash),
        (risk.clone(), "[a-z./]{1,12}").prop_map(|(risk, path)| Call::write(&path).risky(risk)),
        "[a-z./]{1,12}".prop_map(|path| Call::read(&path)),
        risk.prop_map(|risk| Call::other("mcp__a__b", json!({ "x": 1 })).risky(risk)),
    ]
}

fn who() -> impl Strategy<Value = Who<'static>> {
    let mode = prop_oneof![Just(Mode::Agent), Just(Mode::Plan), Just(Mode::Ask)];
    let approval = prop_oneof![Just(ApprovalMode::Auto), Just(ApprovalMode::AskFirst), Just(ApprovalMode::Manual)];
    let confinement =
        prop_oneof![Just(Confinement::Boxed), Just(Confinement::ChosenNone), Just(Confinement::Unavailable)];
    (mode, approval, any::<bool>(), confinement, any::<bool>()).prop_map(
        |(mode, approval, person_present, confinement, network)| Who {
            mode,
            approval,
            person_present,
            role: Who::ROOT,
            confinement,
            network,
        },
    )
}

fn read(text: &str, source: Source) -> Vec<Rule> {
    let place = place();
    let read = RuleReader { place: &place }.file(text, "r", source);
    assert_eq!(read.problems, [], "{text}");
    read.rules
}

fn policy(sources: &[(Source, &str)]) -> Policy {
    Policy::new(place(), sources.iter().flat_map(|(source, text)| read(text, *source)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_same_question_has_the_same_answer(user in rules(), flags in rules(), call in call(), who in who()) {
        let one = policy(&[(Source::User, &user), (Source::CommandLine, &flags)]);
        let other = policy(&[(Source::CommandLine, &flags), (Source::User, &user)]);
        let verdict = one.judge(&call.action(), &who);
        prop_assert_eq!(&verdict, &one.judge(&call.action(), &who));
        prop_assert_eq!(verdict.ruling, other.judge(&call.action(), &who).ruling);
        prop_assert_eq!(&verdict, &one.explain(&call.action(), &who).verdict);
    }

    #[test]
    fn a_project_never_widens(user in rules(), project in rules(), call in call(), who in who()) {
        let alone = policy(&[(Source::User, &user)]).judge(&call.action(), &who).ruling;
        let with = policy(&[(Source::User, &user), (Source::Project, &project)]).judge(&call.action(), &who).ruling;
        prop_assert!(with >= alone, "{alone} became {with}");
    }

    #[test]
    fn a_deny_is_not_lost_by_what_ranks_lower(flags in rules(), user in rules(), call in call(), who in who()) {
        let alone = policy(&[(Source::CommandLine, &flags)]).judge(&call.action(), &who);
        let with = policy(&[(Source::CommandLine, &flags), (Source::User, &user)]).judge(&call.action(), &who);
        if alone.rule.source == Source::CommandLine && alone.ruling == Ruling::Deny {
            prop_assert_eq!(with.ruling, Ruling::Deny);
        }
    }

    #[test]
    fn the_winner_has_the_highest_priority_of_its_source(user in rules(), call in call(), who in who()) {
        let rules = read(&user, Source::User);
        let verdict = Policy::new(place(), rules.clone()).judge(&call.action(), &who);
        let Some(winner) = rules.iter().find(|rule| rule.place == verdict.rule.place && verdict.rule.source == Source::User)
        else { return Ok(()) };
        for rival in rules.iter().filter(|rule| rule.priority > winner.priority) {
            let alone = Policy::new(place(), vec![rival.clone()]).judge(&call.action(), &who);
            prop_assert_ne!(alone.rule.source, Source::User, "{} was passed over", rival.title());
        }
    }

    #[test]
    fn what_is_never_done_and_what_a_mode_forbids_stays_closed(user in rules(), session in rules(), call in call(), who in who()) {
        let policy = policy(&[(Source::User, &user), (Source::Session, &session)]);
        let ruling = policy.judge(&call.action(), &who).ruling;
        if call.command.as_deref() == Some("rm -rf /") {
            prop_assert_eq!(ruling, Ruling::Deny);
        }
        let names_the_mode = user.contains("mode =");
        if who.mode != Mode::Agent && call.touch == SideEffect::Writes && !names_the_mode {
            prop_assert_eq!(ruling, Ruling::Deny);
        }
    }

    #[test]
    fn what_is_offered_helps(user in rules(), project in rules(), call in call(), who in who()) {
        let mut policy = policy(&[(Source::User, &user), (Source::Project, &project)]);
        if let Some(grant) = policy.offer(&call.action(), &who) {
            policy.grant(&grant);
            prop_assert_eq!(policy.judge(&call.action(), &who).ruling, Ruling::Allow);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}", flag in ".{0,60}") {
        let place = place();
        let reader = RuleReader { place: &place };
        drop(reader.file(&text, "x", Source::User));
        drop(reader.claude_settings(&text, "x", Source::User, "/".as_ref()));
        drop(reader.flag(Ruling::Allow, &flag));
        drop(reader.flag(Ruling::Allow, &format!("{{{flag}}}")));
    }

    #[test]
    fn judging_never_panics(command in ".{0,80}", user in rules(), who in who()) {
        let policy = policy(&[(Source::User, &user)]);
        let call = Call::bash(&command);
        let _ = policy.explain(&call.action(), &who);
        let _ = policy.offer(&call.action(), &who);
    }
}
