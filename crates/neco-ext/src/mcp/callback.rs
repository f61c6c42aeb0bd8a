//! Where the browser comes back to after a login: a page on this machine that is there for one login.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

use super::trouble::{Trouble, shown};

/// The page that the browser is sent to.
const PATH: &str = "/callback";

/// How long somebody who connects has to say what they want: browsers connect beforehand, and say nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of a request that are read.
const LARGEST: usize = 16 * 1024;

/// How many may be connected at the same time.
const MOST: usize = 64;

/// How long is waited where nobody can connect just now.
const PAUSE: Duration = Duration::from_millis(100);

/// A page that waits for the browser.
pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
}

/// What the browser brings.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// What a token is given for.
    pub code: String,
    /// Who says that they sent the browser.
    pub issuer: Option<String>,
}

impl Callback {
    /// Opens the page, at this port or any that is free.
    pub(super) async fn listen(port: Option<u16>) -> Result<Self, Trouble> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or_default())).await;
        let open = listener.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
        match (open, port) {
            (Ok((port, listener)), _) => Ok(Self { listener, port }),
            (Err(error), Some(port)) => {
                Err(Trouble::Login(format!("the browser can't come back to port {port} of this machine: {error}")))
            }
            (Err(error), None) => Err(Trouble::Login(format!(
                "there is no port of this machine for the browser to come back to: {error}"
            ))),
        }
    }

    /// Its address.
    pub(super) fn address(&self) -> String {
        format!("http://{}:{}{PATH}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Waits for the browser. Who does not know `state` was not sent by us, and is not heard.
    pub(super) async fn wait(&self, state: &str) -> Result<Answer, Trouble> {
        let mut visits = FuturesUnordered::new();
        loop {
            tokio::select! {
                visitor = self.listener.accept(), if visits.len() < MOST => {
                    match visitor {
                        Ok((stream, _)) => visits.push(visit(stream, state)),
                        Err(_) => tokio::time::sleep(PAUSE).await,
                    }
                }
                Some(answer) = visits.next() => {
                    if let Some(answer) = answer {
                        return answer;
                    }
                }
            }
        }
    }
}

/// Hears one visitor, and shows them a page.
async fn visit(mut stream: TcpStream, state: &str) -> Option<Result<Answer, Trouble>> {
    let target = timeout(PATIENCE, target(&mut stream)).await.ok()??;
    let answer = read(&target, state);
    let (status, words) = match &answer {
        Some(Ok(_)) => ("200 OK", "Neco has what it needs. You can close this window."),
        Some(Err(_)) => ("200 OK", "The login did not work out; Neco says why. You can close this window."),
        None => ("404 Not Found", "There is nothing here."),
    };
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>Neco</title><p>{words}</p>\n");
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n",
        page.len()
    );
    // Whether the page is seen changes nothing.
    let _ = timeout(PATIENCE, stream.write_all(format!("{head}{page}").as_bytes())).await;
    let _ = stream.shutdown().await;
    answer
}

/// What a visitor asks for, when they have said everything.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut piece) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut piece).await.ok().filter(|length| *length > 0)?;
        head.extend_from_slice(piece.get(..length)?);
        if head.len() > LARGEST {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next()? == "GET").then(|| words.next().map(str::to_owned))?
}

/// What the address of the page says; nothing where it is another page or another login.
fn read(target: &str, state: &str) -> Option<Result<Answer, Trouble>> {
    let url = Url::parse("http://localhost").ok()?.join(target).ok()?;
    let said = |name: &str| url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned());
    if url.path() != PATH || said("state").as_deref() != Some(state) {
        return None;
    }
    let error = match said("error") {
        None => {
            let code = said("code")?;
            return Some(Ok(Answer { code, issuer: said("iss") }));
        }
        Some(error) if error == "access_denied" => "the login was denied in the browser".to_owned(),
        Some(error) => format!("the login failed: {}", shown(&said("error_description").unwrap_or(error))),
    };
    Some(Err(Trouble::Login(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_login_that_was_begun_is_heard() {
        let answer =
            |code: &str, issuer: Option<&str>| Answer { code: code.to_owned(), issuer: issuer.map(str::to_owned) };
        assert_eq!(read("/callback?code=a%20b&state=s", "s"), Some(Ok(answer("a b", None))));
        assert_eq!(read("/callback?code=c&state=s&iss=https://i", "s"), Some(Ok(answer("c", Some("https://i")))));
        for target in ["/callback?code=c&state=t", "/callback?code=c", "/favicon.ico", "/callback?state=s", "//["] {
            assert_eq!(read(target, "s"), None, "{target}");
        }
        let refused = read("/callback?error=access_denied&state=s", "s");
        assert_eq!(refused, Some(Err(Trouble::Login("the login was denied in the browser".to_owned()))));
    }

    #[tokio::test]
    async fn a_browser_that_connects_beforehand_does_not_keep_the_login_from_ending() {
        let callback = Callback::listen(None).await.unwrap();
        let _silent = TcpStream::connect((Ipv4Addr::LOCALHOST, callback.port)).await.unwrap();
        let visitor = async {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, callback.port)).await.unwrap();
            stream.write_all(b"GET /callback?code=c&state=s HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            let mut page = String::new();
            stream.read_to_string(&mut page).await.unwrap();
            page
        };
        let (answer, page) = tokio::join!(callback.wait("s"), visitor);
        assert_eq!(answer.unwrap().code, "c");
        assert!(page.contains("You can close this window"), "{page}");
    }
}
