//! What the program answers without a store, on real files.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use neco_app::StorelessApp;
use neco_config::Env;
use neco_proto::app::commands::{ExpandCommand, ListCommands, ListHooks};
use neco_proto::app::doctor::{Examine, Health, ShowSandbox};
use neco_proto::app::files::{ListFiles, ShowBranch};
use neco_proto::app::keys::{KeyPlace, ListKeys, NewKey, RemoveKeys, SetKey};
use neco_proto::app::models::{ListModels, ListServed, OfferModels, ProviderStanding, Readiness, ShowModel, TestModel};
use neco_proto::app::project::{Project, ShowProject};
use neco_proto::app::rules::{AddRule, ExplainCall, GivenRules, ListKeptRules, ListRules, RemoveRules, TestRules};
use neco_proto::app::sessions::ListSessions;
use neco_proto::app::settings::{
    CheckSettings, FindSettings, HoldsFrom, ListSettings, NewSetting, PreviewSettings, SetSettings,
};
use neco_proto::app::trust::{DecideTrust, ForgetTrust, ListTrust, ShowTrust, TrustState};
use neco_proto::app::{App, AppError, Caller, Request, Scope, Trouble};
use neco_proto::{ApprovalMode, RuleSource, Ruling};
use serde_json::json;
use tempfile::TempDir;

/// A home with settings, and a folder that is worked in.
struct House {
    dir: TempDir,
    app: StorelessApp,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("project")).unwrap();
        fs::create_dir_all(dir.path().join("home/policy")).unwrap();
        let home = dir.path().join("home").display().to_string();
        let path = std::env::var("PATH").unwrap();
        let env = Env::for_test([("NECO_HOME", home.as_str()), ("PATH", path.as_str())], dir.path());
        Self { app: StorelessApp::new(env, Vec::new()), dir }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn folder(&self) -> String {
        self.dir.path().join("project").canonicalize().unwrap().display().to_string()
    }

    async fn asks<R: Request>(&self, request: R) -> Result<R::Answer, AppError> {
        (&self.app as &dyn App).ask(&Caller::person(), &request).await
    }
}

#[tokio::test]
async fn what_needs_the_store_says_so_and_who_may_only_look_changes_nothing() {
    let house = House::new();
    let error = house.asks(ListSessions::default()).await.unwrap_err();
    assert!(error.trouble == Trouble::Failed && error.message.contains("needs the store"), "{error}");
    let reader = Caller { scope: Scope::Read, ..Caller::person() };
    let app: &dyn App = &house.app;
    let add = AddRule { folder: house.folder(), rule: "allow grep".to_owned() };
    assert_eq!(app.ask(&reader, &add).await.unwrap_err().trouble, Trouble::NotAllowed);
    assert!(house.asks(ListKeptRules {}).await.unwrap().rules.is_empty());
    let any_file = TestRules { file: "/etc/passwd".to_owned(), ..TestRules::default() };
    assert_eq!(app.ask(&reader, &any_file).await.unwrap_err().trouble, Trouble::NotAllowed);
    let stranger = Caller { tenant: Some("somebody".to_owned()), ..Caller::person() };
    assert_eq!(app.ask(&stranger, &ListKeptRules {}).await.unwrap_err().trouble, Trouble::NotAllowed);
    for nowhere in ["src", ""] {
        let nowhere = AddRule { folder: nowhere.to_owned(), ..add.clone() };
        assert_eq!(app.ask(&Caller::person(), &nowhere).await.unwrap_err().trouble, Trouble::Invalid);
    }
    assert!(house.asks(ListKeptRules {}).await.unwrap().rules.is_empty());
}

