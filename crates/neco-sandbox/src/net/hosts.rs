//! Hosts that a person opened although they are not on the open internet.

use url::Url;

/// Names such as `localhost`, `localhost:3000`, `10.1.2.3` or `*.corp.example.com`.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenHosts(Vec<OpenHost>);

#[derive(Clone, Debug)]
struct OpenHost {
    name: String,
    port: Option<u16>,
}

impl OpenHosts {
    pub(super) fn new<S: AsRef<str>>(hosts: impl IntoIterator<Item = S>) -> Self {
        Self(hosts.into_iter().map(|host| OpenHost::new(host.as_ref())).collect())
    }

    /// Whether an address is at one of them; a name without a port stands for every port.
    pub(super) fn hold(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let host = bare(host);
        let port = url.port_or_known_default();
        self.0.iter().any(|open| open.is(&host) && open.port.is_none_or(|wanted| Some(wanted) == port))
    }
}

impl OpenHost {
    fn new(text: &str) -> Self {
        let text = text.trim();
        // More than one colon and no bracket is an address, not a name with a port.
        let split = match text.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
                port.parse().ok().map(|port| (name, port))
            }
            Some(_) | None => None,
        };
        match split {
            Some((name, port)) => Self { name: bare(name), port: Some(port) },
            None => Self { name: bare(text), port: None },
        }
    }

    fn is(&self, host: &str) -> bool {
        match self.name.strip_prefix("*.") {
            Some(suffix) => host.strip_suffix(suffix).is_some_and(|front| front.len() > 1 && front.ends_with('.')),
            None => host == self.name,
        }
    }
}

/// A host without brackets and the last dot, in lower case.
pub(super) fn bare(host: &str) -> String {
    host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_open_by_name_by_port_and_below_a_name() {
        for (open, url, holds) in [
            ("localhost", "http://localhost:3000/x", true),
            ("localhost", "http://LOCALHOST./", true),
            ("localhost:3000", "http://localhost:3000/", true),
            ("localhost:3000", "http://localhost:3001/", false),
            ("localhost:80", "http://localhost/", true),
            ("localhost", "http://localhost.evil.example/", false),
            ("127.0.0.1", "http://2130706433/", true),
            ("10.1.2.3", "http://10.1.2.4/", false),
            ("::1", "http://[::1]:8080/", true),
            ("[::1]:8080", "http://[::1]:8080/", true),
            ("[::1]:8080", "http://[::1]/", false),
            ("*.corp.example", "https://wiki.corp.example/", true),
            ("*.corp.example", "https://corp.example/", false),
            ("*.corp.example", "https://xcorp.example/", false),
            ("", "http://localhost/", false),
        ] {
            assert_eq!(OpenHosts::new([open]).hold(&Url::parse(url).unwrap()), holds, "{open} {url}");
        }
    }
}
