//! How the page looks, and what it may load: nothing but that.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The style sheet, between its tags.
pub(super) const STYLE: &str = concat!("<style>", include_str!("style.css"), "</style>");
const SHEET: &str = include_str!("style.css");

/// The policy of the page: this style sheet by its hash, pictures that are in the file, nothing else.
pub(super) fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(SHEET.as_bytes()));
    format!("default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'")
}