#[tokio::test]
async fn what_a_folder_brings_along_is_listed_and_used_once_it_is_trusted() {
    let house = House::new();
    house.write("project/.neco/commands/ship.md", "Release $1 now.\n");
    house.write("project/src/a.rs", "");
    let folder = house.folder();
    let names = house.asks(ListFiles { folder: folder.clone() }).await.unwrap().names;
    assert!(names.contains(&"src/a.rs".to_owned()), "{names:?}");
    assert_eq!(house.asks(ShowBranch { folder: folder.clone() }).await.unwrap().name, None);
    let list = async || house.asks(ListCommands { folder: house.folder() }).await.unwrap().commands;
    let ship = ExpandCommand { folder: folder.clone(), name: "ship".to_owned(), argument: "2.0".to_owned() };
    assert!(list().await.iter().any(|command| command.name == "ship" && !command.trusted));
    assert!(list().await.iter().any(|command| command.help == "Release $1 now. · of this folder"));
    assert_eq!(house.asks(ship.clone()).await.unwrap_err().trouble, Trouble::NotAllowed);
    let seen = house.asks(ShowTrust { folder: folder.clone() }).await.unwrap().seen;
    house.asks(DecideTrust { folder: folder.clone(), seen, trusted: true, only: None }).await.unwrap();
    assert!(list().await.iter().all(|command| command.trusted));
    assert_eq!(house.asks(ship).await.unwrap().text.trim(), "Release 2.0 now.");
    assert!(house.asks(ListHooks { folder }).await.unwrap().hooks.is_empty());
}

#[tokio::test]
async fn what_agents_know_in_a_folder_is_told_before_they_work_there() {
    let house = House::new();
    let folder = house.folder();
    assert_eq!(house.asks(ShowProject { folder: folder.clone() }).await.unwrap(), Project::default());
    house.write("project/AGENTS.md", "Be brief.\n");
    house.write("project/.neco/rules/tests.md", "Test it.\n");
    std::os::unix::fs::symlink("AGENTS.md", Path::new(&folder).join("CLAUDE.md")).unwrap();
    let known = house.asks(ShowProject { folder: folder.clone() }).await.unwrap();
    assert_eq!(known.rules, ["AGENTS.md", ".neco/rules/tests.md"], "what leads to another says the same");
    assert_eq!((known.uncommitted, known.memories), (None, 0), "there is no repository");
    house.write("home/config.toml", "[context]\nrules = false\n");
    assert_eq!(house.asks(ShowProject { folder }).await.unwrap(), Project::default(), "nobody is told of them");
}

#[tokio::test]
async fn rules_are_listed_explained_and_tested() {
    let house = House::new();
    house.write("home/policy/mine.toml", "[[rule]]\ntool = 'bash'\ncommand = 'git push'\ndecision = 'deny'\n");
    house.write("home/config.toml", "nonsense = 1\n");
    let given = GivenRules { allow: vec!["bash(make *)".to_owned()], ..GivenRules::default() };
    let list = house.asks(ListRules { folder: house.folder(), given: given.clone() }).await.unwrap();
    assert_eq!((list.rules[0].source, list.rules[0].decision), (RuleSource::CommandLine, Ruling::Allow));
    assert!(list.rules.iter().any(|rule| rule.place.ends_with("mine.toml:1:1")));
    assert!(list.warnings.iter().any(|warning| warning.contains("nonsense")), "{:?}", list.warnings);

    let explain = |arguments: &str| ExplainCall {
        folder: house.folder(),
        given: given.clone(),
        tool: "Bash".to_owned(),
        arguments: arguments.to_owned(),
        ..ExplainCall::default()
    };
    let denied = house.asks(explain("make && git push")).await.unwrap();
    assert_eq!((denied.decision, denied.tool.as_str(), denied.commands.len()), (Ruling::Deny, "bash", 2));
    assert_eq!(house.asks(explain("make all")).await.unwrap().decision, Ruling::Allow);
    let broken = house.asks(explain("{\"command\": ")).await.unwrap_err();
    // What was found on the way is told with the failure, too.
    assert!(broken.trouble == Trouble::Invalid && broken.warnings.len() == 1, "{broken:?}");

    house.write("cases.toml", "[[case]]\ntool = 'bash'\ncommand = 'git push'\nexpect = 'allow'\n");
    let file = house.dir.path().join("cases.toml").display().to_string();
    let tested = house.asks(TestRules { folder: house.folder(), given, file }).await.unwrap();
    assert_eq!((tested.cases[0].ok, tested.cases[0].decision), (false, Ruling::Deny));
}

#[tokio::test]
async fn where_the_sandbox_is_read_only_an_edit_is_asked_about_in_auto_too() {
    let house = House::new();
    let explain = || ExplainCall {
        folder: house.folder(),
        tool: "write_file".to_owned(),
        arguments: "{\"path\": \"a.txt\", \"content\": \"x\"}".to_owned(),
        approval: Some(ApprovalMode::Auto),
        ..ExplainCall::default()
    };
    assert_eq!(house.asks(explain()).await.unwrap().decision, Ruling::Allow);
    house.write("home/config.toml", "[sandbox]\nlevel = \"read_only\"\n");
    let asked = house.asks(explain()).await.unwrap();
    assert_eq!((asked.decision, asked.session_rule), (Ruling::Ask, None));
    assert_eq!(asked.reason, "it changes a file, and the sandbox is read-only");
}

