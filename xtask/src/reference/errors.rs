//! The page of error codes.

use neco_proto::ErrorCode;

use super::markdown::Markdown;

/// What `errors.md` says.
pub fn page() -> String {
    let mut page = Markdown::titled("Error codes");
    page.paragraph("Written by `cargo xtask reference` from `neco_proto::ErrorCode`; do not edit.");
    page.paragraph(
        "A code is stable: it appears as a number in events and in the results of calls. *Again* tells \
         whether the same thing can succeed when it is tried again unchanged. Model and person also get \
         the particulars of the case.",
    );
    let rows: Vec<_> = ErrorCode::ALL.iter().map(|code| row(*code)).collect();
    page.table(["code", "name", "again", "the model is told", "the person is told"], &rows);
    page.into_text()
}

fn row(code: ErrorCode) -> [String; 5] {
    [
        code.number().to_string(),
        format!("`{code:?}`"),
        (if code.retryable() { "yes" } else { "no" }).to_owned(),
        code.for_model().to_owned(),
        code.for_user().to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_row() {
        let page = page();
        for code in ErrorCode::ALL {
            assert!(page.contains(&format!("\n| {code} | `{code:?}` | ")), "{code} is missing");
        }
        assert!(page.contains("| 4002 | `RateLimited` | yes | "), "{page}");
        assert!(page.contains("| 2001 | `FileNotFound` | no | "), "{page}");
    }
}
