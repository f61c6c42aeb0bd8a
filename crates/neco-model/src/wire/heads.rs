//! The beginnings of requests: everything before the conversation is the same in every request of
//! an agent, so it is serialised once.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::request::{OutputSchema, Request, ToolDeclaration};
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
            && self.output.as_ref().map(Arc::as_ptr) == request.output.as_ref().map(Arc::as_ptr)
    }
}
