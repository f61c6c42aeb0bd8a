//! What the window asks of the whole program.

use std::collections::HashSet;
use std::path::Path;

use jiff::Timestamp;
use neco_proto::app::files::{ListFiles, ShowBranch};
use neco_proto::app::history::ListRewindPoints;
use neco_proto::app::keys::{NewKey, SetKey};
use neco_proto::app::mcp::ListServers;
use neco_proto::app::mcp_use::{ListResources, ResourceList};
use neco_proto::app::memory::KeepNote;
use neco_proto::app::models::{ListModels, ModelGroup, ModelRow, ProviderRow, ProviderStanding, Strategy};
use neco_proto::app::project::{Project, ShowProject};
use neco_proto::app::rules::{AddRule, ListKeptRules, ListRules, RemoveRules};
use neco_proto::app::sessions::{ListSessions, SessionRow, SessionState};
use neco_proto::app::settings::{ListSettings, SettingList};
use neco_proto::app::workflows::ListWorkflows;
use neco_proto::app::{App as Program, AppError, Caller, Known, Trouble};
use neco_proto::clean::clean_line;
use neco_proto::visible::visible_line;
use neco_proto::{Client, RewindPoint, RuleSource, Usage};
use neco_view::figures;
use neco_view::paint::lists::rules::{NO_EFFECT, granted, is_void};
use neco_view::paint::lists::servers;
use neco_view::paint::lists::sessions as listed;
use neco_view::short_id::short_id;

use crate::host::{Host, ModelEntry, ProviderEntry, RuleEntry, RuleGroup, SessionEntry};
use crate::input::Candidate;
use crate::outside;
use crate::text::figures::{ago, count};

/// Sessions that are listed at most.
pub(super) const SESSIONS: usize = 200;

/// What can be done with an MCP server in the window.
const MCP_VERBS: &[(&str, &str)] =
    &[("restart", "start a server anew"), ("enable", "switch one on"), ("disable", "switch one off")];

/// Rules files that are named at the start at most.
const RULES: usize = 3;

/// The sessions of a folder, newest first; with `states` those are marked that are open or were stopped at work.
pub(super) async fn sessions(
    program: &dyn Program,
    folder: String,
    limit: usize,
    states: bool,
) -> Result<Vec<SessionEntry>, AppError> {
    let request = ListSessions { folder: Some(folder), limit, states, ..ListSessions::default() };
    let page = program.ask(&Caller::person(), &request).await?;
    Ok(entries(&page.sessions, |_| String::new()))
}

/// The sessions of all folders, newest first; each says where it works.
pub(super) async fn all_sessions(program: &dyn Program, home: &Path) -> Result<Vec<SessionEntry>, AppError> {
    let request = ListSessions { limit: SESSIONS, states: true, ..ListSessions::default() };
    let page = program.ask(&Caller::person(), &request).await?;
    Ok(entries(&page.sessions, |session| listed::below_home(&session.cwd, home)))
}

fn entries(sessions: &[SessionRow], folder: impl Fn(&SessionRow) -> String) -> Vec<SessionEntry> {
    let now = Timestamp::now();
    let entry = |session: &SessionRow| SessionEntry {
        id: session.id.to_string(),
        title: clean_line(&session.title),
        work: session.work.map(|work| (work, session.asks)),
        when: ago(session.updated.as_millisecond(), now),
        branch: session.branch.clone().unwrap_or_default(),
        messages: listed::messages(session),
        cost: cost(session.usage.as_ref()),
        folder: folder(session),
        about: about(session),
    };
    // What a process left that was killed before anything was said is nothing to go on with.
    sessions.iter().map(entry).filter(|entry| !entry.title.is_empty()).collect()
}

