//! The beginnings of requests: everything before the conversation is the same in every request of
//! an agent, so it is serialised once.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use neco_proto::{Part, Role};

use crate::request::{OutputSchema, Request, ToolDeclaration};
use crate::route::Parameters;
use crate::route::name::family;
use crate::wire::format::Delivery;

/// As many beginnings are kept as agents usually run side by side.
const KEPT: usize = 8;

/// The beginnings that were used last.
#[derive(Default)]
pub(super) struct Heads {
    heads: Mutex<Vec<Head>>,
}

struct Head {
    delivery: Delivery,
    system: Arc<str>,
    tools: Arc<[ToolDeclaration]>,
    cache_key: String,
    output: Option<Arc<OutputSchema>>,
    temperature: Option<f64>,
    max_output: Option<u64>,
    bytes: Bytes,
}

impl Heads {
    /// The beginning of `request`; `encode` makes it when it is not known.
    pub(super) fn of(&self, request: &Request, delivery: Delivery, encode: impl FnOnce(&Request) -> Bytes) -> Bytes {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = heads.iter().position(|head| head.delivery == delivery && head.fits(request)) {
            // The one that was used last goes to the end; the front is given up first.
            heads[at..].rotate_left(1);
        } else {
            if heads.len() == KEPT {
                heads.remove(0);
            }
            heads.push(Head {
                delivery,
                system: request.system.clone(),
                tools: request.tools.clone(),
                cache_key: request.cache_key.clone(),
                output: request.output.clone(),
                temperature: request.temperature,
                max_output: request.max_output,
                bytes: encode(request),
            });
        }
        heads.last().map(|head| head.bytes.clone()).unwrap_or_default()
    }
}

impl Head {
    fn fits(&self, request: &Request) -> bool {
        Arc::ptr_eq(&self.system, &request.system)
            && Arc::ptr_eq(&self.tools, &request.tools)
            && self.cache_key == request.cache_key
            && self.temperature == request.temperature
            && self.max_output == request.max_output
            && self.output.as_ref().map(Arc::as_ptr) == request.output.as_ref().map(Arc::as_ptr)
    }
}

/// The headers that say so; pictures that are not sent are not told of.
pub(super) fn initiator_headers(request: &Request, sees: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let user = request.history.last().is_none_or(|message| message.role == Role::User);
    headers.insert("x-initiator", HeaderValue::from_static(if user { "user" } else { "agent" }));
    let is_picture = |part: &Part| matches!(part, Part::Image { .. });
    if sees && request.history.iter().any(|entry| entry.message().parts.iter().any(is_picture)) {
        headers.insert("copilot-vision-request", HeaderValue::from_static("true"));
    }
    headers
}

/// The level nearest to `effort` that `model` knows. Of models that are not OpenAI's nothing is known
/// but that these four are the usual ones.
pub(super) fn effort_level<'a>(model: &str, effort: &'a str) -> &'a str {
    let known = known(model);
    let place = |level: &str| Parameters::EFFORTS.iter().position(|effort| *effort == level);
    let Some(wanted) = place(effort) else { return effort };
    let distance = |level: &&&str| place(level).map_or(usize::MAX, |at| at.abs_diff(wanted));
    // Of two that are as near the greater effort counts.
    known.iter().rev().min_by_key(distance).copied().unwrap_or(effort)
}

fn known(model: &str) -> &'static [&'static str] {
    let model = model.rsplit('/').next().unwrap_or(model);
    let model = family(model);
    if ["o1", "o3", "o4", "gpt-oss", "gpt-5-codex"].iter().any(|begin| model.starts_with(begin)) {
        return &["low", "medium", "high"];
    }
    match model.strip_prefix("gpt-5") {
        Some(rest) if rest.starts_with("-pro") => &["high"],
        Some(rest) if rest.starts_with(".1-codex-max") => &["low", "medium", "high", "xhigh"],
        Some(rest) if rest.starts_with(".1-codex") => &["low", "medium", "high"],
        Some(rest) if rest.starts_with(".1") => &["none", "low", "medium", "high"],
        Some(rest) if rest.starts_with('.') && rest.contains("codex") => &["low", "medium", "high", "xhigh"],
        Some(rest) if rest.starts_with('.') => &["none", "low", "medium", "high", "xhigh"],
        Some(_) => &["minimal", "low", "medium", "high"],
        None => &["none", "low", "medium", "high"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effort_has_a_level_that_the_model_knows() {
        for (model, levels) in [
            ("gpt-5", ["minimal", "minimal", "low", "medium", "high", "high", "high"]),
            ("gpt-5-mini-2025-08-07", ["minimal", "minimal", "low", "medium", "high", "high", "high"]),
            ("gpt-5.1", ["none", "low", "low", "medium", "high", "high", "high"]),
            ("openai/gpt-5.2", ["none", "low", "low", "medium", "high", "xhigh", "xhigh"]),
            ("gpt-5.1-codex-max", ["low", "low", "low", "medium", "high", "xhigh", "xhigh"]),
            ("gpt-5-pro", ["high"; 7]),
            ("o4-mini", ["low", "low", "low", "medium", "high", "high", "high"]),
            ("openai/gpt-oss-120b", ["low", "low", "low", "medium", "high", "high", "high"]),
            ("qwen3:8b", ["none", "low", "low", "medium", "high", "high", "high"]),
        ] {
            assert_eq!(Parameters::EFFORTS.map(|effort| effort_level(model, effort)), levels, "{model}");
        }
    }
}
