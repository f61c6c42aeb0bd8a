//! `web_search`: searches the web with the engine that the user chose.

use std::fmt::Write;
use std::time::Duration;

use neco_config::section::{SearchEngine, WebSearchSection};
use neco_proto::{Display, ErrorCode, Risk};
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::engine::{Engine, Hit, Refusal, SEARCH_KEY};
use super::fetch::answered;
use super::page::one_line;

/// What the scheduler's clock leaves us beyond our own, so that it is never first.
const SLACK: Duration = Duration::from_secs(10);

/// Results of one search.
const MOST: usize = 20;

const LONGEST_QUERY: usize = 400;

/// What the user has to do, when they have not.
const NOT_SET: &str = "no search engine is set up. The user chooses one in config.toml: \
    [tools.web_search] with engine = \"duckduckgo\" (needs nothing else), engine = \"searxng\" and url = \
    \"https://…\" of a SearXNG server, or engine = \"brave\", \"tavily\" or \"exa\" and the key in BRAVE_API_KEY, \
    TAVILY_API_KEY or EXA_API_KEY. Until then use web_fetch with addresses you know";

/// Arguments of `web_search`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArgs {
    /// What to search for.
    query: String,
    /// How many results, at most 20.
    count: Option<usize>,
}

pub(super) struct WebSearch {
    settings: WebSearchSection,
    time: Duration,
}

impl WebSearch {
    /// The tool of one agent.
    pub(super) fn new(settings: &WebSearchSection) -> Self {
        let time = Duration::try_from_secs_f64(settings.timeout).ok().filter(|time| !time.is_zero());
        Self { settings: settings.clone(), time: time.unwrap_or(Duration::from_secs(20)) }
    }

    /// The engine, if all that it needs is there.
    fn engine(&self, ctx: &ToolContext) -> Result<Engine, ToolError> {
        let engine = self.settings.engine.ok_or_else(|| ToolError::failed(NOT_SET))?;
        if engine.key_variable().is_some() && !ctx.world.net().has_key(SEARCH_KEY) {
            let variable = self.settings.key_variable().unwrap_or_default();
            return Err(ToolError::failed(format!(
                "the search engine {} needs a key: the user sets the environment variable {variable}, or \
                 names another one as key_env under [tools.web_search] in config.toml",
                engine.name()
            )));
        }
        Engine::new(engine, self.settings.url.as_deref())
    }
}

impl Tool for WebSearch {
    type Args = SearchArgs;
    const NAME: &'static str = "web_search";
    const DESCRIPTION: &'static str = include_str!("search.txt");
    const TOUCH: SideEffect = SideEffect::Network;

    /// Without an engine every call would fail, and its description would cost tokens in every request.
    fn is_offered(&self) -> bool {
        self.settings.engine.is_some()
    }

    fn timeout(&self, _args: &SearchArgs) -> Option<Duration> {
        Some(self.time + SLACK)
    }

    fn summary(&self, args: &SearchArgs) -> String {
        format!("Search the web for {}", one_line(&args.query))
    }

    async fn plan(&self, args: &SearchArgs, ctx: &ToolContext) -> Result<Plan, ToolError> {
        self.engine(ctx)?;
        query(args)?;
        let engine = self.settings.engine.map(SearchEngine::name).unwrap_or_default();
        // A query carries what was read as well as an address does.
        Ok(Plan { because: Some(format!("it sends the query to {engine}")), ..Plan::of(Risk::Medium) })
    }

    async fn run(&self, args: SearchArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let engine = self.engine(ctx)?;
        let query = query(&args)?;
        let default = if self.settings.results == 0 { 8 } else { self.settings.results };
        let count = args.count.unwrap_or(default).clamp(1, MOST);
        let answer = answered(ctx, engine.request(&query, count, self.time)).await?;
        let name = engine.name();
        // Answers may be big, and reading them takes a while.
        let reading = tokio::task::spawn_blocking(move || engine.hits(&answer));
        let hits = tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => return Err(ToolError::failed("cancelled")),
            hits = reading => hits.map_err(|_| ToolError::failed("the answer can't be read"))?,
        };
        match hits {
            Ok(hits) => Ok(listed(&query, name, hits, count)),
            Err(Refusal { words, said: None }) => Err(ToolError::failed(format!("{words}."))),
            Err(Refusal { words, said: Some(said) }) => {
                Ok(ToolOutput::failure(&ToolError::failed(format!("{words}. It says:")), &said, name))
            }
        }
    }
}

fn query(args: &SearchArgs) -> Result<String, ToolError> {
    let query = args.query.split_whitespace().collect::<Vec<_>>().join(" ");
    match query.chars().count() {
        0 => Err(ToolError::new(ErrorCode::InvalidArguments, "query: there is nothing to search for")),
        length if length > LONGEST_QUERY => Err(ToolError::new(
            ErrorCode::InvalidArguments,
            format!("query: {length} characters; search engines take {LONGEST_QUERY} at most"),
        )),
        _ => Ok(query),
    }
}

fn listed(query: &str, engine: &str, hits: Vec<Hit>, count: usize) -> ToolOutput {
    let hits: Vec<Hit> = hits.into_iter().take(count).collect();
    if hits.is_empty() {
        return ToolOutput::text(format!("[{engine} found nothing for {query:?}; try fewer or other words]"));
    }
    let mut text = String::new();
    let (mut items, mut places) = (Vec::new(), Vec::new());
    for (number, Hit { title, url, extract }) in hits.iter().enumerate() {
        let title = if title.is_empty() { "(no title)" } else { title };
        let _ = write!(text, "{}. ", number + 1);
        let start = text.len();
        let _ = writeln!(text, "{title}\n   {url}");
        if !extract.is_empty() {
            let _ = writeln!(text, "   {extract}");
        }
        places.push(start..text.trim_end().len());
        items.push(format!("{title}  {url}"));
    }
    let total = items.len() as u64;
    let title = format!("{engine}: {query}");
    let display = Display::List { title, items, total };
    ToolOutput::text(text.trim_end()).outside(.., engine).with_display(display).with_hits(places)
}
