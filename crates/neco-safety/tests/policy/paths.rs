//! Rules that close paths, and commands that reach them: by their words, and where nobody can tell.

use std::path::Path;

use neco_proto::{ApprovalMode, Mode, Risk};
use neco_safety::policy::{RuleReader, Source, some_of};
use neco_safety::world::Freedom;
use neco_safety::{Confinement, Policy, Ruling, Who};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Call, WORKSPACE, place, read, user, who};

fn auto() -> Who<'static> {
    Who { approval: ApprovalMode::Auto, ..who() }
}

/// Where nobody can be asked, "ask" is "deny": with somebody there both can be told apart.
fn ruling(policy: &Policy, line: &str, who: &Who<'_>) -> Ruling {
    policy.judge(&Call::bash(line).action(), who).ruling
}

fn flags(texts: &[(Ruling, &str)]) -> Policy {
    let place = place();
    let reader = RuleReader { place: &place };
    let rules = texts.iter().flat_map(|(ruling, text)| {
        let read = reader.flag(*ruling, text);
        assert!(read.problems.is_empty(), "{:?}", read.problems);
        read.rules
    });
    Policy::new(place.clone(), rules.collect())
}

fn vendor() -> Policy {
    user("[[rule]]\ntool = '*'\npath = 'vendor'\ndecision = 'deny'\n")
}

/// Every way to write a line that names the folder.
const NAMES: &[&str] = &[
    "echo x > DIR/lib.c",
    "echo x >> DIR/lib.c",
    "echo x >| DIR/lib.c",
    "cat f 2>DIR/err",
    "cat f &> DIR/err",
    "cat f >& DIR/err",
    ": <> DIR/x",
    "cat < DIR/x",
    "cat 3< DIR/x",
    "cat DIR/x",
    "cat ./DIR/x",
    "cat src/../DIR/x",
    "cat /srv/app/DIR/x",
    "cat \"$PWD/DIR/x\"",
    "cat DI*/x",
    "cat DIR*/x",
    "cat ?IR/x",
    "cat [D]IR/x",
    "cat {a,DIR}/x",
    "cat DI{R,x}/x",
    "cat 'DI'R/x",
    "cat D\\IR/x",
    "cat $'DIR/x'",
    "cp f DI*/",
    "cp -t DIR f",
    "cp --target-directory=DIR f",
    "DIR/run.sh",
    "./DIR/run.sh",
    "exec DIR/run.sh",
    "sh DIR/run.sh",
    ". DIR/env.sh",
    "source DIR/env.sh",
    "gcc -oDIR/x a.c",
    "gcc -IDIR/include a.c",
    "gcc -Wl,-rpath,DIR/lib a.c",
    "tar -xzfDIR/a.tgz",
    "tar --file=DIR/a.tgz -x",
    "make -C DIR",
    "dd if=DIR/x of=y",
    "dd if=y of=DIR/x",
    "curl -d @DIR/x http://localhost",
    "curl file:///srv/app/DIR/x",
    "cd DIR && cat x",
    "cd DIR; cat x",
    "cd DI*; cat x",
    "cd ./DIR/sub && make",
    "pushd DIR; ls",
    "(cd DIR && cat x)",
    "cd src && cat ../DIR/x",
    "cd src; cat ../DIR/x",
    "d=DIR; cat $d/x",
    "d=DIR; cat \"${d}/x\"",
    "D=DIR/x cat y",
    "export D=DIR/x",
    "for f in DIR/*; do cat $f; done",
    "while read l; do echo $l; done < DIR/x",
    "cat <(cat DIR/x)",
    "echo $(cat DIR/x)",
    "echo `cat DIR/x`",
    "sh -c 'cat DIR/x'",
    "bash -lc \"cat DIR/x\"",
    "eval 'cat DIR/x'",
    "env A=1 cat DIR/x",
    "timeout 5 cat DIR/x",
    "nice -n 5 cat DIR/x",
    "xargs cat DIR/x",
    "echo DIR/x | xargs cat",
    "find DIR -type f",
    "ls DIR",
    "rm -rf DIR",
    "mv DIR other",
    "ln -s DIR other",
    "ln DIR/x y",
    "python3 -c \"print(open('DIR/x').read())\"",
    "python3 - <<'E'\nopen('DIR/x')\nE",
    "node -e \"require('fs').readFileSync('DIR/x')\"",
    "perl -e 'open F, \"DIR/x\"'",
    "awk '{print}' DIR/x",
    "sed -i s/a/b/ DIR/x",
    "tee DIR/x < y",
    "git show :DIR/x",
    "git show HEAD:DIR/x",
    "git checkout HEAD -- DIR/x",
    "git add DIR/x",
    "git show ':(top)DIR/x'",
    "rsync -a DIR/ /tmp/x",
    "scp host:DIR/x .",
    "diff a DIR/x",
    "zip a.zip DIR/x",
    "test -f DIR/x && echo y",
    "[ -f DIR/x ]",
    "[[ -f DIR/x ]]",
    "true && cat DIR/x || true",
    "cat a | tee DIR/x",
    "if true; then cat DIR/x; fi",
    "f() { cat DIR/x; }; f",
    "cat DIR/x &",
    "! cat DIR/x",
    "cat /proc/self/cwd/DIR/x",
    "trap 'cat DIR/x' EXIT",
];

