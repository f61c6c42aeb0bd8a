//! Takes secrets out of the environment that children get.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::find::KnownSecret;
use super::key_shape::looks_like_key;

/// An environment without its secrets.
#[derive(Default)]
pub struct Scrubbed {
    /// The variables that children get.
    pub kept: Vec<(OsString, OsString)>,
    /// The values of the others, as far as they are text.
    pub hidden: Vec<KnownSecret>,
}

/// The variables whose name fits none of the `hidden` globs and whose value neither looks like a key
/// nor is an address with a password in it. In a glob `*` stands for anything and `?` for one character; case does not matter.
#[must_use]
pub fn scrub(environment: Vec<(OsString, OsString)>, hidden: &[String]) -> Scrubbed {
    let is_hidden = |name: &[u8]| hidden.iter().any(|glob| fits(glob.as_bytes(), name));
    let is_secret = |value: &[u8]| looks_like_key(value) || has_password(value);
    let mut scrubbed = Scrubbed::default();
    for (name, value) in environment {
        if !is_hidden(name.as_bytes()) && !is_secret(value.as_bytes()) {
            scrubbed.kept.push((name, value));
        } else if let Some(secret) = value.to_str().map(str::trim).filter(|secret| !secret.is_empty()) {
            let what = name.to_string_lossy().into_owned();
            scrubbed.hidden.push(KnownSecret { what, value: secret.to_owned() });
        }
    }
    scrubbed
}

/// Whether a text holds an address of the form `scheme://user:password@host`.
fn has_password(text: &[u8]) -> bool {
    let starts = text.windows(3).enumerate().filter(|(_, window)| *window == b"://").map(|(at, _)| at);
    starts.into_iter().any(|at| {
        let has_scheme = text.split_at(at).0.last().is_some_and(u8::is_ascii_alphanumeric);
        let rest = text.split_at(at + 3).1;
        let ends = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b' ' | b'"' | b'\'' | b'\n' | b',');
        let authority = rest.split(ends).next().unwrap_or_default();
        let user = authority.iter().rposition(|byte| *byte == b'@').map(|end| authority.split_at(end).0);
        let password = user.and_then(|user| user.iter().position(|byte| *byte == b':').map(|at| user.len() - at - 1));
        has_scheme && password.is_some_and(|length| length > 0)
    })
}

/// Matches a glob in linear space: on a mismatch the last `*` takes one byte more.
fn fits(glob: &[u8], name: &[u8]) -> bool {
    let (mut at_glob, mut at_name) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while at_name < name.len() {
        match glob.get(at_glob) {
            Some(b'*') => {
                last_star = Some((at_glob, at_name));
                at_glob += 1;
            }
            Some(byte) if *byte == b'?' || byte.eq_ignore_ascii_case(&name[at_name]) => {
                at_glob += 1;
                at_name += 1;
            }
            Some(_) | None => {
                let Some((star, taken)) = last_star else { return false };
                last_star = Some((star, taken + 1));
                at_glob = star + 1;
                at_name = taken + 1;
            }
        }
    }
    glob.iter().skip(at_glob).all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn globs_match_whole_names_without_case() {
        let table = [
            ("*_API_KEY", "OPENAI_API_KEY", true),
            ("*_API_KEY", "openai_api_key", true),
            ("*_API_KEY", "OPENAI_API_KEY_2", false),
            ("*_API_KEY_*", "OPENAI_API_KEY_2", true),
            ("*_TOKEN", "TOKEN", false),
            ("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", true),
            ("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEYS", false),
            ("*", "ANYTHING", true),
            ("", "ANYTHING", false),
            ("a?c*", "ABCDEF", true),
            ("*a*b*", "xxaxxbxx", true),
        ];
        for (glob, name, expected) in table {
            assert_eq!(fits(glob.as_bytes(), name.as_bytes()), expected, "{glob} on {name}");
        }
    }

    #[test]
    fn hidden_names_and_keys_are_dropped_and_the_rest_is_untouched() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let environment = vec![
            pair("PATH", "/usr/bin:/bin"),
            pair("MY_TOKEN", "short"),
            pair("INNOCENT", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
            pair("HOME", "/home/me"),
        ];
        let scrubbed = scrub(environment, &["*_token".to_owned()]);
        let hidden: Vec<&str> = scrubbed.hidden.iter().map(|secret| secret.what.as_str()).collect();
        assert_eq!(hidden, ["MY_TOKEN", "INNOCENT"]);
        assert_eq!(scrubbed.kept, vec![pair("PATH", "/usr/bin:/bin"), pair("HOME", "/home/me")]);
    }

    #[test]
    fn addresses_with_a_password_are_known() {
        for value in [
            "postgres://me:hunter2@db/x",
            "http://user:p%40ss@proxy:3128",
            "a https://x.y/ b redis://:secret@host",
            "amqp://u:a:b@h",
        ] {
            assert!(has_password(value.as_bytes()), "{value}");
        }
        for value in [
            "https://github.com/a/b",
            "ssh://git@host:22/a",
            "http://proxy:3128",
            "http://host/a:b@c",
            "://a:b@c",
            "unix:///run/user/1000",
            "https://user:@host",
            "",
        ] {
            assert!(!has_password(value.as_bytes()), "{value}");
        }
        let scrubbed = scrub(vec![("DATABASE_URL".into(), "mysql://a:b@c".into())], &[]);
        assert!(scrubbed.kept.is_empty());
    }

    proptest! {
        #[test]
        fn a_glob_made_from_a_name_fits_it(name in "[A-Za-z_]{1,20}", cut in 0usize..20) {
            let head: String = name.chars().take(cut).collect();
            let tail: String = name.chars().skip(cut + 1).collect();
            let starred = format!("{head}*{}", tail.to_lowercase());
            prop_assert!(fits(starred.as_bytes(), name.as_bytes()));
            let longer = format!("{name}x");
            prop_assert!(!fits(name.as_bytes(), longer.as_bytes()));
        }

        #[test]
        fn any_glob_on_any_name_ends(glob in "[*?a-c]{0,12}", name in "[a-c]{0,30}") {
            let _ = fits(glob.as_bytes(), name.as_bytes());
        }
    }
}
