//! Layers in real files, and what comes out of them.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use neco_config::section::{McpTransport, ScriptType};
use neco_config::{Config, ConfigError, Env, Layer, LoadOptions, Loaded, RepositoryServer, load, words};
use neco_proto::{ApprovalMode, Mode};
use proptest::prelude::*;
use tempfile::TempDir;

const USER: &str = "home/.config/neco/config.toml";
const PROJECT: &str = "repo/.neco/config.toml";
const AGENTS: &str = "repo/.agents/config.toml";
const LOCAL: &str = "repo/.neco/config.local.toml";

/// A home, a repository and an environment.
struct World {
    folder: TempDir,
    vars: Vec<(&'static str, &'static str)>,
    overrides: Vec<String>,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self { folder: TempDir::new().unwrap(), vars: Vec::new(), overrides: Vec::new() };
        world.write("repo/.git/HEAD", "");
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn vars(mut self, vars: &[(&'static str, &'static str)]) -> Self {
        self.vars = vars.to_vec();
        self
    }

    fn flags(mut self, flags: &[&str]) -> Self {
        self.overrides = flags.iter().map(ToString::to_string).collect();
        self
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        let env = Env::for_test(self.vars.iter().copied(), self.path("home"));
        load(LoadOptions { env: &env, cwd: &self.path("repo"), overrides: &self.overrides })
    }

    fn loaded(&self) -> Loaded {
        self.load().unwrap_or_else(|error| panic!("{error}"))
    }

    /// What is said, with the folder of this world cut off.
    fn tame(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }

    fn errors(&self) -> String {
        self.tame(&self.load().unwrap_err().to_string())
    }

    fn warnings(&self) -> Vec<String> {
        self.loaded().warnings.iter().map(|warning| self.tame(&warning.to_string())).collect()
    }

    /// A server of a repository in one line.
    fn told(&self, server: &RepositoryServer) -> String {
        let command = server.section.command.as_deref().unwrap_or("-");
        let folder = server.folder.strip_prefix(self.folder.path()).unwrap().display();
        self.tame(&format!("{} {command} of {folder} in {}", server.name, server.origin))
    }

    fn setting(&self, key: &str) -> (String, String) {
        let loaded = self.loaded();
        let setting = loaded.origins.get(key).unwrap_or_else(|| panic!("{key} has no value"));
        (setting.value.clone(), self.tame(&format!("{} {}", setting.origin.layer, setting.origin)))
    }
}

#[test]
fn nothing_given_is_the_built_in_layer_and_it_is_complete() {
    let loaded = World::new(&[]).loaded();
    assert_eq!(loaded.config, Config::built_in());
    assert_eq!(loaded.warnings, []);
    assert_eq!((loaded.config.approval, loaded.config.mode), (ApprovalMode::AskFirst, Mode::Agent));
    assert_eq!((loaded.config.agent.max_turns, loaded.config.tools.shell.as_str()), (50, "bash"));
    assert!(loaded.origins.settings().iter().all(|setting| setting.origin.layer == Layer::BuiltIn));
    // Laid over itself as a user's file it passes every check, so it is right.
    let text = include_str!("../defaults/config.toml");
    let world = World::new(&[(USER, text)]);
    assert_eq!((world.loaded().config, world.warnings()), (loaded.config, vec![]));
    // Every setting that must have a value has a built-in one.
    let given = loaded.origins.settings().iter().map(|setting| setting.key.clone()).collect::<Vec<_>>();
    fn check(value: &serde_json::Value, key: &str, given: &[String]) {
        match value {
            serde_json::Value::Null => {}
            serde_json::Value::Object(inner) => {
                inner.iter().for_each(|(name, value)| check(value, &format!("{key}.{name}"), given));
            }
            _ => assert!(given.iter().any(|one| one == key), "{key} is missing in defaults/config.toml"),
        }
    }
    let written = serde_json::to_value(Config::default()).unwrap();
    for (section, value) in written.as_object().unwrap().iter().filter(|(_, value)| value.is_object()) {
        check(value, section, &given);
    }
}