#[test]
fn a_path_is_denied_however_a_line_names_it() {
    for (policy, folder) in [(vendor(), "vendor"), (flags(&[(Ruling::Deny, "Read(secrets/)")]), "secrets")] {
        for line in NAMES {
            // `DI*`, `?IR` and the like are made of the name's own letters.
            let ((head, tail), (first, rest)) = (folder.split_at(folder.len() - 1), folder.split_at(1));
            let line = line
                .replace("DIR", folder)
                .replace("?IR", &format!("?{rest}"))
                .replace("[D]IR", &format!("[{first}]{rest}"))
                .replace("DI{R,x}", &format!("{head}{{{tail},x}}"))
                .replace("'DI'R", &format!("'{head}'{tail}"))
                .replace("D\\IR", &format!("{first}\\{rest}"))
                .replace("DI*", &format!("{head}*"));
            assert_eq!(ruling(&policy, &line, &auto()), Ruling::Deny, "{line}");
        }
    }
}

#[test]
fn what_names_no_closed_path_is_not_denied() {
    let policy = flags(&[(Ruling::Deny, "Read(secrets/)"), (Ruling::Deny, "Edit(vendor/**)")]);
    for line in [
        "cat README.md",
        "ls *",
        "cat *.md",
        "cargo test",
        "echo secret > notes.txt",
        "git status",
        "git commit -m 'about secrets and vendor'",
        "grep -rn secrets_of src",
        "grep 'sec*' src/a.rs",
        "cat vendor/lib.c",
        "gcc -c vendor/lib.c -o out.o",
        "cp vendor/lib.c /tmp/x",
        "cd src && make",
    ] {
        assert_eq!(ruling(&policy, line, &auto()), Ruling::Allow, "{line}");
    }
    for line in
        ["echo x > vendor/lib.c", "rm vendor/lib.c", "cp f vendor/", "sed -i s/a/b/ vendor/lib.c", "tee vendor/x"]
    {
        assert_eq!(ruling(&policy, line, &auto()), Ruling::Deny, "{line}");
    }
}

/// Lines in which the name of a closed folder may be anything: in a box that does not have the folder, they run.
const MAY_MEAN: &[&str] = &[
    "cargo DIR",
    "npm run DIR",
    "npm DIR",
    "make DIR",
    "go DIR ./...",
    "docker DIR .",
    "python3 -m DIR",
    "NODE_ENV=DIR npm start",
    "git commit -m DIR",
    "git commit -m 'DIR/: text'",
    "git commit -am 'DIR/: text'",
    "git switch -c DIR/topic",
    "git grep DIR/",
    "grep -rn DIR src",
    "grep -rn DIR/ src",
    "rg -n DIR",
    "echo DIR",
    "echo 'DIR/' >> .gitignore",
    "printf '%s\\n' DIR/ >> .gitignore",
    "python3 -c 'import DIR'",
    "tar --exclude=DIR -cf a.tar src",
    "tar --exclude=./DIR -cf a.tar src",
    "rsync -a --exclude DIR/ src out",
    "find . -path ./DIR -prune -o -print",
    "find . -name DIR",
    "for t in DIR src; do make $t; done",
];

#[test]
fn a_word_that_may_mean_anything_is_left_to_a_box_that_hides_the_path() {
    for folder in ["build", "test", "vendor", "secrets"] {
        let rules = [format!("Read({folder}/**)"), format!("{{ tool = '*', path = '{folder}' }}")];
        for policy in rules.iter().map(|rule| flags(&[(Ruling::Deny, rule.as_str())])) {
            for line in MAY_MEAN {
                let line = line.replace("DIR", folder);
                assert_eq!(ruling(&policy, &line, &auto()), Ruling::Allow, "{line}");
            }
            let open = Who { confinement: Confinement::ChosenNone, ..auto() };
            let line = format!("cargo {folder}");
            assert_ne!(ruling(&policy, &line, &open), Ruling::Allow, "{line}");
            let unboxed = Call { freedom: Freedom::Unboxed, ..Call::bash(&line) };
            assert_ne!(policy.judge(&unboxed.action(), &auto()).ruling, Ruling::Allow, "{line}");
        }
    }
}

