//! The page that people work in: files that were built beside the program, which hands them in.

use std::fmt::Write;
use std::io;

use axum::Router;
use axum::extract::Path;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::{HeaderName, HeaderValue, StatusCode, header};

use super::problem::Problem;

/// A file of the page, as it was built.
#[derive(Clone, Copy, Debug)]
pub struct PageFile {
    /// Where it stands, such as `index.html`; one that ends with `.gz` is served without that, and unpacked by whoever
    /// gets it.
    pub path: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

/// Where files are named by what they hold, so that they never change.
const ASSETS: &str = "assets/";

/// What stands in the page where each answer has a word of its own.
const NONCE: &str = "%NONCE%";

/// What is told where no page was built.
const NONE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Neco</title><h1>Neco</h1>\
                    <p>This build of Neco has no page. <code>cargo xtask web</code> builds it, and the next build of Neco \
                    brings it along; released binaries have it.</p></html>\n";

/// The addresses of the page that stand by themselves.
const ALONE: &[&str] = &["/", "/login", "/sessions", "/tasks", "/workflows", "/usage", "/settings"];

/// Those that have more of them below.
const ABOVE: &[&str] = &["/s/", "/tasks/", "/workflows/", "/settings/"];

/// Whether the page is what stands at a path: it needs no token, as it holds nothing of anybody.
pub(crate) fn is_page(path: &str) -> bool {
    ALONE.contains(&path) || ABOVE.iter().any(|above| path.starts_with(above)) || path.starts_with("/assets/")
}

/// The routes of the page: one document for all its addresses, and its files.
pub(crate) fn add(router: Router, files: &'static [PageFile]) -> Router {
    let document = move || async move { document(files) };
    let router = ALONE.iter().fold(router, |router, path| router.route(path, get(document)));
    let router = ABOVE.iter().fold(router, |router, path| router.route(&format!("{path}{{*rest}}"), get(document)));
    router.route("/assets/{name}", get(move |Path(name): Path<String>| async move { asset(files, &name) }))
}

fn document(files: &[PageFile]) -> Response {
    let Some(page) = files.iter().find(|file| file.path == "index.html") else { return Html(NONE).into_response() };
    let text = String::from_utf8_lossy(page.bytes);
    let Ok(nonce) = nonce() else {
        return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "this machine has no random numbers").into_response();
    };
    let mut response = Html(text.replace(NONCE, &nonce)).into_response();
    if let Ok(policy) = HeaderValue::from_str(&policy(&nonce)) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// What the page may load and run: its own files, and nothing that stands in a text. Its one policy for trusted types is
/// about the address of its worker.
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' blob: data:; \
         font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types neco"
    )
}

fn nonce() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    let mut nonce = String::new();
    for byte in bytes {
        // Writing to a string can't fail.
        let _ = write!(nonce, "{byte:02x}");
    }
    Ok(nonce)
}

fn asset(files: &'static [PageFile], name: &str) -> Response {
    let named = |file: &&PageFile| {
        let path = file.path.strip_suffix(".gz").unwrap_or(file.path);
        path.strip_prefix(ASSETS) == Some(name)
    };
    let Some(file) = files.iter().find(named) else {
        return Problem::new(StatusCode::NOT_FOUND, "there is no such file").into_response();
    };
    let told = |name: HeaderName, value: &'static str| (name, HeaderValue::from_static(value));
    let kind = told(header::CONTENT_TYPE, kind(name));
    let kept = told(header::CACHE_CONTROL, "public, max-age=31536000, immutable");
    match file.path.ends_with(".gz") {
        true => ([kind, kept, told(header::CONTENT_ENCODING, "gzip")], file.bytes).into_response(),
        false => ([kind, kept], file.bytes).into_response(),
    }
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("woff2") => "font/woff2",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