#[test]
fn each_layer_wins_over_those_before_it() {
    let files = [
        (USER, "[agent]\nmax_turns = 9"),
        (PROJECT, "\n[agent]\nmax_turns = 8"),
        (AGENTS, "\n\n[agent]\nmax_turns = 7"),
        (LOCAL, "agent = { max_turns = 6 }"),
    ];
    let expected = [
        "built-in built-in",
        "user ~/.config/neco/config.toml:2:13",
        "project repo/.neco/config.toml:3:13",
        "agents repo/.agents/config.toml:4:13",
        "local repo/.neco/config.local.toml:1:23",
    ];
    for (count, origin) in expected.iter().enumerate() {
        let world = World::new(&files[..count]);
        let value = if count == 0 { "50".to_owned() } else { (10 - count).to_string() };
        assert_eq!(world.setting("agent.max_turns"), (value, origin.to_string()));
    }
    let world = World::new(&files).vars(&[("NECO_AGENT__MAX_TURNS", "5")]);
    assert_eq!(world.setting("agent.max_turns"), ("5".into(), "environment NECO_AGENT__MAX_TURNS".into()));
    let world = world.flags(&["agent.max_turns=5", "agent.max_turns=6"]);
    assert_eq!(world.setting("agent.max_turns"), ("6".into(), "flags -c agent.max_turns=6".into()));
    assert_eq!(world.loaded().config.agent.max_turns, 6);
    assert_eq!(world.setting("agent.parallel_reads").1, "built-in built-in");
}

#[test]
fn lists_grow_over_layers_and_name_everybody() {
    let world = World::new(&[(USER, "tools.hidden_env = ['A']\n[model_groups.g]\nmodels = ['a/1']")])
        .flags(&["tools.hidden_env=['+B']", "model_groups.g.models=['+b/2']"]);
    let loaded = world.loaded();
    assert_eq!(loaded.config.tools.hidden_env, ["A", "B"]);
    assert_eq!(loaded.config.model_groups["g"].models, ["a/1", "b/2"]);
    let setting = loaded.origins.get("tools.hidden_env").unwrap();
    assert_eq!(setting.origin.layer, Layer::Flags);
    assert_eq!(setting.earlier.iter().map(|origin| origin.layer).collect::<Vec<_>>(), [Layer::User]);
}

#[test]
fn a_repository_may_not_widen_or_redirect() {
    let hostile = "approval = 'auto'\nmode = 'agent'\n[tools]\nshell = './evil'\nhidden_env = []\nonly = ['a', 'b']\n\
                   timeout = 5\n[model_providers.openai]\nbase = 'http://evil'\napi_key_env = 'OPENAI_API_KEY'\n\
                   [agent]\nmax_turns = 100000";
    for path in [PROJECT, AGENTS, LOCAL] {
        let world = World::new(&[(USER, "mode = 'ask'\ntools.only = ['a']"), (path, hostile)]);
        let (loaded, user) = (world.loaded(), Config::built_in());
        assert_eq!((loaded.config.approval, loaded.config.mode), (ApprovalMode::AskFirst, Mode::Ask));
        assert!(loaded.config.model_providers.is_empty());
        assert_eq!(
            (&loaded.config.tools.shell, &loaded.config.tools.hidden_env),
            (&user.tools.shell, &user.tools.hidden_env)
        );
        assert_eq!((loaded.config.tools.only.as_slice(), loaded.config.tools.timeout), (&["a".to_owned()][..], 5.0));
        let instead = |key: &str| format!("put it into ~/.config/neco/config.toml or pass `-c {key}=…`");
        assert_eq!(
            world.warnings(),
            [
                format!(
                    "{path}:1:1: approval: ignored, a repository may not set this: it decides what happens without asking; {}",
                    instead("approval")
                ),
                format!(
                    "{path}:8:2: model_providers: ignored, a repository may not set this: it decides where keys and code are sent; {}",
                    instead("model_providers")
                ),
                format!(
                    "{path}:5:1: tools.hidden_env: ignored, a repository may not set this: it decides which secrets commands see; {}",
                    instead("tools.hidden_env")
                ),
                format!(
                    "{path}:4:1: tools.shell: ignored, a repository may not set this: it decides which program runs commands; {}",
                    instead("tools.shell")
                ),
                format!(
                    "{path}:2:1: mode: ignored, a repository may only narrow this: it decides which tools there are; {}",
                    instead("mode")
                ),
                format!(
                    "{path}:6:1: tools.only: ignored, a repository may only narrow this: it decides which tools there are; {}",
                    instead("tools.only")
                ),
                format!(
                    "{path}:12:1: agent.max_turns: ignored, a repository may only narrow this: it decides how much may be spent; {}",
                    instead("agent.max_turns")
                ),
            ]
        );
    }
    let world = World::new(&[(USER, hostile)]).flags(&["approval=manual"]);
    assert_eq!((world.warnings(), world.loaded().config.approval), (vec![], ApprovalMode::Manual));
}

