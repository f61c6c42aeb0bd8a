//! What stands between commands and the machine, said honestly.

use serde::{Deserialize, Serialize};

use crate::level::{Level, Network, Settings, level_name};
use neco_safety::policy::Confinement;

/// How strong the box is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Namespaces with a launcher inside, and Landlock as a second lock.
    Strong,
    /// Landlock and a filter of system calls: with the gaps that are named.
    Weaker,
    /// Nothing.
    None,
}

/// Who makes the namespaces of the strong box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Builder {
    /// Our own launcher.
    Launcher,
    /// Bubblewrap, where the machine lets only chosen programs make them.
    Bubblewrap,
}

/// What was got, and why not better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How strong it is.
    pub strength: Strength,
    /// Who builds it, where it is the strong one.
    pub builder: Option<Builder>,
    /// What was asked for.
    pub level: Level,
    /// What commands reach.
    pub network: Network,
    /// Why it is not stronger.
    pub why: Vec<String>,
    /// What stays open.
    pub gaps: Vec<&'static str>,
}

/// What the weaker box does not close.
pub const WEAKER_GAPS: &[&str] = &[
    "modes, times and attributes of files outside the workspace can be changed where you may change them",
    ".git/hooks, .git/config and the settings of agents and editors in the workspace can be changed or moved",
    "a process that becomes a daemon outlives its command",
    "other processes of yours can be seen, and your terminals written to",
    "secrets inside the workspace, such as .env, can be read",
    "what rules deny inside the workspace is not hidden, so commands are asked about where their words don't tell",
    "without the network there are no servers on loopback either, and sandbox.hosts opens nothing",
];

/// What is missing when the kernel has no Landlock.
pub(super) const NO_SECOND_LOCK: &str = "there is no second lock: this kernel has no Landlock";

/// What bubblewrap does not look at: it covers what is at a path, whatever was put there just now.
pub(super) const BUILT_BY_PATHS: &str = "bubblewrap builds the box, so a command in the background that exchanges \
                                         folders without pause may show a hidden file to another command";

impl Report {
    pub(super) fn new(settings: &Settings, strength: Strength, why: Vec<String>, gaps: Vec<&'static str>) -> Self {
        Self { strength, builder: None, level: settings.level, network: settings.network.clone(), why, gaps }
    }

    /// What the policy goes by.
    pub fn confinement(&self) -> Confinement {
        match (self.level, self.strength) {
            (Level::Full, _) => Confinement::ChosenNone,
            (Level::ReadOnly | Level::WorkspaceWrite, Strength::Strong) => Confinement::Boxed,
            (Level::ReadOnly | Level::WorkspaceWrite, Strength::Weaker) => Confinement::BoxedInPart,
            (Level::ReadOnly | Level::WorkspaceWrite, Strength::None) => Confinement::Unavailable,
        }
    }

    /// Whether commands reach the network without being asked about it.
    pub fn reaches_network(&self) -> bool {
        self.strength == Strength::None || self.level == Level::Full || self.network == Network::On
    }

    /// Whether it is as strong as it is by default.
    pub fn is_usual(&self) -> bool {
        (self.level, self.strength, &self.network) == (Level::WorkspaceWrite, Strength::Strong, &Network::Off)
    }

    /// In a few words, for the first event of a session.
    pub fn in_short(&self) -> String {
        let level = level_name(self.level);
        match (self.level, self.strength) {
            (Level::Full, _) => "none: sandbox.level is full".to_owned(),
            (_, Strength::Strong) => format!("strong: {level}, {}", self.network_words()),
            (_, Strength::Weaker) => format!("weaker: {level}, {} ({})", self.network_words(), self.why.join("; ")),
            (_, Strength::None) => format!("none: {}", self.why.join("; ")),
        }
    }

    fn network_words(&self) -> String {
        match &self.network {
            Network::Off => "network off".to_owned(),
            Network::Hosts(hosts) => format!("network off but for {}", hosts.join(", ")),
            Network::On => "network on".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(level: Level, strength: Strength) -> Report {
        let network = Network::Off;
        Report { strength, builder: None, level, network, why: vec!["bwrap is not installed".into()], gaps: Vec::new() }
    }

    #[test]
    fn every_report_says_what_was_got_and_why_not_better() {
        assert_eq!(report(Level::WorkspaceWrite, Strength::Strong).in_short(), "strong: workspace_write, network off");
        assert_eq!(
            report(Level::ReadOnly, Strength::Weaker).in_short(),
            "weaker: read_only, network off (bwrap is not installed)"
        );
        assert_eq!(report(Level::WorkspaceWrite, Strength::None).in_short(), "none: bwrap is not installed");
        assert_eq!(report(Level::Full, Strength::Strong).in_short(), "none: sandbox.level is full");
    }

    #[test]
    fn the_policy_hears_boxed_only_where_there_is_a_box() {
        let confinement = |level, strength| report(level, strength).confinement();
        assert_eq!(confinement(Level::WorkspaceWrite, Strength::Strong), Confinement::Boxed);
        assert_eq!(confinement(Level::WorkspaceWrite, Strength::Weaker), Confinement::BoxedInPart);
        assert_eq!(confinement(Level::WorkspaceWrite, Strength::None), Confinement::Unavailable);
        assert_eq!(confinement(Level::Full, Strength::None), Confinement::ChosenNone);
        assert!(report(Level::WorkspaceWrite, Strength::None).reaches_network());
        assert!(!report(Level::WorkspaceWrite, Strength::Strong).reaches_network());
    }
}
