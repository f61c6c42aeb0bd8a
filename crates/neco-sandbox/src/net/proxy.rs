//! The proxy that the environment names, as other programs understand it.

use std::ffi::OsString;
use std::net::IpAddr;

use url::{Host, Url};

use super::hosts::bare;

/// Which proxy is for which address.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyRules {
    http: Option<String>,
    https: Option<String>,
    /// Hosts that are asked directly.
    without: Vec<String>,
}

impl ProxyRules {
    /// The rules of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in either case; of the first
    /// only in lower case, as whoever is called by a web server gets the other from its visitors.
    pub fn of_variables(variables: &[(OsString, OsString)]) -> Self {
        let value = |names: &[&str]| {
            let one = |name: &&str| {
                let found = variables.iter().find(|(own, _)| own.to_str() == Some(*name));
                found.and_then(|(_, value)| value.to_str()).map(str::trim).filter(|value| !value.is_empty())
            };
            names.iter().find_map(one).map(str::to_owned)
        };
        let all = value(&["all_proxy", "ALL_PROXY"]);
        let without = value(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
        Self {
            http: value(&["http_proxy"]).or_else(|| all.clone()).map(with_scheme),
            https: value(&["https_proxy", "HTTPS_PROXY"]).or(all).map(with_scheme),
            without: without
                .split([',', ' '])
                .map(|host| host.trim().to_ascii_lowercase())
                .filter(|host| !host.is_empty())
                .collect(),
        }
    }

    /// The proxy for an address; this machine is always asked directly.
    pub(super) fn of(&self, url: &Url) -> Option<&str> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        proxy.as_deref().filter(|_| !is_this_machine(url) && !self.without.iter().any(|host| is_meant(host, url)))
    }
}

impl std::fmt::Debug for ProxyRules {
    /// The address of a proxy often holds a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxyRules").field("without", &self.without).finish_non_exhaustive()
    }
}

fn with_scheme(proxy: String) -> String {
    if proxy.contains("://") { proxy } else { format!("http://{proxy}") }
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => bare(name) == "localhost" || bare(name).ends_with(".localhost"),
        None => false,
    }
}

/// `*`, a name with all below it, an address, or a network such as `10.0.0.0/8`; a port narrows it.
fn is_meant(without: &str, url: &Url) -> bool {
    let host = bare(url.host_str().unwrap_or_default());
    if let (Some((network, bits)), Ok(address)) = (without.split_once('/'), host.parse::<IpAddr>()) {
        return network.parse().is_ok_and(|network| bits.parse().is_ok_and(|bits| is_within(address, network, bits)));
    }
    let (name, port) = match without.rsplit_once(':').map(|(name, port)| (name, port.parse::<u16>())) {
        Some((name, Ok(port))) if !name.contains(':') || name.ends_with(']') => (name, Some(port)),
        _ => (without, None),
    };
    if port.is_some() && port != url.port_or_known_default() {
        return false;
    }
    let name = bare(name.trim_start_matches("*.").trim_start_matches('.'));
    name == "*" || host == name || host.strip_suffix(&name).is_some_and(|front| front.ends_with('.'))
}

fn is_within(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let shift = |width: u32| width.checked_sub(bits);
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => shift(32).is_some_and(|shift| {
            address.to_bits().checked_shr(shift).unwrap_or(0) == network.to_bits().checked_shr(shift).unwrap_or(0)
        }),
        (IpAddr::V6(address), IpAddr::V6(network)) => shift(128).is_some_and(|shift| {
            address.to_bits().checked_shr(shift).unwrap_or(0) == network.to_bits().checked_shr(shift).unwrap_or(0)
        }),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(variables: &[(&str, &str)]) -> ProxyRules {
        let variables: Vec<(OsString, OsString)> =
            variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        ProxyRules::of_variables(&variables)
    }

    #[test]
    fn the_proxy_is_chosen_as_other_programs_do() {
        let both =
            rules(&[("http_proxy", "p:1"), ("HTTPS_PROXY", "http://p:2"), ("NO_PROXY", "a.example, 10.0.0.0/8")]);
        let all =
            rules(&[("ALL_PROXY", "socks5://p:3"), ("HTTP_PROXY", "ignored:1"), ("no_proxy", "*.b.example:8080")]);
        let none = rules(&[("HTTPS_PROXY", ""), ("no_proxy", "*")]);
        let starred = rules(&[("all_proxy", "p:1"), ("no_proxy", "*")]);
        for (rules, url, proxy) in [
            (&both, "http://c.example/", Some("http://p:1")),
            (&both, "https://c.example/", Some("http://p:2")),
            (&both, "https://a.example/", None),
            (&both, "https://x.a.example/", None),
            (&both, "https://xa.example/", Some("http://p:2")),
            (&both, "http://10.2.3.4/", None),
            (&both, "http://11.2.3.4/", Some("http://p:1")),
            (&both, "http://localhost/", None),
            (&both, "http://127.0.0.1:9/", None),
            (&all, "http://c.example/", Some("socks5://p:3")),
            (&all, "http://x.b.example:8080/", None),
            (&all, "http://x.b.example/", Some("socks5://p:3")),
            (&none, "https://c.example/", None),
            (&starred, "https://c.example/", None),
        ] {
            assert_eq!(rules.of(&Url::parse(url).unwrap()), proxy, "{rules:?} {url}");
        }
    }

    #[test]
    fn a_password_is_in_no_log() {
        let rules = rules(&[("https_proxy", "http://me:secret@p:1")]);
        assert!(!format!("{rules:?}").contains("secret"));
    }
}
