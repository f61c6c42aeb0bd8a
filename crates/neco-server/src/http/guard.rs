//! What every request has to pass before anything is done: where it says it goes, where it comes from, who asks, how
//! often.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tokio_util::sync::CancellationToken;

use super::House;
use super::access::Rights;
use super::audit::Line;
use super::calls::LONGEST_BODY;
use super::crowd::network;
use super::page::is_page;
use super::problem::Problem;
use super::ws;

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub SocketAddr);

/// Whose requests are counted together: the address of whoever asks, also where a proxy stands between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker(pub IpAddr);

/// Requests in a minute that somebody of another machine may make, and of this one.
const REQUESTS: [f64; 2] = [600.0, 6000.0];

/// Wrong tokens in a minute.
const WRONG: f64 = 10.0;

/// Of those that are turned away in a minute, how many are written down.
const NOTED: f64 = 10.0;

/// Addresses that are counted at a time, each by itself.
const MOST: usize = 4096;

/// How a browser names the header token of its tab where it can't set headers.
const TAB_PROTOCOL: &str = "neco.tab.";

/// The header that it sets elsewhere.
const TAB_HEADER: &str = "x-neco-tab";

/// What the server is called, and how often it is asked.
pub(crate) struct Guard {
    /// `Host` headers that are right, such as `127.0.0.1:7420`.
    pub hosts: Vec<String>,
    pub port: u16,
    /// Whether somebody else stands before it, and ends TLS there.
    pub behind_proxy: bool,
    /// Whether browsers reach it by TLS.
    pub is_tls: bool,
    asked: Mutex<HashMap<(IpAddr, String), (f64, Instant)>>,
}

impl Guard {
    pub fn new(address: SocketAddr, names: &[String], behind_proxy: bool, speaks_tls: bool) -> Self {
        let port = address.port();
        let bound = match address.ip() {
            IpAddr::V4(four) => four.to_string(),
            IpAddr::V6(six) => format!("[{six}]"),
        };
        let own = ["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned(), bound];
        let mut hosts: Vec<String> = own.iter().chain(names).map(|name| format!("{name}:{port}")).collect();
        // Names of a proxy stand without our port.
        hosts.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        // Nobody says the port that goes without saying.
        hosts.extend(own.into_iter().filter(|_| port == if speaks_tls { 443 } else { 80 }));
        Self { hosts, port, behind_proxy, is_tls: behind_proxy || speaks_tls, asked: Mutex::default() }
    }

    /// The address of whoever asks. A proxy of ours names it last; those before it say what they like.
    fn asker(&self, peer: IpAddr, headers: &HeaderMap) -> Asker {
        let named = headers.get_all("x-forwarded-for").iter().next_back().filter(|_| self.behind_proxy);
        let named = named.and_then(|named| named.to_str().ok()?.rsplit(',').next()).map(str::trim);
        let address = named.and_then(|named| {
            let with_port = |named: &str| named.parse::<SocketAddr>().ok().map(|address| address.ip());
            named.trim_matches(['[', ']']).parse().ok().or_else(|| with_port(named))
        });
        Asker(address.unwrap_or(peer))
    }

    /// Whether somebody who was let in may ask for something more now.
    pub fn may_ask(&self, Asker(address): Asker, rights: &Rights) -> bool {
        self.may(address, &format!("{:?}", rights.actor), most(address))
    }

    /// Whether somebody who showed something wrong may do so again.
    pub fn may_be_wrong(&self, Asker(address): Asker, what: &str) -> bool {
        self.may(address, what, WRONG)
    }

    /// Whether an address, or its network, has something left of `most` a minute.
    fn may(&self, peer: IpAddr, what: &str, most: f64) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (network(peer), what.to_owned());
        if asked.len() >= MOST && !asked.contains_key(&key) {
            asked.retain(|_, (_, at)| at.elapsed().as_secs() < 60);
            if asked.len() >= MOST {
                // All that come now are counted as one.
                key.0 = Ipv4Addr::UNSPECIFIED.into();
            }
        }
        let (left, at) = asked.entry(key).or_insert((most, Instant::now()));
        *left = most.min(*left + at.elapsed().as_secs_f64() * most / 60.0);
        *at = Instant::now();
        let may = *left >= 1.0;
        *left -= f64::from(u8::from(may));
        may
    }

