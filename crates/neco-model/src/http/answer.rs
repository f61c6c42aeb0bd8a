//! Reading a short answer whole.

use reqwest::Response;

/// As much of the body as comes, up to `limit` bytes. What can't be read is no reason to hide the
/// answer's status.
pub(crate) async fn read(mut response: Response, limit: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(bytes)) = response.chunk().await {
        let room = limit - body.len();
        body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
        if body.len() == limit {
            break;
        }
    }
    body
}