#[test]
fn a_mere_star_names_no_hidden_file_and_no_kind_of_file() {
    let policy = flags(&[(Ruling::Deny, "Read(**/.env*)"), (Ruling::Deny, "Read(**/*.key)")]);
    for line in ["ls *", "cat src/*", "wc -l src/*", "cp -r dist/* out/"] {
        assert_ne!(ruling(&policy, line, &auto()), Ruling::Deny, "{line}");
    }
    for line in ["cat .e*", "cat *.key", "cat src/*.key", "cat src/a.key"] {
        assert_eq!(ruling(&policy, line, &auto()), Ruling::Deny, "{line}");
    }
}

#[test]
fn a_folder_of_which_everything_is_closed_is_closed() {
    let closed = flags(&[(Ruling::Deny, "Read(secrets/**)")]).closed();
    for (path, stops) in [("secrets", true), ("secrets/x", true), ("src", false), ("", false)] {
        assert_eq!(closed.stops_commands(&Path::new(WORKSPACE).join(path)), stops, "{path}");
    }
}

#[test]
fn without_a_box_that_hides_a_person_is_asked_about_what_nobody_can_tell() {
    let undecidable = [
        "grep -r x .",
        "tar cf - .",
        "make",
        "python3 x.py",
        "cat link",
        "cat $f",
        "cd $d && cat x",
        "cp -r . /tmp/x",
        "rg x",
        "git diff",
    ];
    for policy in [vendor(), flags(&[(Ruling::Deny, "Read(vendor/)")])] {
        for line in undecidable {
            for confinement in [Confinement::ChosenNone, Confinement::BoxedInPart, Confinement::Unavailable] {
                let who = Who { confinement, ..auto() };
                assert_eq!(ruling(&policy, line, &who), Ruling::Ask, "{line} {confinement:?}");
                let nobody = Who { person_present: false, ..who };
                assert_eq!(ruling(&policy, line, &nobody), Ruling::Deny, "{line} {confinement:?}");
            }
        }
        for line in ["ls -la", "pwd", "git status", "find . -name '*.rs'", "echo hello"] {
            let who = Who { confinement: Confinement::ChosenNone, ..auto() };
            assert_eq!(ruling(&policy, line, &who), Ruling::Allow, "{line}");
        }
    }
    // What is closed to changing alone may be read.
    let policy = flags(&[(Ruling::Deny, "Edit(vendor/)")]);
    let who = Who { confinement: Confinement::ChosenNone, ..auto() };
    assert_eq!(ruling(&policy, "cat README.md | head", &who), Ruling::Allow);
    assert_eq!(ruling(&policy, "make", &who), Ruling::Ask);
    assert_eq!(ruling(&flags(&[]), "make", &who), Ruling::Allow, "without such a rule nothing is asked");
}

#[test]
fn a_path_that_a_rule_closes_is_closed_to_the_tools_of_servers() {
    let call = |arguments| Call::other("mcp__fs__read_text_file", arguments).of_server("fs").risky(Risk::Medium);
    let judged = |policy: &Policy, arguments, who: &Who<'_>| policy.judge(&call(arguments).action(), who).ruling;
    let denied = [
        vendor(),
        flags(&[(Ruling::Deny, "{ tool = '*', path = 'vendor/**' }")]),
        flags(&[(Ruling::Deny, "Read(vendor/**)")]),
        flags(&[(Ruling::Deny, "{ tool = 'mcp__fs__*', path = 'vendor' }")]),
    ];
    for policy in &denied {
        for arguments in [
            json!({ "path": "vendor/a.csv" }),
            json!({ "path": format!("{WORKSPACE}/vendor/a.csv") }),
            json!({ "paths": ["src/a", "src/../vendor/a.csv"] }),
            json!({ "uri": format!("file://{WORKSPACE}/vend%6Fr/a.csv") }),
            json!({ "path": "ven*/a.csv" }),
        ] {
            assert_eq!(judged(policy, arguments.clone(), &auto()), Ruling::Deny, "{arguments}");
        }
        assert_eq!(judged(policy, json!({ "path": "src/a.csv" }), &auto()), Ruling::Allow);
        assert_eq!(judged(policy, json!({ "query": "vendor" }), &auto()), Ruling::Allow);
        let explained = policy.explain(&call(json!({ "path": "vendor/x" })).action(), &auto());
        assert_eq!(explained.verdict.ruling, Ruling::Deny);
        assert_eq!(explained.paths, [Path::new(WORKSPACE).join("vendor/x")]);
    }
    // Nobody knows which tools of a server only look.
    let policy = flags(&[(Ruling::Deny, "Edit(vendor/)")]);
    assert_eq!(judged(&policy, json!({ "path": "vendor/x" }), &auto()), Ruling::Deny);
}

