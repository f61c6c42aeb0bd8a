//! What rules match, in which order, and what is said about mistakes in them.

use neco_proto::{ApprovalMode, Risk};
use neco_safety::policy::Source;
use neco_safety::{Ruling, Who};
use serde_json::json;

use crate::support::{Call, WORKSPACE, judge, policy, read, ruling, user, who};

#[test]
fn later_sources_outrank_earlier_ones_whatever_the_priority() {
    let rule = |decision: &str, priority: i32| {
        format!("[[rule]]\ntool = 'write_file'\ndecision = '{decision}'\npriority = {priority}\n")
    };
    let user_denies = (Source::User, rule("deny", 999));
    let flag_allows = (Source::CommandLine, rule("allow", -999));
    let both = policy(&[(user_denies.0, &user_denies.1), (flag_allows.0, &flag_allows.1)]);
    let verdict = judge(&both, &Call::write("a"), &who());
    assert_eq!((verdict.ruling, verdict.rule.source), (Ruling::Allow, Source::CommandLine));
    let session = policy(&[(Source::CommandLine, &rule("deny", 0)), (Source::User, &rule("allow", 999))]);
    assert_eq!(ruling(&session, &Call::write("a")), Ruling::Deny);
}

#[test]
fn a_rule_can_name_where_a_tool_comes_from() {
    let call = || Call::other("search", json!({})).reads();
    let denies = user("[[rule]]\ntool = '*'\norigin = 'mcp:git*'\ndecision = 'deny'\n");
    assert_eq!(ruling(&denies, &call().of_server("github")), Ruling::Deny);
    assert_ne!(ruling(&denies, &call().of_server("files")), Ruling::Deny);
    assert_ne!(ruling(&denies, &call()), Ruling::Deny);
    let refuses = |call: &Call| denies.refuses(&call.tool, &call.origin, call.touch, &who());
    assert!(refuses(&call().of_server("github")) && !refuses(&call()), "it does not exist for the model");
    assert!(denies.closed().is_empty(), "it says nothing of files");
}

#[test]
fn the_higher_priority_wins_and_then_the_stricter() {
    let text = |one: (&str, i32), two: (&str, i32)| {
        [one, two]
            .map(|(decision, priority)| {
                format!("[[rule]]\ntool = 'write_file'\ndecision = '{decision}'\npriority = {priority}\n")
            })
            .concat()
    };
    for (one, two, expected) in [
        (("allow", 5), ("deny", 4), Ruling::Allow),
        (("allow", 5), ("deny", 5), Ruling::Deny),
        (("allow", 5), ("ask", 5), Ruling::Ask),
        (("deny", 5), ("ask", 5), Ruling::Deny),
        (("ask", 6), ("deny", 5), Ruling::Ask),
    ] {
        assert_eq!(ruling(&user(&text(one, two)), &Call::write("a")), expected);
        assert_eq!(ruling(&user(&text(two, one)), &Call::write("a")), expected, "the order in the file is no matter");
    }
}

#[test]
fn a_verdict_names_the_rule_and_its_place() {
    let policy = user("\n[[rule]]\nname = 'no writes'\ntool = 'Write'\ndecision = 'deny'\nreason = 'ask Ann first'\n");
    let verdict = judge(&policy, &Call::write("a"), &who());
    assert_eq!((verdict.rule.title.as_str(), verdict.rule.place.as_str()), ("no writes", "rules.toml:2:1"));
    assert_eq!(verdict.reason, "ask Ann first (user rule \"no writes\", rules.toml:2:1)");
}

