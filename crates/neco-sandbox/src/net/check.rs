//! Whether an address may be asked at all, and at which of its machines.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use neco_safety::world::net::NetError;
use url::{Host, Url};

use super::hosts::bare;

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

/// Where a cloud's machines ask it about themselves, at an address that looks like any other.
const CLOUD: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Whether an address is one of the open internet: not this machine, no private network, no group of
/// machines, none that clouds answer their own machines at; also not by way of an address that holds another.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || address == CLOUD
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match parts {
        _ if address.to_ipv4().is_some() => address.to_ipv4().is_some_and(is_public_v4),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0xdb8, ..] => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        // Only this range is given out to the world.
        [first, second, ..] => first & 0xe000 == 0x2000 && !(first == 0x2001 && second < 0x200),
    }
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

    #[test]
    fn only_the_open_internet_is_public() {
        for (address, public) in [
            ("8.8.8.8", true),
            ("1.1.1.1", true),
            ("172.15.0.1", true),
            ("172.32.0.1", true),
            ("100.63.0.1", true),
            ("2606:4700::1111", true),
            ("2a00:1450::1", true),
            ("64:ff9b::808:808", true),
            ("2002:808:808::1", true),
            ("127.0.0.1", false),
            ("127.9.9.9", false),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.0.0.1", false),
            ("172.16.0.1", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.100.100.200", false),
            ("168.63.129.16", false),
            ("192.0.0.192", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::127.0.0.1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("64:ff9b:1::808:808", false),
            ("2002:7f00:1::", false),
            ("2002:a00:1::", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("3fff::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("ff02::1", false),
            ("100::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }
}