    /// Refuses what was sent to another name: a page of somebody else whose name leads here by now.
    fn host(&self, request: &Request) -> Result<(), Problem> {
        let mut named = request.headers().get_all(header::HOST).iter();
        let only = named.next().filter(|_| named.next().is_none()).and_then(|host| host.to_str().ok());
        // With a whole address in the first line that counts, too.
        let absolute = request.uri().authority().is_none_or(|authority| self.is_own(authority.as_str()));
        match only.is_some_and(|host| self.is_own(host)) && absolute {
            true => Ok(()),
            false => Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "this server has another name")),
        }
    }

    fn is_own(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    /// Refuses what a page of somebody else asks.
    fn origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let foreign = || Problem::new(StatusCode::FORBIDDEN, "pages of others may not ask this");
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().map_err(|_| foreign())?;
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !host.is_some_and(|host| self.is_own(host)) {
                return Err(foreign());
            }
        }
        match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
            None | Some(b"same-origin" | b"none") => Ok(()),
            Some(_) => Err(foreign()),
        }
    }

    /// The cookie of a browser.
    pub fn cookie<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let name = format!("{}=", self.cookie_name());
        let all = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        all.flat_map(|cookies| cookies.split(';')).find_map(|cookie| cookie.trim().strip_prefix(name.as_str()))
    }

    /// Cookies are shared by all ports of a machine.
    pub fn cookie_name(&self) -> String {
        format!("neco_{}", self.port)
    }
}

/// Lets a request pass, or says why not.
pub(crate) async fn guard(State(house): State<Arc<House>>, mut request: Request, next: Next) -> Response {
    let passed = pass(&house, &mut request);
    let mut response = match passed {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            // Those who are turned away for asking too much are counted and not written down, and of all others no more
            // than somebody can read.
            let asker = request.extensions().get::<Asker>();
            if matches!(problem.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
                && asker.is_some_and(|Asker(address)| house.guard.may(*address, "noted", NOTED))
            {
                let line = turned_away(&request, &problem);
                house.hall.audit.note(line).await;
            }
            problem.into_response()
        }
    };
    let class = usize::from(response.status().as_u16() / 100).saturating_sub(1);
    house.hall.numbers.answered.get(class).inspect(|number| number.add());
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.entry(*name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// What is written down of a request that nothing was done for. What stands behind its `?` may be a secret.
fn turned_away(request: &Request, problem: &Problem) -> Line {
    let from = request.extensions().get::<Asker>().map(|Asker(address)| address.to_string());
    let does = format!("{} {}", request.method(), request.uri().path());
    Line { does, from, refused: Some(problem.words().to_owned()), ..Line::default() }
}

/// What every answer says, unless the page says it otherwise.
const ALWAYS: &[(&str, &str)] = &[
    ("cache-control", "no-store"),
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
];

/// Requests of an address in a minute.
fn most(address: IpAddr) -> f64 {
    let [afar, here] = REQUESTS;
    if address.is_loopback() { here } else { afar }
}

fn pass(house: &House, request: &mut Request) -> Result<(), Problem> {
    let guard = &house.guard;
    let peer = request.extensions().get::<Peer>().map(|Peer(peer)| peer.ip());
    let peer = peer.ok_or_else(|| Problem::bad("it is not known who asks"))?;
    let asker = guard.asker(peer, request.headers());
    request.extensions_mut().insert(asker);
    guard.host(request)?;
    guard.origin(request.headers())?;
    let unframed = request.headers().contains_key(header::TRANSFER_ENCODING)
        && request.headers().contains_key(header::CONTENT_LENGTH);
    if unframed {
        return Err(Problem::bad("a body has one length"));
    }
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: u64| length > LONGEST_BODY as u64) {
        let words = format!("a body has at most {LONGEST_BODY} bytes");
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, words));
    }
    let rights = who(house, request.headers());
    let is_open = OPEN.contains(&request.uri().path()) || is_page(request.uri().path());
    let too_many = |words: &str| Problem::new(StatusCode::TOO_MANY_REQUESTS, words);
    match &rights {
        Some((rights, _)) if !guard.may_ask(asker, rights) => {
            return Err(too_many("that is too much in one minute"));
        }
        Some(_) => {}
        None if is_open => {
            if !guard.may(asker.0, "open", most(asker.0)) {
                return Err(too_many("that is too much in one minute"));
            }
        }
        None => {
            house.hall.numbers.strangers.add();
            if !guard.may_be_wrong(asker, "wrong") {
                return Err(too_many("too many wrong tokens in one minute"));
            }
            tracing::warn!(peer = %asker.0, path = request.uri().path(), "a request without a valid token");
            return Err(Problem::new(StatusCode::UNAUTHORIZED, "a token is needed: `neco serve token` prints it"));
        }
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && has_body(request) && !is_json(request.headers()) {
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "bodies are application/json"));
    }
    if let Some((rights, ends)) = rights {
        request.extensions_mut().insert(rights);
        request.extensions_mut().insert(ends);
    }
    Ok(())
}