#[test]
fn a_project_narrows_and_never_widens() {
    let allow = "[[rule]]\ntool = '*'\ndecision = 'allow'\npriority = 999\n";
    let wide = policy(&[(Source::Project, allow)]);
    assert_eq!(ruling(&wide, &Call::write("a")), Ruling::Ask);
    let narrow = "[[rule]]\ntool = 'read_file'\npath = 'secret/**'\ndecision = 'deny'\n";
    let narrow = policy(&[(Source::Project, narrow)]);
    assert_eq!(ruling(&narrow, &Call::read("secret/a")), Ruling::Deny);
    assert_eq!(ruling(&narrow, &Call::read("open/a")), Ruling::Allow);
    let deny = "[[rule]]\ntool = 'bash'\ndecision = 'deny'\n";
    let ask = "[[rule]]\ntool = 'bash'\ndecision = 'ask'\n";
    let asks = policy(&[(Source::User, deny), (Source::Project, ask)]);
    assert_eq!(ruling(&asks, &Call::bash("make")), Ruling::Deny, "asking would be wider than denying");
    let exception = "[[rule]]\ntool = 'bash'\ndecision = 'deny'\n[[rule]]\ntool = 'bash'\ncommand = 'make'\ndecision = 'allow'\npriority = 1\n";
    let exception = policy(&[(Source::Project, exception)]);
    assert_eq!(ruling(&exception, &Call::bash("make")), Ruling::Ask, "back to what the user's rules say");
    assert_eq!(ruling(&exception, &Call::bash("ls")), Ruling::Deny);
}

#[test]
fn what_is_critical_is_allowed_only_by_a_rule_that_names_it() {
    let critical = Call::write(".env").risky(Risk::Critical);
    let plain = "[[rule]]\ntool = 'write_file'\ndecision = 'allow'\npriority = 999\n";
    let named = "[[rule]]\ntool = 'write_file'\npath = '.env'\nrisk = 'critical'\ndecision = 'allow'\n";
    assert_eq!(ruling(&user(plain), &critical), Ruling::Ask);
    assert_eq!(ruling(&user(named), &critical), Ruling::Allow);
    assert_eq!(ruling(&policy(&[(Source::CommandLine, named)]), &critical), Ruling::Allow);
    for source in [Source::Project, Source::Session] {
        assert_eq!(ruling(&policy(&[(source, named)]), &critical), Ruling::Ask, "{source}");
    }
    let auto = Who { approval: ApprovalMode::Auto, ..who() };
    assert_eq!(judge(&user(plain), &critical, &auto).ruling, Ruling::Ask);
}

#[test]
fn what_is_never_done_is_never_done() {
    let everything = "[[rule]]\ntool = '*'\ndecision = 'allow'\npriority = 999\nrisk = ['safe', 'low', 'medium', 'high', 'critical']\n";
    let all = policy(&[(Source::User, everything), (Source::CommandLine, everything), (Source::Session, everything)]);
    for command in ["rm -rf /", "sudo rm -rf ~", "echo hi; mkfs.ext4 /dev/sda1", ":(){ :|:& };:"] {
        let verdict = judge(&all, &Call::bash(command), &who());
        assert_eq!(verdict.ruling, Ruling::Deny, "{command}: {}", verdict.reason);
        assert!(verdict.reason.contains("never done"), "{}", verdict.reason);
    }
}

#[test]
fn commands_are_matched_as_they_are_parsed() {
    let policy = user(
        "[[rule]]\ntool = 'bash'\ncommand = ['cargo test', 'npm run']\ndecision = 'allow'\n\
         [[rule]]\ntool = 'bash'\ncommand = 'git push'\ndecision = 'deny'\n",
    );
    for (command, expected) in [
        ("cargo test", Ruling::Allow),
        ("cargo test -p app --lib", Ruling::Allow),
        ("cargo test | tail -20", Ruling::Allow),
        ("cargo test && npm run lint", Ruling::Allow),
        ("cargo testing", Ruling::Ask),
        ("cargo build", Ruling::Ask),
        ("cargo test; make", Ruling::Ask),
        ("cargo test > out.txt", Ruling::Ask),
        ("cargo test $(make)", Ruling::Ask),
        ("git push origin main", Ruling::Deny),
        ("cargo test && git push", Ruling::Deny),
        ("sh -c 'git push'", Ruling::Deny),
        ("env X=1 git push", Ruling::Deny),
        ("echo git push", Ruling::Allow),
    ] {
        let verdict = judge(&policy, &Call::bash(command), &who());
        assert_eq!(verdict.ruling, expected, "{command}: {}", verdict.reason);
    }
}