#[test]
fn what_is_asked_about_is_asked_about_each_time_and_opened_by_a_rule_that_names_it() {
    let who = Who { confinement: Confinement::ChosenNone, ..auto() };
    let mut policy = vendor();
    let call = Call::bash("make");
    assert!(policy.offer(&call.action(), &who).is_none());
    let reason = policy.judge(&call.action(), &who).reason;
    assert!(reason.contains("a rule closes vendor"), "{reason}");
    let rule = "{ tool = 'bash', line = 'make', risk = 'critical' }";
    let place = place();
    let reader = RuleReader { place: &place };
    reader.flag(Ruling::Allow, rule).rules.into_iter().for_each(|rule| policy.add(rule));
    assert_eq!(ruling(&policy, "make", &who), Ruling::Allow);
    assert_eq!(ruling(&policy, "make; cat vendor/x", &who), Ruling::Deny);
}

#[test]
fn a_rule_that_holds_at_times_is_asked_about_where_words_do_not_tell() {
    let policy = flags(&[(Ruling::Deny, "{ tool = 'read_file', path = 'vendor', mode = 'agent' }")]);
    assert_eq!(ruling(&policy, "cat vendor/x", &auto()), Ruling::Deny);
    assert_eq!(ruling(&policy, "make", &auto()), Ruling::Ask);
    assert_eq!(ruling(&policy, "make", &Who { mode: Mode::Debug, ..auto() }), Ruling::Allow);
    let of_a_role = flags(&[(Ruling::Deny, "{ tool = '*', path = 'vendor', role = 'explore' }")]);
    assert_eq!(ruling(&of_a_role, "cat vendor/x", &auto()), Ruling::Allow);
    assert_eq!(ruling(&of_a_role, "cat vendor/x", &Who { role: "explore", ..auto() }), Ruling::Deny);
}

#[test]
fn only_a_rule_with_a_path_opens_a_path_to_commands() {
    let denied = (Ruling::Deny, "Read(secrets/**)");
    let policy = flags(&[denied, (Ruling::Allow, "bash(cat *)"), (Ruling::Allow, "bash")]);
    assert_eq!(ruling(&policy, "cat secrets/x", &who()), Ruling::Deny);
    let policy = flags(&[denied, (Ruling::Allow, "{ tool = 'read_file', path = 'secrets/open/**', priority = 5 }")]);
    assert_eq!(ruling(&policy, "cat secrets/open/x", &auto()), Ruling::Allow);
    assert_eq!(ruling(&policy, "cat secrets/open/x secrets/y", &auto()), Ruling::Deny);
    assert_eq!(ruling(&policy, "cat secrets/o*/x", &auto()), Ruling::Deny, "it may find others");
    // Flags outrank what the user wrote down, and a project opens nothing.
    let text = "[[rule]]\ntool = '*'\npath = 'secrets'\ndecision = 'deny'\npriority = 100\n";
    for (source, expected) in [(Source::CommandLine, Ruling::Allow), (Source::Project, Ruling::Deny)] {
        let mut rules = read(text, Source::User).rules;
        let allow = "[[rule]]\ntool = '*'\npath = 'secrets/open'\ndecision = 'allow'\n";
        rules.extend(read(allow, source).rules);
        assert_eq!(ruling(&Policy::new(place(), rules), "ls secrets/open", &auto()), expected, "{source:?}");
    }
}

#[test]
fn what_a_person_allowed_for_the_session_opens_nothing_that_a_rule_denies() {
    let mut policy = vendor();
    let call = Call::write("src/a");
    let grant = policy.offer(&call.action(), &who()).unwrap();
    policy.grant(&grant);
    assert_eq!(policy.judge(&call.action(), &who()).ruling, Ruling::Allow);
    assert_eq!(policy.judge(&Call::write("vendor/a").action(), &who()).ruling, Ruling::Deny);
    let call = Call::bash("cargo test one");
    let grant = policy.offer(&call.action(), &who()).unwrap();
    policy.grant(&grant);
    assert_eq!(ruling(&policy, "cargo test two", &who()), Ruling::Allow);
    assert_eq!(ruling(&policy, "cargo test vendor/y", &who()), Ruling::Deny);
}