#[tokio::test]
async fn a_rule_is_kept_and_taken_back() {
    let house = House::new();
    let add = |rule: &str| AddRule { folder: house.folder(), rule: rule.to_owned() };
    for wrong in ["allow", "sing bash", "deny bsh", "allow bash(a * b)"] {
        let error = house.asks(add(wrong)).await.unwrap_err();
        assert_eq!(error.trouble, Trouble::Invalid, "{wrong}: {error}");
    }
    house.asks(add("allow bash(cargo test *)")).await.unwrap();
    let kept = house.asks(ListKeptRules {}).await.unwrap();
    assert_eq!(kept.rules.len(), 1);
    assert!(kept.rules[0].text.contains(&house.folder()), "{kept:?}");
    let list = house.asks(ListRules { folder: house.folder(), ..ListRules::default() }).await.unwrap();
    assert!(list.rules.iter().any(|rule| rule.place.starts_with(&kept.file)), "{list:?}");
    let removed = house.asks(RemoveRules { rules: vec![kept.rules[0].text.clone()] }).await.unwrap();
    assert_eq!(removed.rules, kept.rules);
    assert!(house.asks(RemoveRules { rules: vec![kept.rules[0].text.clone()] }).await.is_err());
    let file = house.dir.path().join("home/policy/always.toml");
    assert!(!fs::read_to_string(Path::new(&file)).unwrap().contains("cargo"));
}

#[tokio::test]
async fn models_are_listed_shown_and_tested() {
    let house = House::new();
    let script = house.dir.path().join("script.json").display().to_string();
    house.write("script.json", "{\"turns\": [{\"say\": \"Here I am.\"}]}");
    house.write(
        "home/config.toml",
        &format!(
            "model = \"both\"\n[model_providers.play]\ntype = \"scripted\"\nscript = \"{script}\"\n\
             [model_groups.both]\nmodels = [\"play/a\", \"openai/gpt-5\"]\nstrategy = \"first\"\n"
        ),
    );
    let list = house.asks(ListModels { folder: house.folder(), ..ListModels::default() }).await.unwrap();
    assert_eq!(list.groups["both"].models, ["play/a", "openai/gpt-5"]);
    assert!(list.hidden > 0 && list.providers.iter().all(|provider| provider.usable), "{list:?}");
    let default: Vec<&str> =
        list.models.iter().filter(|model| model.default).map(|model| model.name.as_str()).collect();
    assert_eq!(default, ["play/a"]);
    let all = house.asks(ListModels { folder: house.folder(), all: true, own_servers: true }).await.unwrap();
    let openai = all.providers.iter().find(|provider| provider.name == "openai").unwrap();
    assert!(matches!(&openai.standing, ProviderStanding::KeyMissing { variables } if !variables.is_empty()));

    let shown = house.asks(ShowModel { folder: house.folder(), name: None }).await.unwrap();
    assert_eq!((shown.name.as_str(), shown.models.len()), ("both", 2));
    let states: Vec<Readiness> = shown.models.iter().flat_map(|model| &model.states).map(|state| state.state).collect();
    assert_eq!(states, [Readiness::Ready, Readiness::Unusable]);
    let missing = ShowModel { folder: house.folder(), name: Some("opnai/gpt-5".to_owned()) };
    assert!(house.asks(missing).await.unwrap_err().message.contains("did you mean openai?"));

    let test = |number| TestModel { folder: house.folder(), name: "both".to_owned(), number, base: None };
    let tested = house.asks(test(0)).await.unwrap();
    assert!(tested.name == "play/a" && tested.duration_ms.is_some(), "{tested:?}");
    let keyless = house.asks(test(1)).await.unwrap();
    assert!(!keyless.ok && keyless.problem.is_some() && keyless.duration_ms.is_none(), "{keyless:?}");
    assert_eq!(house.asks(test(2)).await.unwrap_err().trouble, Trouble::NotFound);
}

