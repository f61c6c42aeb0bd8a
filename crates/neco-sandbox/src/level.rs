//! What commands may touch and reach, as the settings mean it.

use std::path::{Path, PathBuf};

use neco_config::section::{SandboxNetwork, SandboxSection};

pub use neco_config::section::SandboxLevel as Level;

/// What commands reach over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// What listens inside the box.
    Off,
    /// These hosts, over HTTP and HTTPS, through a proxy.
    Hosts(Vec<String>),
    /// Everything.
    On,
}

/// The settings, as they are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What commands may touch.
    pub level: Level,
    /// What they reach.
    pub network: Network,
    /// Whether less than the strong box is a reason not to start.
    pub required: bool,
    /// More folders to write to, absolute.
    pub writable: Vec<PathBuf>,
    /// Files and folders that are no secrets: absolute paths, or names that count everywhere.
    pub readable: Vec<PathBuf>,
    /// More files and folders to hide, absolute.
    pub hidden: Vec<PathBuf>,
    /// Whether Unix sockets can be used by path.
    pub unix_sockets: bool,
    /// Whether files with secrets in the workspace are seen: what works on all of its files for the person sees
    /// them. No setting says so.
    pub sees_workspace_secrets: bool,
}

impl Settings {
    /// The settings of a section; `home` is what `~` stands for.
    pub fn of(section: &SandboxSection, home: Option<&Path>) -> Self {
        let network = match section.network {
            SandboxNetwork::On => Network::On,
            SandboxNetwork::Off if section.hosts.is_empty() => Network::Off,
            SandboxNetwork::Off => Network::Hosts(section.hosts.clone()),
        };
        let paths = |list: &[String]| list.iter().map(|text| at_home(text, home)).collect::<Vec<_>>();
        let absolute = |list: &[String]| paths(list).into_iter().filter(|path| path.is_absolute()).collect();
        Self {
            level: section.level,
            network,
            required: section.required,
            writable: absolute(&section.writable),
            readable: paths(&section.readable),
            hidden: absolute(&section.hidden),
            unix_sockets: section.unix_sockets,
            sees_workspace_secrets: false,
        }
    }
}

/// The name that settings and flags use.
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::ReadOnly => "read_only",
        Level::WorkspaceWrite => "workspace_write",
        Level::Full => "full",
    }
}

fn at_home(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_meant() {
        let section = SandboxSection {
            writable: vec!["~/.cache/x".into(), "/opt/c".into(), "relative".into()],
            readable: vec![".env.test".into(), "~".into(), "~other/x".into()],
            hosts: vec!["a.example".into()],
            ..SandboxSection::default()
        };
        let settings = Settings::of(&section, Some(Path::new("/h")));
        assert_eq!(settings.writable, [PathBuf::from("/h/.cache/x"), PathBuf::from("/opt/c")]);
        assert_eq!(settings.readable, [PathBuf::from(".env.test"), PathBuf::from("/h/"), PathBuf::from("~other/x")]);
        assert_eq!(settings.network, Network::Hosts(vec!["a.example".into()]));
        let on = SandboxSection { network: SandboxNetwork::On, ..section };
        assert_eq!(Settings::of(&on, None).network, Network::On);
    }
}