#[test]
fn rules_that_each_allow_some_of_a_line_allow_it_together() {
    let policy = user(
        "[[rule]]\ntool = 'bash'\ncommand = 'cargo fmt'\ndecision = 'allow'\n\
         [[rule]]\ntool = 'bash'\ncommand = 'cargo clippy'\ndecision = 'allow'\n",
    );
    assert_eq!(ruling(&policy, &Call::bash("cargo fmt && cargo clippy")), Ruling::Allow);
    assert_eq!(ruling(&policy, &Call::bash("cargo fmt && cargo clippy && make")), Ruling::Ask);
}

#[test]
fn patterns_over_commands_see_every_command() {
    let policy = user(
        "[[rule]]\ntool = 'bash'\ncommand_regex = '^make( [a-z]+)?$'\ndecision = 'allow'\n\
         [[rule]]\ntool = 'bash'\ncommand_regex = 'secret'\ndecision = 'deny'\n",
    );
    for (command, expected) in [
        ("make test", Ruling::Allow),
        ("make test && make", Ruling::Allow),
        ("make test && cargo build", Ruling::Ask),
        ("make 'a b'", Ruling::Ask),
        ("cat secret.txt", Ruling::Deny),
        ("make; cat secret.txt", Ruling::Deny),
    ] {
        assert_eq!(ruling(&policy, &Call::bash(command)), expected, "{command}");
    }
}

#[test]
fn a_line_is_meant_word_for_word() {
    let policy = user("[[rule]]\ntool = 'bash'\nline = 'make > log.txt'\ndecision = 'allow'\n");
    assert_eq!(ruling(&policy, &Call::bash(" make > log.txt\n")), Ruling::Allow);
    assert_eq!(ruling(&policy, &Call::bash("make > other.txt")), Ruling::Ask);
}

#[test]
fn paths_are_all_meant_when_a_rule_allows_and_any_when_it_denies() {
    let allow = user("[[rule]]\ntool = 'write_file'\npath = ['src/**', '~/notes', '/tmp/x/*']\ndecision = 'allow'\n");
    for (path, expected) in [
        ("src/a/b.rs", Ruling::Allow),
        ("lib/a.rs", Ruling::Ask),
        ("/home/me/notes/today.md", Ruling::Allow),
        ("/tmp/x/a", Ruling::Allow),
        ("/tmp/x/y/a", Ruling::Ask),
    ] {
        assert_eq!(ruling(&allow, &Call::write(path)), expected, "{path}");
    }
    let mut two = Call::write("src/a.rs");
    two.paths.push(format!("{WORKSPACE}/lib/a.rs").into());
    assert_eq!(ruling(&allow, &two), Ruling::Ask);
    let deny = user("[[rule]]\ntool = '*'\npath = 'vault'\ndecision = 'deny'\n");
    two.paths.push(format!("{WORKSPACE}/vault/key").into());
    assert_eq!(ruling(&deny, &two), Ruling::Deny);
    for command in ["cat vault/key", "cp ./src/../vault/key /tmp", "tool --file=vault/key", "cat /srv/app/vault/key"] {
        assert_eq!(ruling(&deny, &Call::bash(command)), Ruling::Deny, "{command}");
    }
    assert_eq!(ruling(&deny, &Call::bash("cat vaults")), Ruling::Allow);
}

#[test]
fn arguments_are_matched_as_canonical_json() {
    let policy = user(
        r#"
[[rule]]
tool = "mcp__db__*"
args = '"database":"production".*"sql":"(?i:select)\b'
decision = "ask"
[[rule]]
tool = "db__query"
decision = "allow"
priority = -1
"#,
    );
    let query = |database: &str, sql: &str| Call::other("mcp__db__query", json!({ "sql": sql, "database": database }));
    assert_eq!(ruling(&policy, &query("production", "SELECT 1")), Ruling::Ask);
    assert_eq!(ruling(&policy, &query("test", "SELECT 1")), Ruling::Allow);
}

