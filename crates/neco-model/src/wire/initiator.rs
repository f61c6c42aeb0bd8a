//! Who asks, for GitHub Copilot: it charges for what the user asks, not for what the agent goes on to
//! ask by itself, and wants to be told of pictures.

use http::{HeaderMap, HeaderValue};
use neco_proto::{Part, Role};

use crate::request::Request;

/// The headers that say so; pictures that are not sent are not told of.
pub(super) fn headers(request: &Request, sees: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let user = request.history.last().is_none_or(|message| message.role == Role::User);
    headers.insert("x-initiator", HeaderValue::from_static(if user { "user" } else { "agent" }));
    let is_picture = |part: &Part| matches!(part, Part::Image { .. });
    if sees && request.history.iter().any(|entry| entry.message().parts.iter().any(is_picture)) {
        headers.insert("copilot-vision-request", HeaderValue::from_static("true"));
    }
    headers
}