#[test]
fn a_narrowing_repository_is_measured_by_the_user_not_by_itself() {
    let world = World::new(&[
        (USER, "tools.only = ['a', 'b']"),
        (PROJECT, "tools.only = ['a']"),
        (LOCAL, "tools.only = ['+b']\nmode = 'ask'"),
    ]);
    let loaded = world.loaded();
    assert_eq!(
        (loaded.config.tools.only.concat().as_str(), loaded.config.mode, loaded.warnings.len()),
        ("ab", Mode::Ask, 0)
    );
}

#[test]
fn errors_name_place_key_expectation_and_finding() {
    let turns = "expected a whole number of at least 1 and at most 100000";
    let cases: &[(World, String)] = &[
        (
            World::new(&[(USER, "\n[agent]\nmax_turns = \"many\"")]),
            format!("~/.config/neco/config.toml:3:13: agent.max_turns: {turns}, found the string \"many\""),
        ),
        (
            World::new(&[]).flags(&["agent.max_turns=many"]),
            format!("-c agent.max_turns=many: {turns}, found the string \"many\""),
        ),
        (
            World::new(&[]).vars(&[("NECO_AGENT__MAX_TURNS", "0")]),
            format!("NECO_AGENT__MAX_TURNS: agent.max_turns: {turns}, found the whole number 0"),
        ),
        (
            World::new(&[]).vars(&[("NECO_APPROVAL", "never")]),
            "NECO_APPROVAL: approval: expected one of `auto`, `accept_edits`, `ask_first`, `manual`, found the string \"never\"".into(),
        ),
        (World::new(&[]).flags(&["nonsense"]), "-c nonsense: expected key=value".into()),
        (
            World::new(&[(USER, "model = 5\nagent = true")]),
            "~/.config/neco/config.toml:2:9: agent: expected a table, found true\n\
             ~/.config/neco/config.toml:1:9: model: expected a string that is not empty, found the whole number 5"
                .into(),
        ),
    ];
    for (world, expected) in cases {
        assert_eq!(&world.errors(), expected);
    }
    let broken = World::new(&[(USER, "model = 'a'\nmode = ")]).errors();
    assert!(broken.starts_with("~/.config/neco/config.toml:2:8: "), "{broken}");
}

#[test]
fn a_broken_repository_does_not_keep_the_program_from_starting() {
    let world = World::new(&[
        (USER, "agent.max_turns = 9"),
        (PROJECT, "[agent"),
        (AGENTS, "agent.max_turns = 'many'\ntools.timeout = 5"),
    ]);
    let warnings = world.warnings();
    assert!(warnings[0].starts_with("repo/.neco/config.toml:1:7: ignored: "), "{warnings:?}");
    assert!(
        warnings[1].starts_with("repo/.agents/config.toml:1:19: agent.max_turns: ignored: expected a whole number"),
        "{warnings:?}"
    );
    let config = world.loaded().config;
    assert_eq!((config.agent.max_turns, config.tools.timeout, warnings.len()), (9, 5.0, 2));
}

#[test]
fn a_repository_may_not_choose_where_code_is_sent() {
    let text = "model = 'evil/one'\nmodels.'a/b'.context_window = 5\nnetwork.retries = 0\n\
                [model_groups.main]\nmodels = ['evil/two']";
    let world = World::new(&[(USER, "model = 'mine/one'"), (PROJECT, text)]);
    let loaded = world.loaded();
    assert_eq!(loaded.config.model.as_deref(), Some("mine/one"));
    assert!(loaded.config.model_groups.is_empty() && loaded.config.models.is_empty());
    assert_eq!(loaded.config.network, Config::built_in().network);
    let warnings = world.warnings();
    assert_eq!(warnings.len(), 4);
    assert!(warnings[0].contains("model: ignored, a repository may not set this: it decides where code is sent"));
}