#[tokio::test]
async fn settings_are_told_with_where_they_come_from_and_their_files_when_one_is_broken() {
    let house = House::new();
    house.write("home/config.toml", "mode = \"plan\"\n");
    let list = house.asks(ListSettings { folder: house.folder() }).await.unwrap();
    let mode = list.settings.iter().find(|setting| setting.key == "mode").unwrap();
    assert_eq!((mode.value.as_str(), mode.layer.as_str()), ("\"plan\"", "user"));
    assert!(mode.origins[0].contains("config.toml:1"), "{mode:?}");
    let files = house.asks(FindSettings { folder: house.folder() }).await.unwrap();
    assert!(files.files.iter().any(|file| file.exists && file.path == files.own), "{files:?}");
    house.write("home/config.toml", "mode = plan\n");
    let list = house.asks(ListSettings { folder: house.folder() }).await.unwrap();
    assert!(list.problems[0].words.contains("config.toml:1:") && list.problems[0].file == Some(files.own.clone()));
    assert!(list.settings.iter().any(|row| row.key == "mode" && row.layer == "built-in"), "what is left is told");
    let broken = house.asks(FindSettings { folder: house.folder() }).await.unwrap();
    assert!(broken.problems.len() == 1 && broken.files == files.files && broken.own == files.own);
    let hooks = house.asks(ListHooks { folder: house.folder() }).await.unwrap();
    let sandbox = house.asks(ShowSandbox { folder: house.folder(), ..ShowSandbox::default() }).await.unwrap();
    assert_eq!((hooks.problems, sandbox.problems), (broken.problems.clone(), broken.problems));
}

#[tokio::test]
async fn tokens_in_the_command_line_of_a_server_are_not_listed() {
    let house = House::new();
    let server = "command = \"npx -y server --api-key sesame\"\nargs = [\"--token\", \"sesame\", \"--port\", \"80\"]\n";
    house.write("home/config.toml", &format!("[mcp_servers.x]\n{server}"));
    let list = house.asks(ListSettings { folder: house.folder() }).await.unwrap();
    let value = |key: &str| list.settings.iter().find(|row| row.key == key).map(|row| row.value.clone());
    assert_eq!(value("mcp_servers.x.args").as_deref(), Some("[\"--token\", \"***\", \"--port\", \"80\"]"));
    assert_eq!(value("mcp_servers.x.command").as_deref(), Some("\"npx -y server --api-key ***\""));
}

#[tokio::test]
async fn settings_are_read_as_they_are_written_and_one_that_is_wrong_is_mended_by_another() {
    let house = House::new();
    house.write("home/config.toml", "# mine\nmode = \"plam\"\n[tui]\nvi = 3\n");
    let check = |written: &str| CheckSettings { folder: house.folder(), written: vec![written.to_owned()] };
    for (written, value, loosens) in [
        ("tui.theme=16", json!("16"), false),
        ("agent.max_turns=16", json!(16), false),
        ("tools.only=[\"grep\"]", json!(["grep"]), false),
        ("sandbox.level=read_only", json!("read_only"), false),
        ("sandbox.level=full", json!("full"), true),
        ("approval=auto", json!("auto"), true),
        ("models.\"a/b?c=d\".max_output = 5", json!(5), false),
    ] {
        let checked = house.asks(check(written)).await.unwrap();
        assert_eq!((&checked.settings[0].value, checked.loosens), (&value, loosens), "{written}");
    }
    let checked = house.asks(check("models.'a/b?c=d'.max_output=5")).await.unwrap();
    assert_eq!(checked.settings[0].key, "models.'a/b?c=d'.max_output");
    let refused = house.asks(check("mode=plam")).await.unwrap_err();
    assert!(refused.message.starts_with("mode: expected one of"), "{refused:?}");
    assert!(house.asks(check("mod=plan")).await.unwrap_err().message.contains("did you mean `mode`?"));
    let new = NewSetting { key: "mode".into(), value: json!("plan") };
    let written = house.asks(SetSettings { folder: house.folder(), settings: vec![new] }).await.unwrap();
    assert_eq!(written.from, HoldsFrom::Session);
    let list = house.asks(ListSettings { folder: house.folder() }).await.unwrap();
    assert!(list.problems.len() == 1 && list.problems[0].words.contains("tui.vi"), "{:?}", list.problems);
    assert!(list.unset.iter().any(|row| row.key == "agent.max_cost" && !row.meaning.is_empty()), "{:?}", list.unset);
}

