//! What the window asks of the whole program.

use std::path::Path;

use jiff::Timestamp;
use neco_proto::app::files::{ListFiles, ShowBranch};
use neco_proto::app::history::ListRewindPoints;
use neco_proto::app::keys::{NewKey, SetKey};
use neco_proto::app::memory::KeepNote;
use neco_proto::app::models::{ListModels, ModelRow, ProviderRow, ProviderStanding};
use neco_proto::app::rules::{AddRule, ListKeptRules, ListRules, RemoveRules};
use neco_proto::app::sessions::{ListSessions, SessionRow, SessionState};
use neco_proto::app::settings::{ListSettings, SettingList};
use neco_proto::app::workflows::ListWorkflows;
use neco_proto::app::{App as Program, AppError, Caller, Trouble};
use neco_proto::clean::clean_line;
use neco_proto::visible::visible_line;
use neco_proto::{RewindPoint, RuleSource};
use neco_view::figures;
use neco_view::paint::lists::rules::{NO_EFFECT, is_void};
use neco_view::paint::lists::sessions as listed;
use neco_view::short_id::short_id;

use crate::host::{Host, ModelEntry, ProviderEntry, RuleEntry, SessionEntry};
use crate::input::Candidate;
use crate::text::figures::ago;

/// Sessions that are listed at most.
pub(super) const SESSIONS: usize = 200;

/// Columns of what a model can read, and of how much was said in a session.
const CONTEXT: usize = 6;
const MESSAGES: usize = 12;

/// The sessions of a folder, newest first; with `states` those are marked that are open or were stopped at work.
pub(super) async fn sessions(
    program: &dyn Program,
    folder: String,
    limit: usize,
    states: bool,
) -> Result<Vec<SessionEntry>, AppError> {
    let request = ListSessions { folder: Some(folder), limit, states, ..ListSessions::default() };
    let page = program.ask(&Caller::person(), &request).await?;
    Ok(entries(&page.sessions, about))
}

/// The sessions of all folders, newest first; each says where it works.
pub(super) async fn all_sessions(program: &dyn Program, home: &Path) -> Result<Vec<SessionEntry>, AppError> {
    let request = ListSessions { limit: SESSIONS, states: true, ..ListSessions::default() };
    let page = program.ask(&Caller::person(), &request).await?;
    Ok(entries(&page.sessions, |session| format!("{}   {}", about(session), listed::below_home(&session.cwd, home))))
}

fn entries(sessions: &[SessionRow], about: impl Fn(&SessionRow) -> String) -> Vec<SessionEntry> {
    let now = Timestamp::now();
    let entry = |session: &SessionRow| SessionEntry {
        id: session.id.to_string(),
        title: clean_line(&session.title),
        when: ago(session.updated.as_millisecond(), now),
        about: about(session),
    };
    // What a process left that was killed before anything was said is nothing to go on with.
    sessions.iter().map(entry).filter(|entry| !entry.title.is_empty()).collect()
}

/// What else is told of a session, the first two in columns: how much was said, its id, and what kind it is of.
fn about(session: &SessionRow) -> String {
    let fork = session.forked_from.map(|from| format!("fork of {}", short_id(from.session_id)));
    let single = session.single.then(|| "one-shot".to_owned());
    let rest = [single, fork, stands(session.state)].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let about = format!("{:>MESSAGES$}   {}   {rest}", listed::messages(session), short_id(session.id));
    about.trim_end().to_owned()
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
            models.into_iter().map(|model| Candidate::new(&model.name, &model.about)).collect()
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
        ["/workflow" | "/workflows", "run" | "show"] => {
            let request = ListWorkflows { folder: host.folder(), ..ListWorkflows::default() };
            let found = program.ask(&Caller::person(), &request).await.unwrap_or_default().workflows;
            found.iter().map(|one| Candidate::new(&one.name, one.description.as_deref().unwrap_or_default())).collect()
        }
        _ => Vec::new(),
    }
}

/// The files of a folder, as a person would name them.
pub(super) async fn files(program: &dyn Program, folder: String) -> Vec<String> {
    program.ask(&Caller::person(), &ListFiles { folder }).await.unwrap_or_default().names
}

/// The branch of a folder.
pub(super) async fn branch(program: &dyn Program, folder: String) -> Option<String> {
    program.ask(&Caller::person(), &ShowBranch { folder }).await.unwrap_or_default().name
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
    let groups = list.groups.into_iter();
    let groups =
        groups.map(|(name, group)| ModelEntry { name, about: format!("group: {}", group.models.join(", then ")) });
    Ok(groups.chain(list.models.into_iter().map(model)).collect())
}

/// `128k context   $0.28 in, $0.42 out per M`, the first in its column.
fn model(model: ModelRow) -> ModelEntry {
    let facts = &model.facts;
    let about = if facts.known { "" } else { "~" };
    let context = format!("{about}{}", figures::short_tokens(facts.context_window).replace(".0k", "k"));
    let price = match facts.input_price.zip(facts.output_price) {
        Some((input, output)) if input + output > 0.0 => {
            format!("   {} in, {} out per M", figures::exact_dollars(input), figures::exact_dollars(output))
        }
        Some(_) => "   free".to_owned(),
        None => String::new(),
    };
    ModelEntry { name: model.name, about: format!("{context:>CONTEXT$} context{price}") }
}

/// The settings that hold in a folder, with where they come from, and those without a value.
pub(super) async fn settings(program: &dyn Program, folder: String) -> Result<SettingList, AppError> {
    program.ask(&Caller::person(), &ListSettings { folder }).await
}

/// The rules about what may happen: those that a person can take back first, then all others but the built-in ones, then
/// those.
pub(super) async fn rules(program: &dyn Program, host: &dyn Host) -> Result<Vec<RuleEntry>, AppError> {
    let caller = Caller::person();
    let mut list = program.ask(&caller, &ListRules { folder: host.folder(), given: host.given() }).await?;
    // A file that can't be read is told with the rules that hold.
    let kept = program.ask(&caller, &ListKeptRules {}).await.unwrap_or_default();
    let place = format!("{}:", kept.file);
    let own = kept.rules.into_iter().map(|rule| RuleEntry {
        id: Some(rule.text),
        rule: rule.title,
        from: "yours".to_owned(),
        is_built_in: false,
    });
    list.rules.retain(|rule| !rule.place.starts_with(&place));
    list.rules.sort_by_key(|rule| rule.source == RuleSource::BuiltIn);
    let others = list.rules.into_iter().map(|rule| RuleEntry {
        is_built_in: rule.source == RuleSource::BuiltIn,
        id: None,
        rule: format!("{} {}", rule.decision, visible_line(&rule.about)),
        from: match (is_void(&rule), rule.place.is_empty()) {
            (true, _) => format!("{NO_EFFECT} · {}", rule.place),
            (false, true) => rule.source.to_string(),
            (false, false) => rule.place,
        },
    });
    Ok(own.chain(others).collect())
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
    fn a_price_has_all_of_its_digits() {
        let facts = ModelFacts { input_price: Some(0.075), output_price: Some(3.0), ..ModelFacts::default() };
        let row = ModelRow { facts, name: "a/b".to_owned(), usable: true, default: false };
        assert!(model(row).about.ends_with("$0.075 in, $3.00 out per M"));
    }
}
