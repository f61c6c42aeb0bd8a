//! What can be set in a session: modes, which older editors know, and options, of which the mode is one.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::app::models::ModelList;
use neco_proto::{ApprovalMode, Command, Mode, SessionSnapshot};
use neco_view::reduce::Standing;
use neco_view::setting::Setting;

use crate::failure;

const MODE: &str = "mode";
const MODEL: &str = "model";
const APPROVAL: &str = "approval";
const LEVEL: &str = "level";

/// How a session is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    mode: Mode,
    approval: ApprovalMode,
    level: u8,
    model: String,
}

impl From<&SessionSnapshot> for Settings {
    fn from(session: &SessionSnapshot) -> Self {
        let SessionSnapshot { mode, approval, generation, model, .. } = session;
        Self { mode: *mode, approval: *approval, level: *generation, model: model.clone() }
    }
}

impl From<&Standing> for Settings {
    fn from(standing: &Standing) -> Self {
        let Standing { mode, approval, generation, model, .. } = standing;
        Self { mode: *mode, approval: *approval, level: *generation, model: model.clone() }
    }
}

impl Settings {
    /// The mode, as editors call it.
    pub fn mode(&self) -> acp::SessionModeId {
        acp::SessionModeId::new(self.mode.name())
    }

    /// The modes there are.
    pub fn modes(&self) -> acp::SessionModeState {
        let mode = |(name, about): &(&'static str, &str)| {
            acp::SessionMode::new(*name, capital(name)).description((*about).to_owned())
        };
        acp::SessionModeState::new(self.mode(), Setting::Mode.words().iter().map(mode).collect())
    }

    /// Everything that can be set, with the `models` there are to choose from.
    pub fn options(&self, models: &[String]) -> Vec<acp::SessionConfigOption> {
        let names = Some(&self.model).filter(|model| !models.contains(model)).into_iter().chain(models);
        let names = names.map(|name| acp::SessionConfigSelectOption::new(name.clone(), name.clone()));
        let level = self.level.to_string();
        vec![
            select(MODE, "Mode", self.mode.name(), choices(Setting::Mode))
                .category(acp::SessionConfigOptionCategory::Mode),
            select(MODEL, "Model", &self.model, names.collect()).category(acp::SessionConfigOptionCategory::Model),
            select(APPROVAL, "Asks", self.approval.name(), choices(Setting::Approval))
                .description("When you are asked before something is done".to_owned()),
            select(LEVEL, "Tool level", &level, choices(Setting::Generation))
                .description("Each level has the tools of the ones below it".to_owned()),
        ]
    }
}

fn select(
    id: &'static str,
    name: &str,
    current: &str,
    choices: Vec<acp::SessionConfigSelectOption>,
) -> acp::SessionConfigOption {
    acp::SessionConfigOption::select(id, name, current.to_owned(), choices)
}

fn choices(setting: Setting) -> Vec<acp::SessionConfigSelectOption> {
    let choice = |(word, about): &(&'static str, &str)| {
        acp::SessionConfigSelectOption::new(*word, capital(&word.replace('_', " "))).description((*about).to_owned())
    };
    setting.words().iter().map(choice).collect()
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The groups and models of a list, as they are named.
pub(crate) fn names(list: ModelList) -> Vec<String> {
    let models = list.models.into_iter().filter(|model| model.usable && model.facts.tools).map(|model| model.name);
    list.groups.into_keys().chain(models).collect()
}

/// The whole name of a model; one without its provider is meant where only one of the `models` is called so.
fn model(name: &str, models: &[String]) -> String {
    let is_it = |model: &&String| model.split_once('/').is_some_and(|(_, short)| short.eq_ignore_ascii_case(name));
    let mut named = models.iter().filter(is_it);
    match (models.iter().any(|model| model == name), named.next(), named.next()) {
        (false, Some(one), None) => one.clone(),
        _ => name.to_owned(),
    }
}

/// What sets an option, where there are these `models`.
pub(crate) fn command(option: &str, value: &str, models: &[String]) -> Result<Command, Error> {
    let no = |what: &str| failure::invalid(format!("there is no {what} {value}"));
    match option {
        MODE => mode(value),
        MODEL if value.trim().is_empty() => Err(failure::invalid("a model is named provider/model, or as a group is")),
        MODEL => Ok(Command::SetModel { model: model(value.trim(), models) }),
        APPROVAL => {
            let approval = ApprovalMode::named(value).ok_or_else(|| no("approval mode"))?;
            Ok(Command::SetApproval { approval })
        }
        LEVEL => {
            let generation = value.parse().map_err(|_| no("tool level"))?;
            Ok(Command::SetGeneration { generation })
        }
        other => Err(failure::invalid(format!("there is no option {other}"))),
    }
}

/// What sets the mode.
pub(crate) fn mode(name: &str) -> Result<Command, Error> {
    let mode = Mode::named(name).ok_or_else(|| failure::invalid(format!("there is no mode {name}")))?;
    Ok(Command::SetMode { mode })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_without_its_provider_where_only_one_is_called_so() {
        let models = ["fast", "one/small", "two/small", "two/Large", "two/fast"].map(str::to_owned);
        for (name, meant) in [
            ("large", "two/Large"),
            ("two/Large", "two/Large"),
            // A group comes before the model of its name.
            ("fast", "fast"),
            ("small", "small"),
            ("three/other", "three/other"),
        ] {
            let set = command(MODEL, name, &models).unwrap();
            assert_eq!(set, Command::SetModel { model: meant.to_owned() }, "{name}");
        }
        assert!(command(MODEL, " ", &models).is_err());
    }
}
