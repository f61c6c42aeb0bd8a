//! The way out for boxes without a network: HTTP and HTTPS to the hosts that the person allowed.
//!
//! Runs in our process, on a socket that listens inside the box. A name is judged first, then every
//! address it stands for: one that leads to this machine or a private network is refused, so that an
//! allowed name can't be pointed at what is not meant.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::net::check::is_public;
use neco_safety::world::denial::REFUSED_HOST;

/// The longest beginning of a request.
const MOST_HEAD: usize = 32 * 1024;
/// How long a request and a connection may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause after a connection that could not be taken.
const AFTER_FAILURE: Duration = Duration::from_millis(50);
const MOST_CONNECTIONS: usize = 128;
/// How many refused hosts are remembered.
const MOST_REFUSED: usize = 50;

/// Which hosts are let through.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    allowed: Vec<String>,
    /// Only tests have servers of their own.
    this_machine: bool,
}

/// A proxy that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    task: JoinHandle<()>,
    refused: Arc<Mutex<Vec<String>>>,
}

impl Hosts {
    /// Names such as `example.org`, `*.example.com` or `example.com:8443`.
    pub(crate) fn new(allowed: Vec<String>) -> Self {
        Self { allowed, this_machine: false }
    }

    /// Whether a host may be reached at a port; without a port of its own a name stands for 80 and 443.
    fn allow(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.allowed.iter().any(|allowed| {
            let allowed = allowed.to_ascii_lowercase();
            let (name, wanted) = match allowed.rsplit_once(':').map(|(name, port)| (name, port.parse::<u16>())) {
                Some((name, Ok(port))) if !name.contains(':') => (name.to_owned(), Some(port)),
                _ => (allowed.clone(), None),
            };
            let fits_port = wanted.map_or(matches!(port, 80 | 443), |wanted| wanted == port);
            let fits_name = match name.strip_prefix("*.") {
                Some(suffix) => host.strip_suffix(suffix).is_some_and(|front| front.len() > 1 && front.ends_with('.')),
                None => host == name,
            };
            fits_port && fits_name
        })
    }
}

impl Proxy {
    /// Serves a listening socket.
    pub(crate) fn start(listener: OwnedFd, hosts: Hosts) -> io::Result<Self> {
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let refused = Arc::new(Mutex::new(Vec::new()));
        let task = tokio::spawn(serve(listener, Arc::new(hosts), Arc::clone(&refused)));
        Ok(Self { task, refused })
    }

