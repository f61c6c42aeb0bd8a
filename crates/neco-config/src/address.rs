//! Addresses as they may be shown: people write passwords and keys into them.

/// What stands for a secret.
pub(crate) const HIDDEN: &str = "***";

/// `text` with `***` for the login and the values of the query of every address in it:
/// `http://***@host/v1?key=***`. What has neither is given back as it is; parameters of a model's name
/// are no query of an address.
pub fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let end = after.find(ends_address).unwrap_or(after.len());
        let (address, remaining) = after.split_at_checked(end).unwrap_or((after, ""));
        shown.push_str(&hidden(address));
        rest = remaining;
    }
    shown.push_str(rest);
    shown
}

/// What no address holds, and what stands behind one in a setting or a sentence.
fn ends_address(char: char) -> bool {
    char.is_whitespace() || matches!(char, '"' | '\'' | '<' | '>' | '`')
}

/// One address, from behind its `://`.
fn hidden(address: &str) -> String {
    let (place, tail) = match address.find(['/', '?', '#']) {
        Some(at) => address.split_at_checked(at).unwrap_or((address, "")),
        None => (address, ""),
    };
    // A password may hold a slash or a question mark that nobody escaped.
    let (place, tail) = match (place.contains('@'), tail.rsplit_once('@')) {
        (false, Some((login, rest))) if place.contains(':') && !login.contains('?') => {
            let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (host, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            (format!("{HIDDEN}@{host}"), tail)
        }
        (_, _) => match place.rsplit_once('@') {
            Some((_, host)) => (format!("{HIDDEN}@{host}"), tail),
            None => (place.to_owned(), tail),
        },
    };
    let (path, query) = match tail.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (tail, None),
    };
    match query {
        Some(query) => format!("{place}{path}?{}", query.split('&').map(pair).collect::<Vec<_>>().join("&")),
        None => format!("{place}{path}"),
    }
}

fn pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() => format!("{name}={HIDDEN}"),
        Some(_) => pair.to_owned(),
        // A query without names is all secret.
        None if pair.is_empty() => String::new(),
        None => HIDDEN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn logins_and_queries_are_hidden_and_the_rest_stays() {
        for (text, shown) in [
            ("http://localhost:8000/v1", "http://localhost:8000/v1"),
            ("http://user:pw@host/v1", "http://***@host/v1"),
            ("https://token@host", "https://***@host"),
            ("https://me:p@ss@host:8443/v1", "https://***@host:8443/v1"),
            ("https://me:p/ss@host/v1", "https://***@host/v1"),
            ("https://host/v1?key=sk-1&version=2024", "https://host/v1?key=***&version=***"),
            ("https://host/v1?sk-1", "https://host/v1?***"),
            ("https://host/v1?key=", "https://host/v1?key="),
            ("https://host/@scope/v1", "https://host/@scope/v1"),
            ("\"http://a:b@h/v1\" and 'http://c:d@h'", "\"http://***@h/v1\" and 'http://***@h'"),
            ("play/a?temperature=0.2", "play/a?temperature=0.2"),
            ("me@host", "me@host"),
        ] {
            assert_eq!(without_secrets(text), shown, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_password_is_never_shown(password in "[a-zA-Z0-9:@/.-]{1,12}", host in "[a-z]{1,8}") {
            let shown = without_secrets(&format!("base = \"http://me:QQQ{password}@{host}/v1?key=QQQ{host}\""));
            prop_assert!(!shown.contains("QQQ"), "{}", shown);
        }

        #[test]
        fn text_without_an_address_is_untouched(text in "[a-z @?=&/:]{0,40}") {
            prop_assume!(!text.contains("://"));
            prop_assert_eq!(without_secrets(&text), text);
        }
    }
}