#[test]
fn unknown_names_are_said_but_do_no_harm() {
    let world =
        World::new(&[(USER, "[agent]\nmax_turn = 1\n[model_providers.x]\nbse = 'y'"), (PROJECT, "modell = 'a'")])
            .vars(&[("NECO_TOOLS__TIMOUT", "5"), ("NECO", "1"), ("NECO_LOG", "debug")]);
    assert_eq!(
        world.warnings(),
        [
            "~/.config/neco/config.toml:2:1: agent.max_turn: unknown setting; did you mean `agent.max_turns`?",
            "~/.config/neco/config.toml:4:1: model_providers.x.bse: unknown setting; did you mean `model_providers.x.base`?",
            "repo/.neco/config.toml:1:1: modell: unknown setting; did you mean `model`?",
            "NECO_TOOLS__TIMOUT: tools.timout: unknown setting; did you mean `tools.timeout`?",
        ]
    );
    let loaded = world.loaded();
    assert_eq!((loaded.config.agent.max_turns, loaded.origins.get("agent.max_turn")), (50, None));
}

#[test]
fn an_unknown_name_in_a_flag_stops_the_run() {
    let error = World::new(&[]).flags(&["modle=a/b", "agent.max_turn=3", "mode=ask"]).load().unwrap_err();
    assert_eq!(
        error.to_string(),
        "-c modle=…: unknown setting; did you mean `model`?\n\
         -c agent.max_turn=…: unknown setting; did you mean `agent.max_turns`?"
    );
}

#[test]
fn secrets_in_addresses_are_not_shown() {
    let world = World::new(&[(USER, "[model_providers.x]\nbase = 'http://me:pw@h/v1?key=sk-1'")])
        .flags(&["model_providers.y.base=http://me:pw@h/v1?key=sk-1"]);
    let shown: String =
        world.loaded().origins.settings().iter().map(|one| format!("{} {}\n", one.value, one.origin)).collect();
    assert!(
        shown.contains("\"http://***@h/v1?key=***\"") && shown.contains("-c model_providers.y.base=http://***@h"),
        "{shown}"
    );
    assert!(!shown.contains("pw") && !shown.contains("sk-1"), "{shown}");
}

#[test]
fn a_variable_that_holds_a_key_is_no_misspelt_setting() {
    let world = World::new(&[(USER, "[model_providers.x]\napi_key_env = 'NECO_X_KEY'\napi_key_envs = ['NECO_Y_KEY']")])
        .vars(&[("NECO_X_KEY", "sk"), ("NECO_Y_KEY", "sk"), ("NECO_Z_KEY", "sk")]);
    assert_eq!(world.warnings(), ["NECO_Z_KEY: z_key: unknown setting"]);
    let world = World::new(&[(USER, "[mcp_servers.x]\nurl = 'https://h'\nbearer_token_env_var = 'NECO_X_KEY'")])
        .vars(&[("NECO_X_KEY", "sk")]);
    assert_eq!(world.warnings(), Vec::<String>::new());
}

#[test]
fn listings_are_sorted_and_hold_no_secrets() {
    let text = "[model_providers.x]\napi_key = 'sk-hidden'\napi_key_env = 'SHOWN'\nheaders = { auth = 'hidden' }";
    let world = World::new(&[(USER, text)])
        .flags(&["model_providers.y.api_key=hidden", "model_providers.z={api_key='hidden'}"]);
    let loaded = world.loaded();
    let settings = loaded.origins.settings();
    assert!(settings.is_sorted_by_key(|setting| setting.key.clone()));
    let printed: String =
        settings.iter().map(|setting| format!("{} = {} # {}\n", setting.key, setting.value, setting.origin)).collect();
    assert!(
        !printed.contains("hidden'") && !printed.contains("sk-hidden") && !printed.contains("=hidden"),
        "{printed}"
    );
    for line in [
        "model_providers.x.api_key = *** # ~/.config/neco/config.toml:2:11\n",
        "model_providers.x.api_key_env = \"SHOWN\" # ~/.config/neco/config.toml:3:15\n",
        "model_providers.x.headers.auth = *** # ~/.config/neco/config.toml:4:20\n",
        "model_providers.y.api_key = *** # -c model_providers.y.api_key=***\n",
        "model_providers.z.api_key = *** # -c model_providers.z=***\n",
    ] {
        assert!(printed.contains(line), "{line} is not in\n{printed}");
    }
    assert_eq!(loaded.config.model_providers["x"].api_key.as_deref(), Some("sk-hidden"));
}