    /// The hosts that were asked for in vain.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, hosts: Arc<Hosts>, refused: Arc<Mutex<Vec<String>>>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let client = match listener.accept().await {
            Ok((client, _)) => client,
            // A client that hung up, or no descriptor left for a moment.
            Err(error) => {
                tracing::debug!(%error, "the proxy of a sandbox did not get a connection");
                tokio::time::sleep(AFTER_FAILURE).await;
                continue;
            }
        };
        let (hosts, refused) = (Arc::clone(&hosts), Arc::clone(&refused));
        connections.spawn(async move {
            // A connection that breaks is the client's to notice.
            let _ = answer(client, &hosts, &refused).await;
            drop(permit);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(mut client: TcpStream, hosts: &Hosts, refused: &Mutex<Vec<String>>) -> io::Result<()> {
    let read = tokio::time::timeout(PATIENCE, read_head(&mut client)).await;
    let Ok(Ok(head)) = read else { return Ok(()) };
    let Some(request) = Request::parse(&head) else {
        return client.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n").await;
    };
    if !hosts.allow(&request.host, request.port) {
        remember(refused, &request);
        return refuse(&mut client, &request, "it is not in sandbox.hosts").await;
    }
    let connected = tokio::time::timeout(PATIENCE, connect(&request, hosts.this_machine)).await;
    let mut server = match connected {
        Ok(Ok(server)) => server,
        Ok(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            remember(refused, &request);
            return refuse(&mut client, &request, "it leads to this machine or a private network").await;
        }
        Ok(Err(_)) | Err(_) => {
            return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n").await;
        }
    };
    match &request.forwarded {
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
        Some(head) => server.write_all(head).await?,
    }
    server.write_all(&request.rest).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

fn remember(refused: &Mutex<Vec<String>>, request: &Request) {
    let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
    let host: String = request.host.chars().filter(|c| !c.is_control()).take(200).collect();
    if refused.len() < MOST_REFUSED && !refused.contains(&host) {
        refused.push(host);
    }
}

async fn refuse(client: &mut TcpStream, request: &Request, why: &str) -> io::Result<()> {
    let words = format!("{REFUSED_HOST}: the sandbox does not let {} through: {why}\n", request.host);
    let answer = format!(
        "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{words}",
        words.len()
    );
    client.write_all(answer.as_bytes()).await
}

async fn read_head(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while end_of_head(&head).is_none() {
        let length = client.read(&mut piece).await?;
        if length == 0 || head.len() > MOST_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(piece.get(..length).unwrap_or_default());
    }
    Ok(head)
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

/// Every address is looked at, and the one that was looked at is the one that is used.
async fn connect(request: &Request, this_machine: bool) -> io::Result<TcpStream> {
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host((request.host.as_str(), request.port)).await?.collect();
    let public: Vec<SocketAddr> =
        addresses.iter().copied().filter(|address| this_machine || is_public(address.ip())).collect();
    if public.is_empty() && !addresses.is_empty() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    TcpStream::connect(public.as_slice()).await
}

#[derive(Debug, PartialEq, Eq)]
struct Request {
    host: String,
    port: u16,
    /// The beginning as the server is to see it; nothing for a tunnel.
    forwarded: Option<Vec<u8>>,
    /// What came behind the beginning.
    rest: Vec<u8>,
}

impl Request {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(end_of_head(bytes)?)?;
        let head = std::str::from_utf8(head).ok()?;
        let (first, headers) = head.split_once("\r\n")?;
        let [method, target, version] = first.split(' ').collect::<Vec<_>>().try_into().ok()?;
        if method == "CONNECT" {
            let (host, port) = host_and_port(target, None)?;
            return Some(Self { host, port, forwarded: None, rest: rest.to_vec() });
        }
        let (authority, path) = match target.strip_prefix("http://")?.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (target.strip_prefix("http://")?, "/".to_owned()),
        };
        let (host, port) = host_and_port(authority, Some(80))?;
        let hop = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            !matches!(name.as_str(), "connection" | "proxy-connection" | "proxy-authorization" | "keep-alive" | "host")
        };
        let kept: Vec<&str> = headers.split("\r\n").filter(|line| !line.is_empty()).filter(hop).collect();
        let mut forwarded = format!("{method} {path} {version}\r\nHost: {authority}\r\nConnection: close\r\n");
        kept.iter().for_each(|line| forwarded.push_str(&format!("{line}\r\n")));
        forwarded.push_str("\r\n");
        Some(Self { host, port, forwarded: Some(forwarded.into_bytes()), rest: rest.to_vec() })
    }
}

fn host_and_port(authority: &str, default: Option<u16>) -> Option<(String, u16)> {
    if authority.contains(['@', '/', '?', '#']) {
        return None;
    }
    if let Some(inner) = authority.strip_prefix('[') {
        let (host, rest) = inner.split_once(']')?;
        let port = if rest.is_empty() { default? } else { rest.strip_prefix(':')?.parse().ok()? };
        return Some((host.to_owned(), port));
    }
    match authority.rsplit_once(':') {
        Some((host, port)) => Some((host.to_owned(), port.parse().ok()?)),
        None => Some((authority.to_owned(), default?)),
    }
    .filter(|(host, _)| !host.is_empty() && !host.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_exactly_or_below_a_star() {
        let hosts = Hosts::new(["example.org", "*.example.com", "dev.test:8443"].map(str::to_owned).to_vec());
        for (host, port) in [
            ("example.org", 443),
            ("EXAMPLE.org.", 80),
            ("a.example.com", 443),
            ("a.b.example.com", 80),
            ("dev.test", 8443),
        ] {
            assert!(hosts.allow(host, port), "{host}:{port}");
        }
        for (host, port) in [
            ("example.org", 22),
            ("evilexample.org", 443),
            ("example.org.evil.com", 443),
            ("example.com", 443),
            (".example.com", 443),
            ("evilexample.com", 443),
            ("dev.test", 443),
            ("", 443),
        ] {
            assert!(!hosts.allow(host, port), "{host}:{port}");
        }
    }

    #[test]
    fn only_addresses_of_the_world_are_public() {
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "2a00:1450::1"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.8",
            "240.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::127.0.0.1",
            "2001:0:1::",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn requests_are_read_and_rewritten() {
        let tunnel = Request::parse(b"CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\n\r\nrest").unwrap();
        assert_eq!((tunnel.host.as_str(), tunnel.port, tunnel.rest.as_slice()), ("a.example", 443, &b"rest"[..]));
        let plain = Request::parse(
            b"GET http://a.example:81/p?q HTTP/1.1\r\nHost: evil\r\nProxy-Authorization: x\r\nAccept: */*\r\n\r\n",
        )
        .unwrap();
        assert_eq!(plain.port, 81);
        let head = String::from_utf8(plain.forwarded.unwrap()).unwrap();
        assert_eq!(head, "GET /p?q HTTP/1.1\r\nHost: a.example:81\r\nConnection: close\r\nAccept: */*\r\n\r\n");
        for bad in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            b"CONNECT a HTTP/1.1\r\n\r\n",
            b"GET http://u@a/ HTTP/1.1\r\n\r\n",
            b"CONNECT :443 HTTP/1.1\r\n\r\n",
            b"x\r\n\r\n",
        ] {
            assert_eq!(Request::parse(bad), None, "{:?}", String::from_utf8_lossy(bad));
        }
    }

    async fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn allowed_hosts_are_reached_and_others_are_refused_and_remembered() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = server.accept().await {
                let _ = read_head(&mut client).await;
                client.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello").await.unwrap();
            }
        });
        let start = |hosts: Hosts| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            (Proxy::start(listener.into(), hosts).unwrap(), address)
        };
        let allowed = vec![format!("localhost:{port}")];
        let (proxy, address) = start(Hosts { allowed: allowed.clone(), this_machine: true });
        let plain = ask(address, &format!("GET http://localhost:{port}/ HTTP/1.1\r\n\r\n")).await;
        assert!(plain.ends_with("hello"), "{plain}");
        let tunnel = ask(address, &format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n")).await;
        assert!(tunnel.starts_with("HTTP/1.1 200 Connection established") && tunnel.ends_with("hello"), "{tunnel}");
        let other = ask(address, "CONNECT evil.example:443 HTTP/1.1\r\n\r\n").await;
        assert!(other.starts_with("HTTP/1.1 403") && other.contains(REFUSED_HOST), "{other}");
        assert_eq!(proxy.refused(), ["evil.example"]);
        // A name that leads home is refused although it is allowed.
        let (proxy, address) = start(Hosts::new(allowed));
        let home = ask(address, &format!("CONNECT localhost:{port} HTTP/1.1\r\n\r\n")).await;
        assert!(home.starts_with("HTTP/1.1 403") && home.contains("private network"), "{home}");
        assert_eq!(proxy.refused(), ["localhost"]);
    }
}