#[test]
fn a_rule_that_asks_is_heard_wherever_a_line_names_its_path() {
    let policy = flags(&[(Ruling::Ask, "{ tool = ['read', 'edit'], path = 'vendor' }")]);
    for line in ["cat vendor/x", "echo x > vendor/x", "cp f vend*/", "vendor/run.sh", "gcc -ovendor/x a.c"] {
        assert_eq!(ruling(&policy, line, &auto()), Ruling::Ask, "{line}");
    }
    // Nobody can tell of these, and nobody is asked.
    assert_eq!(ruling(&policy, "make", &auto()), Ruling::Allow);
}

#[test]
fn an_explanation_says_what_is_closed_in_the_box() {
    let call = Call::bash("make");
    let explanation = vendor().explain(&call.action(), &auto());
    assert_eq!(explanation.closed, ["vendor"]);
    let nobodys = vendor().explain(&call.action(), &Who { confinement: Confinement::ChosenNone, ..auto() });
    assert!(nobodys.closed.is_empty());
}

#[test]
fn everything_that_is_closed_to_a_command_is_named_up_to_a_bound() {
    let denied = (Ruling::Deny, "{ tool = '*', path = ['vendor', 'secrets/**'] }");
    let policy = flags(&[denied, (Ruling::Deny, "Read(keys)"), (Ruling::Deny, "Read(*.pem)")]);
    let call = Call::bash("make");
    let explanation = policy.explain(&call.action(), &auto());
    assert_eq!(explanation.closed, ["vendor", "secrets/**", "keys", "*.pem"]);
    assert_eq!(some_of(&explanation.closed), "vendor, secrets/**, keys, *.pem");
    let nobodys = policy.explain(&call.action(), &Who { confinement: Confinement::ChosenNone, ..auto() });
    let reason = nobodys.verdict.reason;
    assert!(reason.contains("a rule closes vendor, secrets/**, keys, *.pem, nobody can tell"), "{reason}");
    let many: Vec<String> = (0..12).map(|number| format!("Read(d{number}/)")).collect();
    let many: Vec<(Ruling, &str)> = many.iter().map(|rule| (Ruling::Deny, rule.as_str())).collect();
    let words = some_of(&flags(&many).explain(&call.action(), &auto()).closed);
    assert!(words.contains("d0/, d1/") && words.ends_with(" and 4 more"), "{words}");
}

/// A spelling of a path: written, quoted, escaped, with patterns, from a variable, by way of other folders.
fn spelling() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("vendor".to_owned()),
        Just("'vendor'".to_owned()),
        Just("ven\"dor\"".to_owned()),
        Just("v\\endor".to_owned()),
        Just("vend*".to_owned()),
        Just("v?ndor".to_owned()),
        Just("[uv]endor".to_owned()),
        Just("{vendor,src}".to_owned()),
        Just("$v".to_owned()),
        Just("$(echo vendor)".to_owned()),
        Just("*".to_owned()),
    ];
    let before = prop_oneof![
        Just(String::new()),
        Just("./".to_owned()),
        Just("src/../".to_owned()),
        Just(format!("{WORKSPACE}/")),
        Just("../app/".to_owned()),
        Just("$PWD/".to_owned()),
        Just("link/".to_owned()),
    ];
    (before, name, prop_oneof![Just(""), Just("/"), Just("/x"), Just("/a/b")])
        .prop_map(|(a, b, c)| format!("{a}{b}{c}"))
}

fn frame() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "cat PATH",
        "cat <PATH",
        "echo x >PATH",
        "x=1 tar cf - PATH",
        "sh -c \"cat PATH\"",
        "cd PATH && cat x",
        "for f in PATH; do cat $f; done",
        "python3 -c \"open('PATH')\"",
        "gcc -oPATH a.c",
        "cat a --file=PATH",
        "grep -r x PATH | head",
        "v=vendor; cat PATH",
    ])
}

proptest! {
    /// Whatever a line names, it runs unasked only where the box does not have what is closed.
    #[test]
    fn no_spelling_of_a_denied_path_is_allowed_without_the_box(path in spelling(), frame in frame()) {
        let line = frame.replace("PATH", &path);
        let policy = vendor();
        for confinement in [Confinement::ChosenNone, Confinement::BoxedInPart, Confinement::Unavailable] {
            prop_assert_ne!(ruling(&policy, &line, &Who { confinement, ..auto() }), Ruling::Allow, "{}", line);
        }
        let closed = policy.closed();
        prop_assert!(closed.keeps_from_commands(Path::new("/srv/app/vendor/x")));
    }
}
