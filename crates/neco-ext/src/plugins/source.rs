//! Where a plugin or a marketplace comes from, as people write it.

use std::fmt;
use std::path::{Path, PathBuf};

use neco_config::Env;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::manifest::{ManifestError, inside, is_name};

/// Where a plugin or a marketplace comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A folder of this machine.
    Folder(PathBuf),
    /// A git repository.
    Git {
        /// Its address.
        address: String,
        /// The branch, the tag or the commit; what the repository shows first without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// The folder in it; all of it without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        below: Option<PathBuf>,
    },
    /// An entry of a marketplace.
    Listed {
        /// The plugin.
        plugin: String,
        /// The marketplace.
        marketplace: String,
    },
}

/// Why a text names no source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is nothing of the kind.
    #[error("{0:?} is neither a folder, nor the address of a git repository, nor PLUGIN@MARKETPLACE")]
    Unknown(String),
    /// A marketplace names what is not its own.
    #[error(transparent)]
    Named(#[from] ManifestError),
}

/// How addresses begin that git is given; it knows others, which run programs.
const SCHEMES: [&str; 4] = ["https://", "ssh://", "file://", "http://"];

impl Source {
    /// What is meant by a text, for who stands in `here`: a folder, an address with a `#reference` perhaps,
    /// `owner/repository` on GitHub, or `plugin@marketplace`.
    ///
    /// # Errors
    /// When it is nothing of the kind.
    pub fn parse(text: &str, here: &Path, env: &Env) -> Result<Self, SourceError> {
        let unknown = || SourceError::Unknown(text.to_owned());
        let path = match text.strip_prefix("~/") {
            Some(below) => env.home().join(below),
            None => here.join(text),
        };
        if path.is_dir() && !text.is_empty() {
            return Ok(Self::Folder(path.canonicalize().unwrap_or(path)));
        }
        let (address, reference) = match text.split_once('#') {
            Some((address, reference)) => (address, Some(reference)),
            None => (text, None),
        };
        if let Some(address) = address_of(address) {
            return Self::git(address, reference, None).ok_or_else(unknown);
        }
        match text.split_once('@') {
            Some((plugin, marketplace)) if is_name(plugin) && is_name(marketplace) => {
                Ok(Self::Listed { plugin: plugin.to_owned(), marketplace: marketplace.to_owned() })
            }
            _ => Err(unknown()),
        }
    }

    /// What a marketplace that lies in `folder` says of where a plugin is; `below` is where its plugins are.
    ///
    /// # Errors
    /// When it is nothing that can be followed.
    pub fn of_entry(value: &Value, folder: &Path, below: &str) -> Result<Self, SourceError> {
        let unknown = || SourceError::Unknown(value.to_string());
        if let Some(path) = value.as_str() {
            let path = if path.starts_with('.') || path.starts_with('/') || below.is_empty() {
                path.to_owned()
            } else {
                format!("{below}/{path}")
            };
            return Ok(Self::Folder(inside(folder, &path)?));
        }
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let address = match text("source") {
            Some("github") => text("repo").filter(|name| is_repository(name)).map(on_github),
            Some("url" | "git" | "git-subdir") => text("url").and_then(address_of),
            Some("local") => return Ok(Self::Folder(inside(folder, text("path").ok_or_else(unknown)?)?)),
            _ => None,
        };
        let reference = text("sha").or_else(|| text("ref"));
        address.and_then(|address| Self::git(address, reference, text("path"))).ok_or_else(unknown)
    }

    fn git(address: String, reference: Option<&str>, below: Option<&str>) -> Option<Self> {
        let is_plain = |text: &str| !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_whitespace);
        if reference.is_some_and(|reference| !is_plain(reference)) {
            return None;
        }
        Some(Self::Git { address, reference: reference.map(str::to_owned), below: below.map(PathBuf::from) })
    }
}

/// The address that git is given for a text, if it is one.
fn address_of(text: &str) -> Option<String> {
    let is_plain = !text.contains(char::is_whitespace) && !text.contains(char::is_control) && !text.starts_with('-');
    let is_ssh = text.split_once(':').is_some_and(|(host, path)| {
        let host = host.strip_prefix("git@").unwrap_or_default();
        !host.is_empty() && !host.starts_with('-') && !host.contains('/') && !path.starts_with(':') && !path.is_empty()
    });
    match text {
        _ if !is_plain => None,
        _ if is_ssh || SCHEMES.iter().any(|scheme| text.starts_with(scheme)) => Some(text.to_owned()),
        _ if is_repository(text) => Some(on_github(text)),
        _ => None,
    }
}

fn is_repository(text: &str) -> bool {
    text.split_once('/').is_some_and(|(owner, name)| is_name(owner) && is_name(name))
}

fn on_github(repository: &str) -> String {
    format!("https://github.com/{repository}")
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Git { address, reference, below } => {
                f.write_str(&neco_config::without_secrets(address))?;
                reference.iter().try_for_each(|reference| write!(f, "#{reference}"))?;
                below.iter().try_for_each(|below| write!(f, " in {}", below.display()))
            }
            Self::Listed { plugin, marketplace } => write!(f, "{plugin}@{marketplace}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn git(address: &str, reference: Option<&str>) -> Source {
        Source::Git { address: address.to_owned(), reference: reference.map(str::to_owned), below: None }
    }

    #[test]
    fn what_people_write_is_understood() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("own")).unwrap();
        let env = Env::for_test([], place.path());
        let parse = |text: &str| Source::parse(text, place.path(), &env);
        let own = place.path().join("own").canonicalize().unwrap();
        for text in ["own", "./own", "~/own"] {
            assert_eq!(parse(text).unwrap(), Source::Folder(own.clone()));
        }
        assert_eq!(parse("a/b").unwrap(), git("https://github.com/a/b", None));
        assert_eq!(parse("https://h/x.git#v1").unwrap(), git("https://h/x.git", Some("v1")));
        assert_eq!(parse("git@h:a/b.git").unwrap(), git("git@h:a/b.git", None));
        let listed = Source::Listed { plugin: "p".to_owned(), marketplace: "m".to_owned() };
        assert_eq!(parse("p@m").unwrap(), listed);
        for text in ["", "x", "ext::sh -c x", "--upload-pack=x", "-x", "https://h/x#-x", "a b", "git@-oX:y", "../a/b/c"]
        {
            assert!(parse(text).is_err(), "{text}: {:?}", parse(text));
        }
    }

    #[test]
    fn entries_of_marketplaces_stay_in_them_or_name_a_repository() {
        let place = tempfile::tempdir().unwrap();
        let of = |value: Value| Source::of_entry(&value, place.path(), "plugins");
        assert_eq!(of(json!("./a")).unwrap(), Source::Folder(place.path().join("a")));
        assert_eq!(of(json!("a")).unwrap(), Source::Folder(place.path().join("plugins/a")));
        let github = json!({ "source": "github", "repo": "a/b", "ref": "main", "sha": "abc" });
        assert_eq!(of(github).unwrap(), git("https://github.com/a/b", Some("abc")));
        let part = json!({ "source": "git-subdir", "url": "https://h/x", "path": "in/it" });
        assert!(matches!(of(part).unwrap(), Source::Git { below: Some(below), .. } if below == Path::new("in/it")));
        for wrong in [json!("../a"), json!("/etc"), json!({}), json!({ "source": "npm", "package": "x" })] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
