//! The risk matrix: what holds when nobody wrote a rule.

use neco_proto::{ApprovalMode, ErrorCode, Risk};
use neco_safety::policy::{Held, Source};
use neco_safety::world::Freedom;
use neco_safety::{Confinement, Policy, Ruling, Who};

use crate::support::{Call, allowing, flags_in, judge, place, who};

#[test]
fn the_risk_matrix_is_the_one_of_the_table() {
    use ApprovalMode::{AcceptEdits, AskFirst, Auto, Manual};
    use Ruling::{Allow, Ask};
    let policy = Policy::new(place(), Vec::new());
    let table = [
        (Risk::Safe, Allow, Allow, Allow),
        (Risk::Low, Allow, Allow, Ask),
        (Risk::Medium, Allow, Ask, Ask),
        (Risk::High, Allow, Ask, Ask),
        (Risk::Critical, Ask, Ask, Ask),
    ];
    for (risk, auto, ask_first, manual) in table {
        // Edits are accepted, and everything else is as it is when it is asked first.
        let edits = if risk == Risk::Medium { Allow } else { ask_first };
        let verdict = judge(&policy, &Call::write("a").risky(risk), &Who { approval: AcceptEdits, ..who() });
        assert_eq!(verdict.ruling, edits, "{risk} in accept_edits: {}", verdict.reason);
        for (approval, expected) in [(Auto, auto), (AskFirst, ask_first), (Manual, manual)] {
            for call in [Call::write("a").risky(risk), Call::other("tool", ().into()).risky(risk)] {
                let verdict = judge(&policy, &call, &Who { approval, ..who() });
                assert_eq!(verdict.ruling, expected, "{risk} in {approval}: {}", verdict.reason);
                assert_eq!(verdict.rule.source, Source::BuiltIn);
                assert!(verdict.rule.place.starts_with("builtin.toml:"), "{}", verdict.rule.place);
            }
        }
    }
}

#[test]
fn commands_are_asked_about_except_known_safe_ones() {
    let policy = Policy::new(place(), Vec::new());
    for (command, ask_first, manual, auto) in [
        ("git log --oneline | head -5", Ruling::Allow, Ruling::Ask, Ruling::Allow),
        ("cargo build", Ruling::Ask, Ruling::Ask, Ruling::Allow),
        ("git status; cargo build", Ruling::Ask, Ruling::Ask, Ruling::Allow),
        ("git reset --hard", Ruling::Ask, Ruling::Ask, Ruling::Ask),
        ("rm -rf /", Ruling::Deny, Ruling::Deny, Ruling::Deny),
    ] {
        for (approval, expected) in [
            (ApprovalMode::AcceptEdits, ask_first),
            (ApprovalMode::AskFirst, ask_first),
            (ApprovalMode::Manual, manual),
            (ApprovalMode::Auto, auto),
        ] {
            let verdict = judge(&policy, &Call::bash(command), &Who { approval, ..who() });
            assert_eq!(verdict.ruling, expected, "{command} in {approval}: {}", verdict.reason);
        }
    }
}

#[test]
fn commits_are_neither_published_nor_rewritten_unasked() {
    let policy = Policy::new(place(), Vec::new());
    let auto = Who { approval: ApprovalMode::Auto, ..who() };
    for command in [
        "git push",
        "git push origin main",
        "git -C sub push",
        "cargo test && git push",
        "git commit -m x --amend",
        "git commit --am --no-edit",
        "sh -c 'git commit --amend'",
        "git rebase main",
        "git rebase --continue",
        "git pull --rebase",
        "git reset HEAD~1",
        "git reset --soft 1f2e3d4",
    ] {
        let verdict = judge(&policy, &Call::bash(command), &auto);
        assert_eq!(verdict.ruling, Ruling::Ask, "{command}: {}", verdict.reason);
        let alone = judge(&policy, &Call::bash(command), &Who { person_present: false, ..auto });
        assert_eq!(alone.ruling, Ruling::Deny, "{command}");
        assert!(!alone.reason.contains("--yes"), "{}", alone.reason);
    }
    for command in [
        "git commit -m 'do not git push --amend'",
        "git push --dry-run",
        "git push -n",
        "git rebase --abort",
        "git reset src/main.rs",
        "git reset",
        "git pull",
        "git merge topic",
    ] {
        let verdict = judge(&policy, &Call::bash(command), &auto);
        assert_eq!(verdict.ruling, Ruling::Allow, "{command}: {}", verdict.reason);
    }
    let mine = crate::support::policy(&[(
        Source::User,
        "[[rule]]\ntool = \"bash\"\ncommand = \"git push\"\ndecision = \"allow\"\n",
    )]);
    assert_eq!(judge(&mine, &Call::bash("git push origin main"), &auto).ruling, Ruling::Allow, "who says so means it");
    let commits = "[[rule]]\ntool = \"bash\"\ncommand = \"git commit\"\ndecision = \"allow\"\n";
    let commits = crate::support::policy(&[(Source::User, commits)]);
    assert_eq!(judge(&commits, &Call::bash("git commit -m x"), &who()).ruling, Ruling::Allow);
    assert_eq!(judge(&commits, &Call::bash("git commit -m x --amend"), &who()).ruling, Ruling::Ask, "it rewrites one");
}

