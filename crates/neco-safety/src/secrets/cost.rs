//! What looking for secrets costs, counted in tests: no text costs more for each byte the longer it is.

#[cfg(test)]
thread_local! {
    static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// So many bytes were looked at.
#[cfg(test)]
pub(super) fn looked_at(bytes: usize) {
    LOOKED_AT.set(LOOKED_AT.get() + bytes);
}

/// Costs nothing where nobody counts.
#[cfg(not(test))]
pub(super) fn looked_at(_: usize) {}

#[cfg(test)]
mod tests {
    use super::super::{KnownSecret, Redactor, Scope};
    use super::*;

    /// Pieces of texts that would be looked at anew from each of their places.
    const PIECES: &[&str] = &[
        "eyJ.",
        "eyJhbGciOiJIUzI1NiJ9.",
        "token",
        "token=",
        "a token=",
        "DB_PASSWORD=Tr0ub4dor.3x\n",
        "kn0wn value 1 ",
        "kn0wn value 1 ghp_abcdefghijklmnopqrstuvwxyz0123456789 ",
        "-----BEGIN PRIVATE KEY-----\n",
        "sk-ant-",
        "SG.",
        "a://b:c",
        "Bearer ",
        "bearer=bearer ",
        "123456789:AA",
        "AKIA",
        "hooks.slack.com/services/",
    ];

    fn bytes_looked_at(redactor: &Redactor, text: &str) -> usize {
        LOOKED_AT.set(0);
        let _ = redactor.redact(text, Scope::Outside);
        LOOKED_AT.get()
    }

    #[test]
    fn no_text_costs_more_for_each_byte_the_longer_it_is() {
        let redactor = Redactor::new([KnownSecret { what: "K".to_owned(), value: "kn0wn value 1".to_owned() }]);
        for piece in PIECES {
            let short = piece.repeat(16 * 1024 / piece.len());
            let (once, often) = (bytes_looked_at(&redactor, &short), bytes_looked_at(&redactor, &short.repeat(16)));
            // What grows with the square costs 256 times as much.
            assert!(once > 0 && often < 32 * once, "{piece:?}: {once} bytes, and {often} for 16 times the text");
            // And no byte is looked at so often that it matters.
            assert!(once < 300 * short.len(), "{piece:?}: {once} bytes for {}", short.len());
        }
    }
}
