//! Whether the work in a folder can be undone: the backend, and what the states of all folders take.

use std::path::Path;

use neco_config::{Config, Env};
use neco_proto::app::doctor::Finding;
use neco_workspace::checkpoint::{Backend, bytes_on_disk};

use crate::services;
use crate::workspace::checkpoints;

/// The checkpoints of a folder.
pub fn check(folder: &Path, config: &Config, env: &Env) -> Finding {
    let section = &config.checkpoints;
    let open = checkpoints::opener(section, &services::environment(env), env.data_dir());
    let Some(here) = open(folder) else {
        return Finding::warn("checkpoints", "off (checkpoints.enabled): what is changed can't be undone");
    };
    let stores = checkpoints::stores(env.data_dir());
    let size = |bytes: u64| match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    };
    let all = match bytes_on_disk(&stores) {
        Ok(bytes) => bytes,
        Err(error) => return Finding::fail("checkpoints", error.to_string(), "make the folder readable"),
    };
    let own = here.size().map_or_else(|error| error.to_string(), size);
    let backend = here.backend();
    let words = format!("{backend}; {own} for this folder, {} in all ({})", size(all), stores.display());
    if section.backend == Backend::Git && backend != "git" {
        return Finding::warn(
            "checkpoints",
            format!("{words}; not in git, as there is no repository that can be used"),
        );
    }
    Finding::ok("checkpoints", words)
}
