//! The server with a certificate of its own: who is believed, renewal, and those who never finish a handshake.

use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, Caller};
use neco_server::http::connect_trusting;
use neco_server::http::tls::{TlsFiles, shown_certificate};
use neco_server::http::trust::Trust;
use neco_server::{AttachError, RemoteClient};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::stage::Stage;

/// Certificates for localhost, 127.0.0.1 and neco.example, and the authority that signed both, good until 2126.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tls").join(name)
}

/// A server whose files can be renewed.
struct Renewed {
    stage: Stage,
    files: TempDir,
}

impl Renewed {
    async fn new() -> Self {
        let files = tempfile::tempdir().unwrap();
        let put = |from: &str, to: &str| std::fs::copy(fixture(from), files.path().join(to)).unwrap();
        put("server.pem", "certificate");
        put("server.key", "key");
        let tls = TlsFiles { certificate: files.path().join("certificate"), key: files.path().join("key") };
        Self { stage: Stage::with(tls).await, files }
    }

    fn url(&self) -> String {
        format!("https://{}", self.stage.address)
    }

    async fn reach(&self, trust: Trust) -> Result<RemoteClient, AttachError> {
        connect_trusting(&self.url(), &self.stage.token, trust).await
    }
}

#[tokio::test]
async fn only_whoever_trusts_the_certificate_says_its_token() {
    let server = Renewed::new().await;
    for trust in [
        Trust::Authorities(fixture("authority.pem")),
        Trust::Only(fixture("server.pem")),
        Trust::Only(shown_certificate(server.stage.folder.path())),
    ] {
        let window = server.reach(trust).await.unwrap();
        let wanted = OpenSession { folder: "/project".to_owned(), ..OpenSession::default() };
        assert_eq!(window.open(&Caller::person(), wanted).await.unwrap().id, server.stage.session.id);
    }
    for trust in [Trust::System, Trust::Only(fixture("renewed.pem"))] {
        let refused = server.reach(trust.clone()).await.err().unwrap();
        assert!(
            matches!(&refused, AttachError::NotWelcome(why) if why.contains("not trusted")),
            "{trust:?}: {refused}"
        );
    }
    // The name counts, also where the authority is trusted: the same server stands behind this address. Not every machine
    // has it.
    let Ok(other) = TcpListener::bind("127.0.0.2:0").await else { return };
    let (address, behind) = (other.local_addr().unwrap(), server.stage.address);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = other.accept().await {
            let mut far = TcpStream::connect(behind).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
        }
    });
    let (url, trust) = (format!("https://{address}"), Trust::Authorities(fixture("authority.pem")));
    let refused = connect_trusting(&url, &server.stage.token, trust).await.err().unwrap();
    assert!(matches!(&refused, AttachError::NotWelcome(why) if why.contains("not trusted")), "{refused}");
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_and_a_broken_one_is_not() {
    let server = Renewed::new().await;
    let put = |name: &str, bytes: &[u8]| std::fs::write(server.files.path().join(name), bytes).unwrap();
    put("certificate", &std::fs::read(fixture("renewed.pem")).unwrap());
    // The key is that of another now. The server looks every few seconds.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    server.reach(Trust::Only(fixture("server.pem"))).await.unwrap();
    put("key", &std::fs::read(fixture("renewed.key")).unwrap());
    let begun = std::time::Instant::now();
    while server.reach(Trust::Only(fixture("renewed.pem"))).await.is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the new one is never shown");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(server.reach(Trust::Only(fixture("server.pem"))).await.is_err());
    server.reach(Trust::Only(shown_certificate(server.stage.folder.path()))).await.unwrap();
}

#[tokio::test]
async fn those_who_never_finish_a_handshake_hold_up_nobody_and_are_cut_off() {
    let server = Renewed::new().await;
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(TcpStream::connect(server.stage.address).await.unwrap());
    }
    server.reach(Trust::Authorities(fixture("authority.pem"))).await.unwrap();
    let mut plain = TcpStream::connect(server.stage.address).await.unwrap();
    plain.write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut told = Vec::new();
    let _ = plain.read_to_end(&mut told).await;
    assert!(!String::from_utf8_lossy(&told).contains("200"), "nothing is served in the clear");
    let mut first = silent.remove(0);
    let end = tokio::time::timeout(Duration::from_secs(60), first.read(&mut [0; 16])).await.unwrap();
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}