/// What kind of session it is.
fn about(session: &SessionRow) -> String {
    let fork = session.forked_from.map(|from| format!("fork of {}", short_id(from.session_id)));
    let single = session.single.then(|| "one-shot".to_owned());
    [single, fork, stands(session.state)].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// `$0.45`, or `≥ $0.45` where some of it has no known price; nothing where no price is known.
fn cost(usage: Option<&Usage>) -> String {
    let Some((cost, unpriced)) = usage.and_then(|usage| Some((usage.cost?, usage.unpriced))) else {
        return String::new();
    };
    format!("{}{}", if unpriced > 0 { "≥ " } else { "" }, crate::text::figures::cost(cost))
}

/// How a session stands, where that is worth a word.
fn stands(state: Option<SessionState>) -> Option<String> {
    match state? {
        SessionState::Open => Some("open".to_owned()),
        SessionState::Stopped => Some("stopped".to_owned()),
        SessionState::AtRest | SessionState::Other => None,
    }
}

/// What a person said in a session, oldest first; nothing where that can't be read.
pub(super) async fn said_in(program: &dyn Program, session: String) -> Vec<RewindPoint> {
    let said = program.ask(&Caller::person(), &ListRewindPoints { session }).await;
    said.map(|said| said.messages).unwrap_or_default()
}

/// What may be written next behind a command after a slash: `line` ends where it would begin.
pub(super) async fn arguments(program: &dyn Program, host: &dyn Host, line: &str) -> Vec<Candidate> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["/model" | "/models"] => {
            let models = models(program, host.folder()).await.unwrap_or_default();
            let about = |model: &ModelEntry| {
                let said = [&model.about, &model.context, &model.price].into_iter().filter(|said| !said.is_empty());
                said.map(String::as_str).collect::<Vec<_>>().join(" · ")
            };
            models.iter().map(|model| Candidate::new(&model.name, &about(model))).collect()
        }
        ["/resume" | "/sessions"] => {
            let sessions = sessions(program, host.folder(), SESSIONS, false).await.unwrap_or_default();
            let short = |id: &str| id.parse().map(short_id).unwrap_or_default();
            sessions
                .iter()
                .map(|one| Candidate::new(&short(&one.id), &format!("{}  {}", one.title, one.when)))
                .collect()
        }
        ["/config" | "/settings"] => {
            let list = settings(program, host.folder()).await.unwrap_or_default();
            let all = list.settings.iter().chain(&list.unset);
            all.map(|row| Candidate::new(&row.key, &row.value)).collect()
        }
        ["/mcp"] => {
            let verbs = MCP_VERBS.iter().map(|(verb, about)| Candidate::new(verb, about));
            server_names(program, host.folder()).await.into_iter().chain(verbs).collect()
        }
        ["/mcp", "restart" | "enable" | "disable" | "login" | "show"] => server_names(program, host.folder()).await,
        ["/workflow" | "/workflows", "run" | "show"] => {
            let request = ListWorkflows { folder: host.folder(), ..ListWorkflows::default() };
            let found = program.ask(&Caller::person(), &request).await.unwrap_or_default().workflows;
            found.iter().map(|one| Candidate::new(&one.name, one.description.as_deref().unwrap_or_default())).collect()
        }
        _ => Vec::new(),
    }
}

/// The MCP servers of a folder, each with how it stands.
async fn server_names(program: &dyn Program, folder: String) -> Vec<Candidate> {
    let list = program.ask(&Caller::person(), &ListServers { folder }).await.unwrap_or_default();
    list.servers.iter().map(|row| Candidate::new(&clean_line(&row.name), &servers::standing(row))).collect()
}

/// The files of a folder, as a person would name them.
pub(super) async fn files(program: &dyn Program, folder: String) -> Vec<String> {
    program.ask(&Caller::person(), &ListFiles { folder }).await.unwrap_or_default().names
}

/// The resources of the MCP servers of a folder, as far as they are known.
pub(super) async fn resources(program: &dyn Program, folder: String) -> ResourceList {
    program.ask(&Caller::person(), &ListResources { folder }).await.unwrap_or_default()
}

/// The branch of a folder.
pub(super) async fn branch(program: &dyn Program, folder: String) -> Option<String> {
    program.ask(&Caller::person(), &ShowBranch { folder }).await.unwrap_or_default().name
}

/// What a folder brings: how many of its files are not committed, and what agents know from the beginning, in words.
pub(super) async fn project(program: &dyn Program, folder: String) -> (Option<usize>, String) {
    let Project { uncommitted, rules, memories } =
        program.ask(&Caller::person(), &ShowProject { folder }).await.unwrap_or_default();
    (uncommitted, known(&rules, memories))
}