#[test]
fn files_are_listed_whether_they_exist_or_not() {
    let world = World::new(&[(PROJECT, "")]);
    let files = world.loaded().files;
    let listed: Vec<_> = files
        .iter()
        .map(|file| (file.layer, file.path.strip_prefix(world.folder.path()).unwrap(), file.exists))
        .collect();
    assert_eq!(
        listed,
        [
            (Layer::User, Path::new(USER), false),
            (Layer::Project, Path::new(PROJECT), true),
            (Layer::Agents, Path::new(AGENTS), false),
            (Layer::Local, Path::new(LOCAL), false),
        ]
    );
}

#[test]
fn what_can_not_be_read_stops_the_user_but_not_the_repository() {
    let world = World::new(&[]);
    fs::create_dir_all(world.path(PROJECT)).unwrap();
    assert_eq!(world.warnings(), ["repo/.neco/config.toml: ignored: can't be read: not a file"]);
    fs::create_dir_all(world.path(USER)).unwrap();
    assert_eq!(world.errors(), "~/.config/neco/config.toml: can't be read: not a file");
}

#[test]
fn neco_home_moves_the_users_file() {
    let world = World::new(&[("elsewhere/config.toml", "model = 'moved/model'"), (USER, "model = 'left/behind'")]);
    let home = world.path("elsewhere");
    let env = Env::for_test([("NECO_HOME", home.to_str().unwrap())], world.path("home"));
    let loaded = load(LoadOptions { env: &env, cwd: &world.path("repo"), overrides: &[] }).unwrap();
    assert_eq!((loaded.config.model.as_deref(), loaded.warnings.len()), (Some("moved/model"), 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,80}", lines in prop::collection::vec(line(), 0..8)) {
        for text in [text, lines.join("\n")] {
            let world = World::new(&[(USER, text.as_str()), (PROJECT, text.as_str())]);
            if let Err(error) = world.load() {
                prop_assert!(!error.problems.is_empty());
            }
        }
    }
}

/// Lines that are nearly settings, so that what lies behind the parser is reached too.
fn line() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("agent"),
        Just("max_turns"),
        Just("tools"),
        Just("only"),
        Just("mode"),
        Just("approval"),
        Just("models"),
        Just("'a/b'"),
        Just("model_providers"),
        Just("headers"),
        Just("network"),
        Just("backoff"),
        Just("\"\"")
    ];
    let value = prop_oneof![
        Just("1"),
        Just("-1"),
        Just("nan"),
        Just("'ask'"),
        Just("['+a', 'b', '+']"),
        Just("[]"),
        Just("{ a = 1 }"),
        Just("true"),
        Just("1979-05-27"),
        Just("\"\\u0000\""),
        Just("[[{}]]"),
        Just("9223372036854775807"),
        Just("1e308")
    ];
    (prop::collection::vec(name, 1..4), value, 0..3).prop_map(|(names, value, kind)| match kind {
        0 => format!("[{}]", names.join(".")),
        1 => format!("[[{}]]", names.join(".")),
        _ => format!("{} = {value}", names.join(".")),
    })
}

/// The settings of the founding design: `NECO_FOUNDING_SETTINGS`, or beside the repository.
fn founding() -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/outside/founding/config.toml");
    let path = std::env::var_os("NECO_FOUNDING_SETTINGS").map_or(beside, PathBuf::from);
    fs::read_to_string(path).ok()
}

