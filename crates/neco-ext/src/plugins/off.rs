//! Why a plugin that is on does not count, and what a person does about it.

use super::installed::PluginsError;

/// Why plugins that are on don't count.
#[derive(Debug, thiserror::Error)]
pub enum PluginOff {
    /// None does.
    #[error("No plugin is on: {0}")]
    List(#[from] PluginsError),
    /// One of them is not what was said yes to.
    #[error("The plugin {name} is off: its files are not what you said yes to{}; {}", told(files), what_to_do(name))]
    Changed {
        /// Its name.
        name: String,
        /// What became of its files, as far as that is known.
        files: Vec<String>,
    },
    /// One of them can't be used.
    #[error("The plugin {name} is off: {error}; {}", what_to_do(name))]
    Broken {
        /// Its name.
        name: String,
        /// Why not.
        error: PluginsError,
    },
}

/// The first of the files that are others.
fn told(files: &[String]) -> String {
    const MOST: usize = 5;
    let more = match files.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = files.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    if files.is_empty() { String::new() } else { format!(" ({named}{more})") }
}

fn what_to_do(name: &str) -> String {
    format!(
        "`neco plugin update {name}` takes it from its source again and asks, `neco plugin remove {name}` removes it"
    )
}

impl PluginOff {
    /// The plugin that it is about.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::List(_) => None,
            Self::Changed { name, .. } | Self::Broken { name, .. } => Some(name),
        }
    }
}