#[test]
fn what_is_typed_into_a_shell_is_forbidden_where_it_is_forbidden_as_a_command() {
    let rules = "[[rule]]\ntool = \"bash\"\ncommand = \"curl\"\ndecision = \"deny\"\n\
        [[rule]]\ntool = \"bash\"\ncommand = \"make\"\ndecision = \"allow\"\n";
    let policy = crate::support::policy(&[(Source::User, rules)]);
    let typed = |text: &str| Call {
        command: Some(text.to_owned()),
        ..Call::other("process", serde_json::json!({ "action": "write", "input": text }))
    };
    let auto = Who { approval: ApprovalMode::Auto, ..who() };
    let ruling = |text: &str, who: &Who<'_>| judge(&policy, &typed(text), who).ruling;
    assert_eq!(ruling("ls && curl example.com", &auto), Ruling::Deny);
    assert_eq!(ruling("rm -rf /", &auto), Ruling::Deny);
    assert_eq!(ruling("git push", &auto), Ruling::Ask);
    assert_eq!(ruling("cat .env", &auto), Ruling::Ask);
    assert!(!judge(&policy, &typed("cat .env"), &auto).reason.contains("lets this one command"));
    assert_eq!(ruling("make", &auto), Ruling::Allow);
    assert_eq!(ruling("make", &who()), Ruling::Ask, "what is allowed as a command is not allowed to be typed anywhere");
    let offered = policy.offer(&typed("make all").action(), &who()).unwrap();
    assert!(offered.describe().contains("exactly these arguments"), "{}", offered.describe());
}

#[test]
fn without_a_box_auto_asks_before_commands_unless_that_was_chosen() {
    let policy = Policy::new(place(), Vec::new());
    for (confinement, expected) in [
        (Confinement::Boxed, Ruling::Allow),
        (Confinement::ChosenNone, Ruling::Allow),
        (Confinement::Unavailable, Ruling::Ask),
    ] {
        let who = Who { approval: ApprovalMode::Auto, confinement, ..who() };
        let verdict = judge(&policy, &Call::bash("cargo build"), &who);
        assert_eq!(verdict.ruling, expected, "{confinement:?}: {}", verdict.reason);
        assert_eq!(judge(&policy, &Call::write("a"), &who).ruling, Ruling::Allow, "a file is no command");
        assert_eq!(judge(&policy, &Call::bash("git log"), &who).ruling, Ruling::Allow);
    }
}

