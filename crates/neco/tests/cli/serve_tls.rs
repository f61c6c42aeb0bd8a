//! The server with a certificate: beyond this machine, and for commands here and elsewhere.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::serve::Serving;
use crate::support::{House, Ran, eventually, say};

/// A certificate for localhost, 127.0.0.1 and neco.example that the authority beside it signed, good until 2126.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tls").join(name)
}

fn flags() -> [String; 4] {
    let path = |name| fixture(name).display().to_string();
    ["--tls-cert".to_owned(), path("server.pem"), "--tls-key".to_owned(), path("server.key")]
}

#[test]
fn whoever_trusts_the_certificate_works_with_the_server() {
    let house = House::playing(json!([say("Hello over TLS.")]));
    let flags = flags();
    let serving = Serving::start(&house, &flags.each_ref().map(String::as_str));
    assert!(serving.url.starts_with("https://127.0.0.1:"), "{}", serving.url);
    // Commands here know the server's own certificate.
    house.run(&["-m", "hello", "--background"]).ended_with(0);
    eventually("it is done", || house.run(&["session", "list"]).ended_with(0).stdout.contains("hello"));
    house.run(&["--server", &serving.url, "session", "list"]).ended_with(0).says("hello");
    let link = house.run(&["serve", "link"]).ended_with(0);
    assert!(link.stdout.starts_with(&format!("{}/#code=", serving.url)), "{}", link.stdout);
    // Those of others do not, and are told what helps.
    let other = House::empty();
    let afar = |variables: &[(&str, &str)]| {
        let mut command = other.neco(&["--server", &serving.url, "session", "list", "--all"]);
        command.env("NECO_SERVER_TOKEN", &serving.token).envs(variables.iter().copied());
        Ran::of(&mut command)
    };
    afar(&[]).ended_with(1).says("its certificate is not trusted").says("NECO_SERVER_CA");
    let authority = fixture("authority.pem").display().to_string();
    afar(&[("NECO_SERVER_CA", &authority)]).ended_with(0).says("hello");
    let nothing = other.path("nothing.pem").display().to_string();
    afar(&[("NECO_SERVER_CA", &nothing)]).ended_with(1).says("nothing.pem");
    let plain = serving.url.replace("https://", "http://");
    let mut command = other.neco(&["--server", &plain, "session", "list"]);
    Ran::of(command.env("NECO_SERVER_TOKEN", &serving.token)).ended_with(1);
}

#[test]
fn a_certificate_that_can_not_be_used_is_said_by_its_file() {
    let house = House::empty();
    let served = |certificate: &str, key: &str| {
        let (certificate, key) = (fixture(certificate).display().to_string(), fixture(key).display().to_string());
        house.run(&["serve", "--bind", "127.0.0.1:0", "--tls-cert", &certificate, "--tls-key", &key])
    };
    served("server.pem", "renewed.key").ended_with(1).says("renewed.key").says("is not the key of");
    served("server.key", "server.key").ended_with(1).says("no certificate");
    served("server.pem", "server.pem").ended_with(1).says("no private key");
    served("gone.pem", "server.key").ended_with(1).says("gone.pem");
    let alone = fixture("server.pem").display().to_string();
    house.run(&["serve", "--tls-cert", &alone]).ended_with(2).says("--tls-key");
    house.run(&["serve", "--bind", "0.0.0.0:0"]).ended_with(2).says("--tls-cert");
}
