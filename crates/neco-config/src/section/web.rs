//! The web, as far as tools reach it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fetching web pages. Which hosts may be fetched without asking is for rules to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WebFetchSection {
    /// Seconds until an answer must be there whole.
    #[schemars(range(max = 3600), extend("exclusiveMinimum" = 0))]
    pub timeout: f64,
    /// Bytes that are read of an answer at most.
    #[schemars(range(min = 1000, max = 100_000_000))]
    pub max_bytes: usize,
    /// Hosts on this machine or in a private network that may be reached all the same: `localhost`,
    /// `localhost:3000`, `10.1.2.3`, or `*.corp.example.com` for every name below one.
    #[schemars(inner(length(min = 1)))]
    pub private_hosts: Vec<String>,
}

/// Who answers searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchEngine {
    /// A SearXNG server of your own or somebody else's; it must allow the format `json`.
    Searxng,
    /// Brave Search; needs a key.
    Brave,
    /// Tavily; needs a key.
    Tavily,
    /// Exa; needs a key.
    Exa,
    /// The page of DuckDuckGo for browsers without scripts; needs no key and may refuse programs.
    Duckduckgo,
}

/// Searching the web.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WebSearchSection {
    /// Who answers; without it there is no search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<SearchEngine>,
    /// The address of the server. SearXNG needs it; of the others it is known.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The environment variable that holds the key. Without it `BRAVE_API_KEY`, `TAVILY_API_KEY` or `EXA_API_KEY`.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// Results when the model does not say how many.
    #[schemars(range(min = 1, max = 20))]
    pub results: usize,
    /// Seconds until an answer must be there.
    #[schemars(range(max = 3600), extend("exclusiveMinimum" = 0))]
    pub timeout: f64,
}

impl SearchEngine {
    /// The name that the setting has.
    pub fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::Exa => "exa",
            Self::Duckduckgo => "duckduckgo",
        }
    }

    /// The environment variable that its key is in when the settings name none; nothing where it needs no key.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("BRAVE_API_KEY"),
            Self::Tavily => Some("TAVILY_API_KEY"),
            Self::Exa => Some("EXA_API_KEY"),
            Self::Searxng | Self::Duckduckgo => None,
        }
    }
}

impl WebSearchSection {
    /// The environment variable that holds the key, where there is to be one.
    pub fn key_variable(&self) -> Option<&str> {
        self.key_env.as_deref().or_else(|| self.engine.and_then(SearchEngine::key_variable))
    }
}