#[tokio::test]
async fn what_would_be_written_is_shown_before_without_secrets() {
    let house = House::new();
    let file = "# mine\nmode = \"plan\"\n\n[model_providers.a]\nbase = \"http://me:pw@host/v1\"\napi_key = \"sk-old-secret\"\n";
    house.write("home/config.toml", file);
    let new = |key: &str, value| NewSetting { key: key.to_owned(), value };
    let preview =
        async |settings: Vec<NewSetting>| house.asks(PreviewSettings { folder: house.folder(), settings }).await;
    let shown = preview(vec![new("mode", json!("agent")), new("tui.theme", json!("light"))]).await.unwrap();
    assert!(shown.diff.starts_with("@@ ") && shown.diff.contains("-mode = \"plan\"\n+mode = \"agent\"\n"), "{shown:?}");
    assert!(shown.diff.contains("+[tui]\n+theme = \"light\"\n") && shown.exists && !shown.hides_change, "{shown:?}");
    assert!(!shown.diff.contains("sk-old") && !shown.diff.contains("pw@"), "{shown:?}");
    let secret = preview(vec![new("model_providers.a.api_key", json!("sk-new-secret"))]).await.unwrap();
    assert_eq!((secret.diff.as_str(), secret.hides_change), ("", true));
    assert_eq!(preview(vec![new("mode", json!("plan"))]).await.unwrap().diff, "");
    assert!(preview(vec![new("mode", json!("plam"))]).await.is_err());
    assert_eq!(fs::read_to_string(house.dir.path().join("home/config.toml")).unwrap(), file, "nothing is written");
    let reader = Caller { scope: Scope::Work, ..Caller::person() };
    let request = PreviewSettings { folder: house.folder(), settings: Vec::new() };
    let app: &dyn App = &house.app;
    assert_eq!(app.ask(&reader, &request).await.unwrap_err().trouble, Trouble::NotAllowed);
}

#[tokio::test]
async fn the_doctor_looks_at_everything_and_works_where_the_store_does_not() {
    let house = House::new();
    let examined = house.asks(Examine { folder: house.folder() }).await.unwrap();
    for subject in ["config", "model", "store", "checkpoints", "shell", "sandbox", "rules", "trust"] {
        assert!(examined.findings.iter().any(|finding| finding.subject == subject), "{subject}: {examined:?}");
    }
    let failed = |subject: &str, examined: &neco_proto::app::doctor::Examined| {
        let of_it = |finding: &&neco_proto::app::doctor::Finding| finding.subject == subject;
        examined.findings.iter().filter(of_it).any(|finding| finding.health == Health::Fail && finding.fix.is_some())
    };
    assert!(!failed("store", &examined) && !failed("config", &examined), "{examined:?}");
    fs::remove_file(house.dir.path().join("home/data/neco.db")).unwrap();
    fs::create_dir(house.dir.path().join("home/data/neco.db")).unwrap();
    house.write("home/config.toml", "mode = plan\n");
    let sick = house.asks(Examine { folder: house.folder() }).await.unwrap();
    assert!(failed("store", &sick) && failed("config", &sick), "{sick:?}");
}

#[tokio::test]
async fn keys_go_in_and_never_come_back() {
    const KEY: &str = "sk-first-secret-0123456789abcd";
    let house = House::new();
    let set = |provider: &str, key: Option<&str>| SetKey {
        folder: house.folder(),
        provider: provider.to_owned(),
        key: key.map(|key| NewKey(key.to_owned())),
        ..SetKey::default()
    };
    assert_eq!(house.asks(set("opnai", None)).await.unwrap_err().trouble, Trouble::Invalid);
    assert_eq!(house.asks(set("openai", Some("a b"))).await.unwrap_err().trouble, Trouble::Invalid);
    assert_eq!(house.asks(set("openai", None)).await.unwrap().keys, 0);
    let kept = house.asks(set("openai", Some(KEY))).await.unwrap();
    assert_eq!((kept.keys, kept.new, kept.hidden_by), (1, true, None));
    assert!(fs::read_to_string(&kept.file).unwrap().contains(KEY));
    let list = house.asks(ListKeys { folder: house.folder() }).await.unwrap();
    assert_eq!(list.keys[0].source, KeyPlace::File);
    assert_eq!((list.keys[0].keys, list.keys[0].used), (1, true));
    assert!(!format!("{list:?} {:?}", set("openai", Some(KEY))).contains(KEY), "{list:?}");
    let remove = |number: Option<&str>| RemoveKeys {
        folder: house.folder(),
        provider: "openai".to_owned(),
        number: number.map(str::to_owned),
    };
    assert_eq!(house.asks(remove(Some("2"))).await.unwrap_err().trouble, Trouble::Invalid);
    assert_eq!(house.asks(remove(None)).await.unwrap().keys, 1);
    assert_eq!(house.asks(remove(None)).await.unwrap_err().trouble, Trouble::Failed);
}