#[test]
fn other_conditions_narrow_a_rule() {
    let policy = user(
        "[[rule]]\ntool = 'write_file'\nrole = 'reviewer'\ndecision = 'deny'\n\
         [[rule]]\ntool = 'write_file'\nperson = false\ndecision = 'allow'\n\
         [[rule]]\ntool = 'bash'\nworkspace = '/elsewhere'\ndecision = 'allow'\n\
         [[rule]]\ntool = 'web_fetch'\nhost = '*.example.com'\ndecision = 'allow'\n",
    );
    assert_eq!(ruling(&policy, &Call::write("a")), Ruling::Ask);
    assert_eq!(judge(&policy, &Call::write("a"), &Who { role: "reviewer", ..who() }).ruling, Ruling::Deny);
    assert_eq!(judge(&policy, &Call::write("a"), &Who { person_present: false, ..who() }).ruling, Ruling::Allow);
    assert_eq!(ruling(&policy, &Call::bash("make")), Ruling::Ask);
    let fetch = |url: &str| Call::other("web_fetch", json!({ "url": url }));
    assert_eq!(ruling(&policy, &fetch("https://docs.example.com/x")), Ruling::Allow);
    assert_eq!(ruling(&policy, &fetch("https://example.org")), Ruling::Ask);
}

#[test]
fn mistakes_are_told_with_their_place_and_what_to_do() {
    for (text, expected) in [
        ("[[rule]]\ntool = 'x'\n", "rules.toml:1:1: the rule needs one decision: \"allow\", \"ask\" or \"deny\""),
        (
            "[[rule]]\ndecision = 'ask'\n",
            "rules.toml:1:1: the rule needs a tool: a name, a list of names, or \"*\" for all",
        ),
        (
            "[[rule]]\ntool = 'x'\ndecision = 'maybe'\n",
            "rules.toml:3:1: decision: there is no \"maybe\"; there are allow, ask, deny",
        ),
        (
            "[[rule]]\ntool = 'x'\ndecision = 'ask'\ncomand = 'ls'\n",
            "rules.toml:4:1: there is no field \"comand\"; did you mean \"command\"?",
        ),
        (
            "[[rule]]\ntool = 'x'\ndecision = 'ask'\npriority = 1000\n",
            "rules.toml:4:1: priority: expected a whole number from -999 to 999, found 1000",
        ),
        (
            "[[rule]]\ntool = 'bash'\ndecision = 'allow'\ncommand = 'git log | head'\n",
            "rules.toml:4:1: command: '|' is not a plain word",
        ),
        ("[[rule]]\ntool = 'x'\ndecision = 'ask'\nargs = '('\n", "rules.toml:4:1: args: unclosed group; patterns are"),
        ("[[rule]]\ntool = 'x'\ndecision = 'ask'\npath = '['\n", "rules.toml:4:1: path: \"[\" is no glob"),
        ("[[rule]]\ntool = []\ndecision = 'ask'\n", "rules.toml:2:1: tool: an empty list would be about nothing"),
        ("[[rool]]\n", "rules.toml:1:3: there is no section \"rool\" in a policy file; rules are [[rule]] tables"),
        ("[[rule]\n", "rules.toml:1:8: "),
        ("rule = 5\n", "rules.toml:1:1: rule: expected tables; write [[rule]]"),
        ("[[rule]]\ntool = 'x'\ndecision = 'ask'\nperson = 'yes'\n", "rules.toml:4:1: person: expected true or false"),
    ] {
        let read = read(text, Source::User);
        assert!(read.problems[0].to_string().starts_with(expected), "{text}: {}", read.problems[0]);
        assert!(read.rules.is_empty(), "{text}");
    }
    let many = "[[rule]]\ntool = 'x'\ndecision = 'no'\nrisk = 'no'\n[[rule]]\ntool = 'y'\ndecision = 'deny'\n";
    let read = read(many, Source::User);
    assert_eq!((read.problems.len(), read.rules.len()), (2, 1), "everything is told, and what is sound is read");
}
