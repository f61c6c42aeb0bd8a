//! Whether an address may be asked at all, and at which of its machines.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use super::address::is_public;
use super::hosts::bare;
use neco_safety::world::net::NetError;

/// Names that mean something on this machine or in its network only.
const LOCAL_NAMES: &[&str] = &["localhost", "local", "internal", "intranet", "lan", "home.arpa", "localdomain"];

/// Looks at an address without asking anybody. `open` says that the person opened its host.
pub(super) fn check(url: &Url, open: bool) -> Result<(), NetError> {
    match url.scheme() {
        "http" | "https" => {}
        other => return Err(NetError::Scheme(other.to_owned())),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(NetError::Login);
    }
    let (Some(host), Some(_)) = (url.host(), url.port_or_known_default()) else { return Err(NetError::NoHost) };
    let private = match host {
        Host::Ipv4(address) => !is_public(IpAddr::V4(address)),
        Host::Ipv6(address) => !is_public(IpAddr::V6(address)),
        Host::Domain(name) if !is_name(name) => return Err(NetError::NoHost),
        Host::Domain(name) => is_local_name(name),
    };
    if private && !open { Err(NetError::Private { host: told(url) }) } else { Ok(()) }
}

/// The addresses that a name stands for, all of them looked at: nothing is left of a name that leads
/// home, also when it leads elsewhere as well.
pub(super) async fn resolve(url: &Url, open: bool) -> Result<Vec<SocketAddr>, NetError> {
    let port = url.port_or_known_default().ok_or(NetError::NoHost)?;
    let name = match url.host() {
        Some(Host::Domain(name)) => name,
        Some(Host::Ipv4(address)) => return Ok(vec![(address, port).into()]),
        Some(Host::Ipv6(address)) => return Ok(vec![(address, port).into()]),
        None => return Err(NetError::NoHost),
    };
    let found = tokio::net::lookup_host((name, port)).await;
    let addresses: Vec<SocketAddr> = found.map_err(|_| NetError::UnknownHost(told(url)))?.collect();
    if addresses.is_empty() {
        return Err(NetError::UnknownHost(told(url)));
    }
    if !open && addresses.iter().any(|address| !is_public(address.ip())) {
        return Err(NetError::Private { host: told(url) });
    }
    Ok(addresses)
}

/// The host and its port where that is not the usual one.
pub(super) fn told(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn is_local_name(name: &str) -> bool {
    let name = bare(name);
    // A name without a dot is looked up in the machine's own network.
    !name.contains('.') || LOCAL_NAMES.iter().any(|local| name == *local || name.ends_with(&format!(".{local}")))
}

/// What names of hosts are made of; others are patterns or mistakes.
fn is_name(name: &str) -> bool {
    !bare(name).is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(url: &str, open: bool) -> Result<(), NetError> {
        check(&Url::parse(url).unwrap(), open)
    }

    #[test]
    fn what_is_not_the_open_web_is_refused_however_it_is_spelt() {
        for url in [
            "http://localhost/",
            "http://localhost.:80/",
            "http://LOCALHOST/",
            "http://a.localhost/",
            "http://printer/",
            "http://nas.local/",
            "http://metadata.google.internal/",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://0x7f.1/",
            "http://127.0.0.1./",
            "http://①②⑦.0.0.1/",
            "http://0/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[fd00:ec2::254]/",
            "http://[fe80::1]/",
            "http://10.0.0.1:8080/",
        ] {
            assert!(matches!(checked(url, false), Err(NetError::Private { .. })), "{url}");
            assert!(checked(url, true).is_ok(), "{url} is open");
        }
    }

    #[test]
    fn other_schemes_logins_and_odd_hosts_are_refused_whatever_is_open() {
        for (url, wanted) in [
            ("ftp://example.com/", "ftp"),
            ("file:///etc/passwd", "file"),
            ("data:text/plain,x", "data"),
            ("javascript:alert(1)", "javascript"),
            ("https://user@example.com/", "login"),
            ("https://user:word@example.com/", "login"),
            ("https://:word@example.com/", "login"),
            ("http://*/", "host"),
            ("http://*.example.com/", "host"),
            ("http://a;b.example/", "host"),
        ] {
            let error = checked(url, true).unwrap_err().to_string();
            assert!(error.contains(wanted), "{url}: {error}");
        }
    }

    #[test]
    fn the_open_web_is_let_through() {
        for url in
            ["https://example.com/a?b#c", "http://example.com:8080/", "https://münchen.example/", "http://8.8.8.8/"]
        {
            assert!(checked(url, false).is_ok(), "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_home_is_refused_unless_it_is_open() {
        let url = Url::parse("http://localhost:81/").unwrap();
        assert!(matches!(resolve(&url, false).await, Err(NetError::Private { .. })));
        let found = resolve(&url, true).await.unwrap();
        assert!(found.iter().all(|address| address.ip().is_loopback() && address.port() == 81), "{found:?}");
        let nowhere = Url::parse("http://no-such-name.invalid/").unwrap();
        assert!(matches!(resolve(&nowhere, true).await, Err(NetError::UnknownHost(_))));
    }
}