/// `AGENTS.md, 2 more rules files, 3 memory entries`.
fn known(rules: &[String], memories: usize) -> String {
    let more = rules.len().saturating_sub(RULES);
    let named = rules.iter().take(RULES).map(|name| clean_line(name));
    let more = (more > 0).then(|| count(more, "more rules file", "more rules files"));
    let memories = (memories > 0).then(|| count(memories, "memory entry", "memory entries"));
    named.chain(more).chain(memories).collect::<Vec<_>>().join(", ")
}

/// The providers that take a key, those that have one first.
pub(super) async fn providers(program: &dyn Program, folder: String) -> Result<Vec<ProviderEntry>, AppError> {
    let list = program.ask(&Caller::person(), &ListModels { folder, all: true, own_servers: false }).await?;
    let entry = |row: ProviderRow| {
        let about = match row.standing {
            ProviderStanding::Key { sources } => format!("has a key: {}", sources.join(", ")),
            ProviderStanding::KeyMissing { .. } => String::new(),
            ProviderStanding::NoKeyNeeded { .. } => "asked without a key now".to_owned(),
            ProviderStanding::Script
            | ProviderStanding::Answers { .. }
            | ProviderStanding::Silent { .. }
            | ProviderStanding::Other => return None,
        };
        Some(ProviderEntry { name: row.name, about })
    };
    Ok(list.providers.into_iter().filter_map(entry).collect())
}

/// The provider, if a key of it can be kept.
pub(super) async fn look_for_key(program: &dyn Program, folder: String, provider: String) -> Result<String, AppError> {
    let look = SetKey { folder, provider: provider.clone(), ..SetKey::default() };
    if program.ask(&Caller::person(), &look).await?.has_login {
        let words = format!("{provider} logs in with a browser: `neco login {provider}` in another terminal");
        return Err(AppError::new(Trouble::Unsupported, words).hint("This session uses it from its next message on."));
    }
    Ok(provider)
}

/// Keeps a key that its provider takes; gives what is said of that.
pub(super) async fn keep_key(
    program: &dyn Program,
    folder: String,
    provider: &str,
    key: NewKey,
) -> Result<String, AppError> {
    let request = SetKey { folder, provider: provider.to_owned(), key: Some(key), check: true, ..SetKey::default() };
    let kept = program.ask(&Caller::person(), &request).await?;
    let words = match (kept.new, kept.keys) {
        (false, _) => format!("{provider} has this key already"),
        (true, 0 | 1) if kept.hidden_by.is_some() => format!("The key of {provider} is saved"),
        (true, 0 | 1) => format!("The key of {provider} is saved; it is used from your next message on"),
        (true, count) => format!("{provider} has {count} keys now, which take turns"),
    };
    Ok(match kept.hidden_by {
        Some(place) => format!("{words}, but not used while there is one in the {place}"),
        None => words,
    })
}

/// The models and groups that can be asked: groups first, then the models of every provider.
pub(super) async fn models(program: &dyn Program, folder: String) -> Result<Vec<ModelEntry>, AppError> {
    let list = program.ask(&Caller::person(), &ListModels { folder, all: false, own_servers: true }).await?;
    let is_here = |provider: &ProviderRow| matches!(provider.standing, ProviderStanding::Answers { .. });
    let is_local = |model: &ModelRow| {
        let provider = model.name.split_once('/').map(|(provider, _)| provider);
        list.providers.iter().filter(|row| is_here(row)).any(|row| Some(row.name.as_str()) == provider)
    };
    let models: Vec<ModelEntry> = list.models.iter().map(|row| model(row, is_local(row))).collect();
    let groups: Vec<ModelEntry> = list.groups.iter().map(|(name, some)| group(name, some, &models)).collect();
    Ok([groups, models].concat())
}