#[test]
fn the_settings_of_the_founding_design_mean_what_they_say() {
    let Some(text) = founding() else {
        println!(
            "SKIPPED: the settings of the founding design are not there; set NECO_FOUNDING_SETTINGS to their file"
        );
        return;
    };
    let world = World::new(&[(USER, &text)]);
    assert_eq!(world.warnings(), Vec::<String>::new());
    let config = world.loaded().config;
    let provider = |name: &str| &config.model_providers[name];
    for (name, title) in [("zhipuai", "ZhipuAI"), ("zhipuai-coding-plan", "ZhipuAI Coding Plan")] {
        assert_eq!(provider(name).name.as_deref(), Some(title));
        assert_eq!(provider(name).api_key_env.as_deref(), Some("ZHIPU_API_KEY"));
    }
    assert_eq!(provider("minimax-cn").api_key_envs, ["MINIMAX_API_KEY", "MINIMAX_API_KEY_2"]);
    let server = &config.mcp_servers["filesystem"];
    assert_eq!((server.name.as_deref(), server.kind), (Some("filesystem"), Some(McpTransport::Stdio)));
    let command = server.command.as_deref().and_then(words).unwrap();
    assert_eq!(command, ["npx", "-y", "@modelcontextprotocol/server-filesystem", "/path/to/allowed"]);
    assert!(server.enabled && !server.auto_start && server.args.is_none());
    let tool = &config.scripted_tools[0];
    assert_eq!((tool.name.as_str(), tool.script_type), ("analyze_project", ScriptType::Python));
    assert_eq!(tool.parameters["properties"]["path"]["type"], "string");
}

#[test]
fn other_names_of_settings_are_understood_and_say_where_they_stand() {
    let text = "[model_providers.mine]\ntype = 'openai'\nenv_key = 'ONE'\nenv_keys = ['TWO']\n\
                base_url = 'http://127.0.0.1:8081/v1'\n\
                [[scripted_tools]]\nname = 'count'\ntype = 'shell'\nscript = 'wc -l'";
    let world = World::new(&[(USER, text)]);
    assert_eq!(world.warnings(), Vec::<String>::new());
    let config = world.loaded().config;
    assert_eq!(config.key_variables(), ["ONE", "TWO"]);
    assert_eq!(config.model_providers["mine"].base.as_deref(), Some("http://127.0.0.1:8081/v1"));
    assert_eq!(config.scripted_tools[0].script_type, ScriptType::Shell);
    let (value, origin) = world.setting("model_providers.mine.api_key_env");
    assert!(value.contains("ONE") && origin.ends_with("config.toml:3:11"), "{value} {origin}");
    // Under both names nobody knows which one is meant.
    let both = World::new(&[(USER, "[model_providers.mine]\ntype = 'openai'\nenv_key = 'A'\napi_key_env = 'B'")]);
    assert_eq!(both.warnings().len(), 1);
    assert_eq!(both.loaded().config.key_variables(), ["B"]);
}

#[test]
fn the_servers_of_a_repository_are_carried_beside_the_settings_and_its_tools_are_not() {
    let text = "[mcp_servers.x]\ncommand = 'evil'\n[[scripted_tools]]\nname = 'x'\nscript = 'evil'";
    let world = World::new(&[
        (USER, "[mcp_servers.x]\ncommand = 'mine'\n[mcp_servers.y]\ncommand = 'mine'"),
        (PROJECT, text),
        (LOCAL, "[mcp_servers.x]\nenabled = false\n[mcp_servers.z]\nargs = 'wrong'"),
    ]);
    let loaded = world.loaded();
    assert!(loaded.config.scripted_tools.is_empty());
    let own: Vec<_> = loaded.config.mcp_servers.values().map(|server| server.command.as_deref()).collect();
    assert_eq!(own, [Some("mine"), Some("mine")]);
    let theirs: Vec<_> = loaded.repository_servers.iter().map(|server| world.told(server)).collect();
    assert_eq!(
        theirs,
        ["x evil of repo in repo/.neco/config.toml:1:14", "x - of repo in repo/.neco/config.local.toml:1:14"]
    );
    let warnings = world.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("scripted_tools: ignored, a repository may not set this"), "{warnings:?}");
    assert!(warnings[1].starts_with("repo/.neco/config.local.toml:4:8: mcp_servers.z.args: ignored: expected a list"));
}

#[test]
fn what_only_a_server_may_see_is_shown_nowhere() {
    let text = "[mcp_servers.x]\ncommand = 'run'\nenv = { TOKEN = 'sesame' }\nheaders = { authorization = 'sesame' }";
    let world = World::new(&[(USER, text)]);
    let loaded = world.loaded();
    assert_eq!(loaded.config.mcp_servers["x"].env["TOKEN"], "sesame");
    let shown = format!("{:?} {:?}", loaded.config, loaded.origins.settings());
    assert!(!shown.contains("sesame"), "{shown}");
}