#[test]
fn without_a_person_ask_is_deny_and_says_how_to_allow() {
    let policy = Policy::new(place(), Vec::new());
    let alone = Who { person_present: false, ..who() };
    let verdict = judge(&policy, &Call::bash("make"), &alone);
    assert_eq!((verdict.ruling, verdict.code), (Ruling::Deny, ErrorCode::CommandBlocked));
    assert!(verdict.reason.contains("--approval auto"), "{}", verdict.reason);
    assert!(verdict.reason.contains("--allow 'bash(make *)'"), "{}", verdict.reason);
    for (line, flags) in [
        ("git push origin main", "--allow 'bash(git push origin *)',"),
        ("make && git push origin", "--allow 'bash(make *)' --allow 'bash(git push origin *)',"),
        ("make > out.txt", "--allow 'bash(make > out.txt)',"),
        ("cat * > all.txt", r#"--allow '{ tool = "bash", line = "cat * > all.txt" }',"#),
        ("echo 'it is' > \"it's\"", r#"--allow 'bash(echo '\''it is'\'' > "it'\''s")',"#),
    ] {
        let verdict = judge(&policy, &Call::bash(line), &alone);
        assert!(verdict.reason.contains(flags), "{line}: {}", verdict.reason);
        let pasted = allowing(&flags_in(&verdict.reason));
        assert_eq!(judge(&pasted, &Call::bash(line), &alone).ruling, Ruling::Allow, "{line}");
    }
    let verdict = judge(&policy, &Call::write("a"), &alone);
    assert_eq!((verdict.ruling, verdict.code), (Ruling::Deny, ErrorCode::BlockedByPolicy));
    let critical = judge(&policy, &Call::write("a").risky(Risk::Critical), &alone);
    assert!(critical.reason.contains("risk = \"critical\""), "{}", critical.reason);
    let unboxed = Who { confinement: Confinement::Unavailable, ..alone };
    let verdict = judge(&policy, &Call::bash("make"), &unboxed);
    assert!(!verdict.reason.contains("--approval auto"), "would not help: {}", verdict.reason);
}

#[test]
fn a_command_that_needs_the_network_says_so_where_that_is_off() {
    let policy = Policy::new(place(), Vec::new());
    let offline = Who { network: false, ..who() };
    let alone = Who { person_present: false, ..offline };
    let verdict = judge(&policy, &Call::bash("curl https://example.com"), &alone);
    assert!(verdict.reason.contains("network, which is off"), "{}", verdict.reason);
    let verdict = judge(&policy, &Call::bash("curl https://example.com"), &who());
    assert!(!verdict.reason.contains("which is off"), "{}", verdict.reason);
}

#[test]
fn a_question_says_what_a_yes_opens() {
    let policy = Policy::new(place(), Vec::new());
    let offline = Who { network: false, ..who() };
    let reason = |command: &str, who: &Who<'_>| judge(&policy, &Call::bash(command), who).reason;
    let opens = "your yes lets this one command reach the network, which is off for commands";
    let asked = judge(&policy, &Call::bash("curl https://example.com"), &offline);
    // How it would run says that it reaches the network; the reason does not say it again.
    assert_eq!((asked.reason.as_str(), asked.held.map(|held| held.network)), ("commands are asked first", Some(true)));
    assert_eq!(asked.opens, [opens]);
    for (command, who) in [("curl https://example.com", &who()), ("make", &offline)] {
        assert!(judge(&policy, &Call::bash(command), who).opens.is_empty(), "{command}");
    }
    let closed = "your yes lets this one command read /srv/app/.env";
    assert!(reason("cat .env", &who()).ends_with(closed), "{}", reason("cat .env", &who()));
    let both = reason("cat .env; curl https://example.com", &offline);
    assert!(both.ends_with(closed), "{both}");
    let unboxed = Who { confinement: Confinement::ChosenNone, ..who() };
    for (command, who) in [("cat .env", &unboxed), ("git reset --hard", &who()), ("echo x >> .git/hooks/a", &who())] {
        assert!(!reason(command, who).contains(closed), "{command}: {}", reason(command, who));
    }
    let changed = reason("echo x >> .git/hooks/a; cat .env b", &who());
    let both = "\nyour yes lets this one command read /srv/app/.env\n\
                your yes lets this one command change /srv/app/.git/hooks/a";
    assert!(changed.ends_with(both), "{changed}");
    let outside = reason("echo x >> ../out.txt", &who());
    let is_opened = outside.ends_with("\nyour yes lets this one command change /srv/out.txt");
    assert!(outside.starts_with("../out.txt is outside the workspace\n") && is_opened, "{outside}");
    assert!(reason("make | tee /srv/out.txt", &who()).ends_with("change /srv/out.txt"));
    let kept = reason("mv a ../b", &who());
    let words = "\nthe sandbox keeps /srv/b closed, also after a yes; /add-dir opens a folder for this session";
    assert!(kept.ends_with(words) && !kept.contains("your yes"), "{kept}");
    assert!(!reason("mv a ../b", &unboxed).contains("keeps"));
    let own = judge(&policy, &Call::bash("cat ~/.config/neco/config.toml"), &who());
    let words = "\nthe sandbox keeps /home/me/.config/neco/config.toml closed, also after a yes: Neco's own";
    assert!(own.reason.ends_with(words) && !own.reason.contains("your yes"), "{}", own.reason);
    assert_eq!((own.opens.len(), own.held.map(|held| held.opens)), (0, Some(false)));
    assert_eq!(reason("git push origin main", &offline), "it publishes commits");
    assert_eq!(reason("git commit --amend", &who()), "it replaces commits that were made");
    let deleted = reason("rm -rf target src/upload", &who());
    assert!(deleted.contains("deletes files, and folders with all that is in them: target, src/upload"), "{deleted}");
    let auto = Who { approval: ApprovalMode::Auto, ..who() };
    let words = "it publishes commits\n\
                 commits are neither pushed nor rewritten unasked; that is asked about in auto too";
    assert_eq!(reason("git push", &auto), words);
}

#[test]
fn a_tool_of_a_server_is_asked_about_as_such() {
    let policy = Policy::new(place(), Vec::new());
    let call = Call::other("mcp__demo__echo", serde_json::json!({})).of_server("demo").risky(Risk::Medium);
    let manual = Who { approval: ApprovalMode::Manual, ..who() };
    assert_eq!(judge(&policy, &call, &who()).reason, "tools of MCP servers are asked first");
    let words = "it is a tool of an MCP server; you are asked about everything";
    assert_eq!(judge(&policy, &call, &manual).reason, words);
    assert!(policy.offer(&call.action(), &who()).is_some());
    // What a server says that it may destroy is treated as what a command is known to.
    let because = "demo says that this tool may destroy something";
    let destroys = Call { because: Some(because.to_owned()), ..call.risky(Risk::Critical) };
    let auto = Who { approval: ApprovalMode::Auto, ..who() };
    let asked = judge(&policy, &destroys, &auto);
    let words = format!("{because}\nthat is asked about in auto too");
    assert_eq!((asked.ruling, asked.reason), (Ruling::Ask, words));
    assert!(policy.offer(&destroys.action(), &auto).is_none());
    let alone = Who { person_present: false, ..auto };
    let denied = judge(&policy, &destroys, &alone);
    assert_eq!(denied.ruling, Ruling::Deny);
    let flags = flags_in(&denied.reason);
    assert_eq!(flags, ["{ tool = \"mcp__demo__echo\", risk = \"critical\" }"]);
    assert_eq!(judge(&allowing(&flags), &destroys, &alone).ruling, Ruling::Allow);
}

#[test]
fn a_question_says_how_the_command_will_run() {
    let policy = Policy::new(place(), Vec::new());
    let offline = Who { network: false, ..who() };
    let held = |call: &Call, who: &Who<'_>| judge(&policy, call, who).held;
    let boxed = |network, opens| Some(Held { sandboxed: true, network, opens });
    let none = Some(Held { sandboxed: false, network: false, opens: false });
    assert_eq!(held(&Call::bash("make"), &offline), boxed(false, false));
    assert_eq!(held(&Call::bash("make"), &who()), boxed(true, false), "commands have the network here");
    for command in ["npm install left-pad", "git push origin main", "curl https://example.com; touch /var/x"] {
        assert_eq!(held(&Call::bash(command), &offline), boxed(true, false), "{command}");
    }
    assert_eq!(held(&Call::bash("cat .env"), &offline), boxed(false, true));
    assert_eq!(held(&Call { freedom: Freedom::Network, ..Call::bash("make") }, &offline), boxed(true, false));
    assert_eq!(held(&Call { freedom: Freedom::Unboxed, ..Call::bash("sh x.sh") }, &offline), none);
    assert_eq!(held(&Call::bash("make"), &Who { confinement: Confinement::ChosenNone, ..offline }), none);
    assert_eq!(held(&Call::write("a"), &offline), None);
}