/// A model with what it is able to, `200k` and `$0.28, $0.42`.
fn model(model: &ModelRow, is_local: bool) -> ModelEntry {
    let facts = &model.facts;
    let able = [(is_local, "on this machine"), (facts.reasoning, "thinks"), (facts.vision, "sees pictures")];
    let able: Vec<&str> = able.into_iter().filter(|(is, _)| *is).map(|(_, words)| words).collect();
    let about = if facts.known { "" } else { "~" };
    let price = match facts.input_price.zip(facts.output_price) {
        Some((input, output)) if input + output > 0.0 => {
            format!("{}, {}", figures::exact_dollars(input), figures::exact_dollars(output))
        }
        Some(_) => "free".to_owned(),
        None => String::new(),
    };
    ModelEntry {
        name: model.name.clone(),
        about: able.join(", "),
        context: format!("{about}{}", figures::short_tokens(facts.context_window).replace(".0k", "k")),
        price,
        is_group: false,
    }
}

/// A group with whom it asks; it has the figures of the one that it asks first, or of all where those are the same.
fn group(name: &str, group: &ModelGroup, models: &[ModelEntry]) -> ModelEntry {
    let short = |member: &String| member.split_once('/').map_or(member.as_str(), |(_, model)| model).to_owned();
    let mut members: Vec<String> = group.models.iter().map(short).collect();
    // Models of the same name are told apart by their providers.
    if members.iter().collect::<HashSet<_>>().len() < members.len() {
        members.clone_from(&group.models);
    }
    let about = match &group.strategy {
        _ if members.len() < 2 => members.concat(),
        Known::This(Strategy::First) => members.join(", then "),
        Known::This(Strategy::RoundRobin) => format!("{} in turn", members.join(", ")),
        Known::This(Strategy::Cheapest) => format!("the cheapest of {}", members.join(", ")),
        Known::Newer(_) => members.join(", "),
    };
    // Parameters stand behind the name.
    let model = |member: &String| models.iter().find(|model| member.split('?').next() == Some(model.name.as_str()));
    let asked: Vec<Option<&ModelEntry>> = group.models.iter().map(model).collect();
    let figures = |model: &Option<&ModelEntry>| model.map(|model| (model.context.clone(), model.price.clone()));
    let first = asked.first().and_then(figures);
    let is_first = group.strategy == Strategy::First || asked.iter().all(|other| figures(other) == first);
    let (context, price) = first.filter(|_| is_first).unwrap_or_default();
    ModelEntry { name: name.to_owned(), about, context, price, is_group: true }
}

/// The settings that hold in a folder, with where they come from, and those without a value.
pub(super) async fn settings(program: &dyn Program, folder: String) -> Result<SettingList, AppError> {
    program.ask(&Caller::person(), &ListSettings { folder }).await
}

/// The rules about what may happen: what was allowed for this session first, then those that a person can take back, then
/// all others but the built-in ones, then those.
pub(super) async fn rules(
    program: &dyn Program,
    host: &dyn Host,
    client: Option<&dyn Client>,
) -> Result<Vec<RuleEntry>, AppError> {
    let caller = Caller::person();
    let mut list = program.ask(&caller, &ListRules { folder: host.folder(), given: host.given() }).await?;
    // A file that can't be read is told with the rules that hold.
    let kept = program.ask(&caller, &ListKeptRules {}).await.unwrap_or_default();
    let place = format!("{}:", kept.file);
    let own = kept.rules.into_iter().map(|rule| RuleEntry {
        id: Some(rule.text),
        rule: rule.title,
        from: "yours".to_owned(),
        group: RuleGroup::Written,
    });
    list.rules.retain(|rule| !rule.place.starts_with(&place));
    list.rules.sort_by_key(|rule| rule.source == RuleSource::BuiltIn);
    let others = list.rules.into_iter().map(|rule| RuleEntry {
        group: if rule.source == RuleSource::BuiltIn { RuleGroup::BuiltIn } else { RuleGroup::Written },
        id: None,
        rule: format!("{} {}", rule.decision, visible_line(&rule.about)),
        from: match (is_void(&rule), rule.place.is_empty()) {
            (true, _) => format!("{NO_EFFECT} · {}", rule.place),
            (false, true) => rule.source.to_string(),
            (false, false) => rule.place,
        },
    });
    let in_session = match client {
        Some(client) => outside::session_rules(client).await.granted,
        None => Vec::new(),
    };
    let in_session = in_session.iter().map(|rule| {
        let (rule, holds_for) = granted(rule);
        let from = holds_for.unwrap_or_else(|| "this session".to_owned());
        RuleEntry { id: None, rule, from, group: RuleGroup::Session }
    });
    Ok(in_session.chain(own).chain(others).collect())
}