#[tokio::test]
async fn a_first_model_is_offered_looked_for_and_kept() {
    let house = House::new();
    let offers = house.asks(OfferModels { folder: house.folder() }).await.unwrap();
    assert_eq!((offers.providers[0].name.as_str(), offers.providers[0].sources.len()), ("anthropic", 0));
    let served =
        |base: &str| ListServed { folder: house.folder(), base: Some(base.to_owned()), ..ListServed::default() };
    assert_eq!(house.asks(served("localhost:1")).await.unwrap_err().trouble, Trouble::Invalid);
    // Nobody listens there.
    let base = "http://127.0.0.1:1/v1";
    let found = house.asks(served(base)).await.unwrap();
    assert_eq!((found.provider.as_str(), found.silent, found.models.len()), ("localhost-1", true, 0));
    let test = TestModel { folder: house.folder(), name: "localhost-1/m".into(), number: 0, base: Some(base.into()) };
    assert!(house.asks(test).await.unwrap().code.is_some());
    let set = |key: &str, value: serde_json::Value| SetSettings {
        folder: house.folder(),
        settings: vec![NewSetting { key: key.to_owned(), value }],
    };
    assert_eq!(house.asks(set("mode", 3.into())).await.unwrap_err().trouble, Trouble::Invalid);
    house.asks(set("model_providers.localhost-1.base", base.into())).await.unwrap();
    house.asks(set("model_providers.localhost-1.type", "openai".into())).await.unwrap();
    house.asks(set("model", "localhost-1/m".into())).await.unwrap();
    let settings = house.asks(ListSettings { folder: house.folder() }).await.unwrap().settings;
    assert!(settings.iter().any(|row| row.key == "model" && row.value == "\"localhost-1/m\""), "{settings:?}");
    let other = house.asks(served("http://127.0.0.1:2/v1")).await.unwrap();
    assert_eq!(other.provider, "localhost-2");
}

#[tokio::test]
async fn a_folder_is_trusted_as_it_was_seen_and_forgotten() {
    let house = House::new();
    let show = || ShowTrust { folder: house.folder() };
    assert!(house.asks(show()).await.unwrap().described.is_empty());
    house.write("project/.neco/policy/p.toml", "[[rule]]\ntool = 'bash'\ndecision = 'deny'\n");
    let seen = house.asks(show()).await.unwrap();
    assert!(seen.described.contains("p.toml") && !seen.all_on, "{seen:?}");
    house.write("project/.neco/policy/p.toml", "[[rule]]\ntool = 'bash'\ndecision = 'allow'\n");
    let decide = |seen: String| DecideTrust { folder: house.folder(), seen, trusted: true, only: None };
    // What was changed after a person saw it is not what they trust.
    assert!(house.asks(decide(seen.seen)).await.unwrap_err().message.contains("in the meantime"));
    let seen = house.asks(show()).await.unwrap();
    assert!(house.asks(decide(seen.seen)).await.unwrap().all_on);
    house.write("project/.neco/commands/look.md", "Look: !`git status`\n");
    let seen = house.asks(show()).await.unwrap();
    assert_eq!(seen.parts.len(), 2, "{seen:?}");
    assert!(seen.parts[1].contains("command /look, which runs `git status`"), "{seen:?}");
    let only = DecideTrust { only: Some(vec![1]), ..decide(seen.seen) };
    let seen = house.asks(only).await.unwrap();
    assert!(!seen.all_on && seen.described.contains("(you left it off)"), "{seen:?}");
    let list = house.asks(ListTrust {}).await.unwrap();
    assert_eq!((list.folders.len(), list.folders[0].state), (1, TrustState::Trusted));
    let forget = || ForgetTrust { folder: house.folder() };
    assert!(house.asks(forget()).await.unwrap().known);
    assert!(!house.asks(forget()).await.unwrap().known);
}
