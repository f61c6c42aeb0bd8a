//! Lists of plugins: adding them, fetching them anew, and what they list.

use std::path::Path;

use neco_ext::plugins::{Entry, KnownMarketplace, Marketplace, PluginStore, Source};
use neco_proto::app::plugins::{
    AddMarketplace, FoundPlugin, FoundPlugins, ListedPlugin, MarketplaceRow, RemoveMarketplace, RemovedPlugin,
    SearchPlugins, ShowMarketplace, ShownMarketplace,
};
use neco_proto::app::{AppError, Trouble};
use neco_proto::visible::visible_line;
use serde_json::{Map, Value};

use crate::app::StorelessApp;
use crate::error::{failed, invalid};
use crate::fetched::{fetch, until_dropped};
use crate::opening::on_thread;

/// Where a plugin of a marketplace is, and what is said of it there.
pub(super) fn of_marketplace(
    store: &PluginStore,
    plugin: &str,
    name: &str,
) -> Result<(Source, Map<String, Value>), AppError> {
    let (_, list) = marketplace(store, name)?;
    let entry = list.find(plugin).ok_or_else(|| {
        let words = format!("the marketplace {name} has no plugin {plugin:?}");
        AppError::new(Trouble::NotFound, words).hint(format!("`neco plugin marketplace list {name}` lists them."))
    })?;
    Ok((entry.source.clone(), entry.said.clone()))
}

/// A marketplace that the person added, as it was fetched last.
pub(crate) fn marketplace(store: &PluginStore, name: &str) -> Result<(KnownMarketplace, Marketplace), AppError> {
    let found = store.marketplaces().map_err(failed)?.into_iter().find(|known| known.name == name);
    let known = found.ok_or_else(|| {
        AppError::new(Trouble::NotFound, format!("there is no marketplace {name:?}"))
            .hint("`neco plugin marketplace add ADDRESS` adds one.")
    })?;
    let folder = match &known.source {
        Source::Folder(folder) => folder.clone(),
        Source::Git { .. } | Source::Listed { .. } => store.folder_of_marketplace(name),
    };
    let list = Marketplace::read(&folder).map_err(failed)?;
    Ok((known, list))
}

pub(crate) async fn add(app: &StorelessApp, request: AddMarketplace) -> Result<ShownMarketplace, AppError> {
    let env = app.env.clone();
    until_dropped(move |gone| {
        let store = PluginStore::new(env.config_dir());
        let all = store.marketplaces().map_err(failed)?;
        let named = all.iter().find(|known| known.name == request.from);
        let source = match named {
            Some(known) => known.source.clone(),
            None => Source::parse(&request.from, Path::new(&request.folder), &env).map_err(invalid)?,
        };
        let (_fetched, at) = fetch(&env, &source, gone)?;
        let list = Marketplace::read(&at).map_err(invalid)?;
        if let Some(other) = all.iter().find(|known| known.name == list.name && known.source != source) {
            let words = format!("there is a marketplace {} from {} already: remove it first", other.name, other.source);
            return Err(invalid(words));
        }
        if let Some(known) = named.filter(|known| known.name != list.name) {
            let words = format!("{} calls itself {} now: remove it, and add it anew", known.name, list.name);
            return Err(invalid(words));
        }
        let before = marketplace(&store, &list.name).map(|(_, list)| list).ok();
        let known = KnownMarketplace { name: list.name.clone(), source };
        let fetched = matches!(known.source, Source::Git { .. }).then_some(at.as_path());
        store.add_marketplace(known.clone(), fetched).map_err(failed)?;
        Ok(told(&known, list, before.as_ref()))
    })
    .await
}

pub(crate) async fn show(app: &StorelessApp, request: ShowMarketplace) -> Result<ShownMarketplace, AppError> {
    let store = PluginStore::new(app.env.config_dir());
    on_thread(move || marketplace(&store, &request.name).map(|(known, list)| told(&known, list, None))).await
}

pub(crate) async fn search(app: &StorelessApp, request: SearchPlugins) -> Result<FoundPlugins, AppError> {
    let store = PluginStore::new(app.env.config_dir());
    on_thread(move || {
        let known = store.marketplaces().map_err(failed)?;
        let installed = store.plugins().map_err(failed)?;
        let words: Vec<String> = request.words.split_whitespace().map(str::to_lowercase).collect();
        let mut found = FoundPlugins { marketplaces: known.len(), ..FoundPlugins::default() };
        for KnownMarketplace { name: list, .. } in &known {
            let entries = match marketplace(&store, list) {
                Ok((_, entries)) => entries,
                Err(error) => {
                    found.warnings.push(format!("The marketplace {list} can't be read: {}", error.message));
                    continue;
                }
            };
            for entry in entries.plugins.into_iter().filter(|entry| words.iter().all(|word| says(entry, word))) {
                let is_it = |source: &Source| {
                    matches!(source, Source::Listed { plugin, marketplace } if *plugin == entry.name && marketplace == list)
                };
                found.plugins.push(FoundPlugin {
                    installed: installed.iter().any(|plugin| is_it(&plugin.source)),
                    description: visible_line(&entry.description),
                    name: entry.name,
                    marketplace: list.clone(),
                });
            }
        }
        let is_named = |plugin: &FoundPlugin| words.iter().all(|word| plugin.name.to_lowercase().contains(word));
        found.plugins.sort_by_key(|plugin| (!is_named(plugin), plugin.name.clone(), plugin.marketplace.clone()));
        Ok(found)
    })
    .await
}

/// Whether a word stands in what a list says of a plugin.
fn says(entry: &Entry, word: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(word);
    let in_field = |field: &str| match entry.said.get(field) {
        Some(Value::String(text)) => has(text),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).any(has),
        _ => false,
    };
    has(&entry.name) || ["description", "category", "keywords", "tags"].into_iter().any(in_field)
}

/// A list, and what is other in it than it was before.
fn told(known: &KnownMarketplace, list: Marketplace, before: Option<&Marketplace>) -> ShownMarketplace {
    let only = |these: &Marketplace, those: &Marketplace| {
        let names = these.plugins.iter().filter(|entry| those.find(&entry.name).is_none());
        names.map(|entry| entry.name.clone()).collect::<Vec<String>>()
    };
    let (added, removed) = before.map(|before| (only(&list, before), only(before, &list))).unwrap_or_default();
    let plugins = list.plugins.into_iter();
    let plugins = plugins.map(|entry| ListedPlugin { name: entry.name, description: visible_line(&entry.description) });
    let plugins = plugins.collect();
    ShownMarketplace { marketplace: listed(known), plugins, added, removed, warnings: list.notices }
}

pub(super) fn listed(marketplace: &KnownMarketplace) -> MarketplaceRow {
    MarketplaceRow { name: marketplace.name.clone(), source: marketplace.source.to_string() }
}

pub(crate) async fn remove(app: &StorelessApp, request: RemoveMarketplace) -> Result<RemovedPlugin, AppError> {
    let store = PluginStore::new(app.env.config_dir());
    on_thread(move || Ok(RemovedPlugin { known: store.remove_marketplace(&request.name).map_err(failed)? })).await
}