/// Adds a rule as a person writes it, such as `allow bash(cargo test *)`; what was kept and where.
pub(super) async fn add_rule(program: &dyn Program, host: &dyn Host, rule: String) -> Result<String, AppError> {
    let words = rule.trim().to_owned();
    let kept = program.ask(&Caller::person(), &AddRule { folder: host.folder(), rule }).await?;
    Ok(format!("Rule added: {words}, in {}; {}", kept.file, from_when(host)))
}

/// Takes a rule away, by its id; what was done.
pub(super) async fn drop_rule(program: &dyn Program, host: &dyn Host, id: String) -> Result<String, AppError> {
    let removed = program.ask(&Caller::person(), &RemoveRules { rules: vec![id] }).await?;
    let titles: Vec<String> = removed.rules.into_iter().map(|rule| rule.title).collect();
    Ok(format!("Rule deleted: {}; {}", titles.join(", "), from_when(host)))
}

/// The sessions of this process take up rules that changed at once.
fn from_when(host: &dyn Host) -> &'static str {
    match host.successor() {
        None => "in effect now",
        Some(_) => "in effect in new sessions; this one runs in another process",
    }
}

/// Keeps a note for later sessions; what became of it.
pub(super) async fn keep(program: &dyn Program, folder: String, text: String) -> Result<String, AppError> {
    Ok(program.ask(&Caller::person(), &KeepNote { folder, text }).await?.words)
}

#[cfg(test)]
mod tests {
    use neco_proto::app::models::ModelFacts;

    use super::*;

    #[test]
    fn what_agents_know_is_told_in_a_few_words() {
        let rules = ["AGENTS.md", "a.md", "b.md", "c.md", "d.md"].map(str::to_owned);
        assert_eq!(known(&rules, 1), "AGENTS.md, a.md, b.md, 2 more rules files, 1 memory entry");
        assert_eq!((known(&rules[..1], 0), known(&[], 0)), ("AGENTS.md".to_owned(), String::new()));
    }

    #[test]
    fn a_price_has_all_of_its_digits() {
        let facts = ModelFacts { input_price: Some(0.075), output_price: Some(3.0), ..ModelFacts::default() };
        let row = ModelRow { facts, name: "a/b".to_owned(), usable: true, default: false };
        assert_eq!(model(&row, false).price, "$0.075, $3.00");
    }

    #[test]
    fn a_model_says_what_it_is_able_to_and_a_group_whom_it_asks() {
        let row = |name: &str, input_price: f64| ModelRow {
            facts: ModelFacts {
                context_window: 200_000,
                known: true,
                input_price: Some(input_price),
                output_price: Some(2.0),
                reasoning: true,
                ..ModelFacts::default()
            },
            name: name.to_owned(),
            usable: true,
            default: false,
        };
        let models = [model(&row("a/big", 1.0), false), model(&row("b/small", 0.5), true)];
        assert_eq!((models[0].about.as_str(), models[1].about.as_str()), ("thinks", "on this machine, thinks"));
        let asks = |models_of: &[&str], strategy: Strategy| {
            let of = models_of.iter().map(|name| (*name).to_owned()).collect();
            let made = group("think", &ModelGroup { models: of, strategy: strategy.into() }, &models);
            (made.about, made.price)
        };
        let both = ["a/big?temperature=0", "b/small"];
        let shown = |about: &str, price: &str| (about.to_owned(), price.to_owned());
        assert_eq!(asks(&both, Strategy::First), shown("big?temperature=0, then small", "$1.00, $2.00"));
        assert_eq!(asks(&both, Strategy::RoundRobin), shown("big?temperature=0, small in turn", ""));
        assert_eq!(asks(&["a/big", "c/big"], Strategy::First), shown("a/big, then c/big", "$1.00, $2.00"));
        assert_eq!(asks(&["b/small"], Strategy::Cheapest), shown("small", "$0.50, $2.00"));
    }
}