/// Where the code of a link is shown.
const EXCHANGE: &str = "/api/v1/auth/exchange";

/// What needs no token besides the page; browsers ask for a picture of every page, and there is none.
const OPEN: &[&str] = &["/favicon.ico", "/health/live", "/health/ready", EXCHANGE];

/// Whoever shows a token, or both secrets of a browser, and what is cancelled when these are good no longer.
fn who(house: &House, headers: &HeaderMap) -> Option<(Rights, CancellationToken)> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(shown) = shown.next().filter(|_| shown.next().is_none()) {
        let token = shown.to_str().ok()?.strip_prefix("Bearer ")?;
        return house.access.of_token(token.trim());
    }
    let by_protocol = || ws::protocols(headers).find_map(|name| name.strip_prefix(TAB_PROTOCOL));
    let by_header = headers.get(TAB_HEADER).and_then(|tab| tab.to_str().ok());
    house.access.of_browser(house.guard.cookie(headers)?, by_header.or_else(by_protocol)?)
}

fn has_body(request: &Request) -> bool {
    let headers = request.headers();
    let length = headers.get(header::CONTENT_LENGTH).map(HeaderValue::as_bytes);
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|length| length != b"0")
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_counted_once_and_no_more_are_than_there_is_room_for() {
        let guard = Guard::new("127.0.0.1:7420".parse().unwrap(), &[], false, false);
        let may = |address: &str| guard.may(address.parse().unwrap(), "wrong", 2.0);
        assert!(may("2001:db8::1") && may("2001:db8::2") && !may("2001:db8::3") && may("2001:db8:0:1::1"));
        let fills = |at: u16| guard.may(std::net::Ipv6Addr::new(0x2001, 0xdb9, 0, at, 0, 0, 0, 1).into(), "wrong", 1.0);
        assert!((0..2 * 4096).filter(|at| fills(*at)).count() <= MOST, "the rest have one share");
        assert!(guard.asked.lock().unwrap().len() <= MOST + 1);
    }

    #[test]
    fn behind_a_proxy_everybody_is_counted_by_themselves() {
        let guard = |behind_proxy| Guard::new("127.0.0.1:7420".parse().unwrap(), &[], behind_proxy, false);
        let asker = |behind_proxy, lines: &[&str]| {
            let mut headers = HeaderMap::new();
            lines.iter().for_each(|line| {
                headers.append("x-forwarded-for", line.parse().unwrap());
            });
            guard(behind_proxy).asker(Ipv4Addr::LOCALHOST.into(), &headers).0.to_string()
        };
        assert_eq!(asker(true, &["192.0.2.9, 198.51.100.1"]), "198.51.100.1", "who is named first may be anybody");
        assert_eq!(asker(true, &["192.0.2.9", "[2001:db8::1]:443"]), "2001:db8::1");
        assert_eq!(asker(true, &["2001:db8::2"]), "2001:db8::2");
        assert_eq!([asker(true, &[]), asker(true, &["unknown"])], ["127.0.0.1"; 2]);
        assert_eq!(asker(false, &["192.0.2.9"]), "127.0.0.1", "nobody stands between who could say it");
    }

    #[test]
    fn its_own_names_are_those_that_browsers_say() {
        let named = |address: &str| Guard::new(address.parse().unwrap(), &["neco.example".to_owned()], false, false);
        let usual = named("[2001:db8::1]:7420");
        for host in ["127.0.0.1:7420", "[2001:db8::1]:7420", "LocalHost:7420", "neco.example", "neco.example:7420"] {
            assert!(usual.is_own(host), "{host}");
        }
        assert!(!usual.is_own("localhost") && !usual.is_own("2001:db8::1:7420"));
        assert!(named("127.0.0.1:80").is_own("localhost") && named("[::1]:80").is_own("[::1]"));
    }
}
