//! What systemd gives a server that it starts, and is told of it: sockets that listen already, and when it is ready.

use std::io;
use std::net::TcpListener;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use neco_config::Env;
use neco_sandbox::passed_file;

/// The number of the first open file that is passed.
const FIRST: i32 = 3;

/// The socket that systemd listens at for this process, if it does.
///
/// # Errors
/// When it is none that can be served.
pub fn listener(env: &Env) -> io::Result<Option<TcpListener>> {
    let number = |name: &str| env.var(name).and_then(|value| value.parse::<u32>().ok());
    if number("LISTEN_PID") != Some(std::process::id()) {
        return Ok(None);
    }
    let unusable = |words: &str| io::Error::other(format!("of the sockets of systemd {words}"));
    match number("LISTEN_FDS") {
        Some(1) => {}
        count => return Err(unusable(&format!("one can be served, and there are {}", count.unwrap_or_default()))),
    }
    let file = passed_file(FIRST).ok_or_else(|| unusable("none is open"))?;
    let listener = TcpListener::from(file);
    listener.local_addr().map_err(|_| unusable("the one that came has no address of TCP"))?;
    Ok(Some(listener))
}

/// Whether systemd runs this process, and starts another one when it ends.
pub fn is_manager(env: &Env) -> bool {
    env.is_set("LISTEN_FDS") || env.is_set("NOTIFY_SOCKET")
}

/// Tells systemd something, where it wants to know.
pub fn tell(env: &Env, what: &str) {
    let Some(place) = env.var("NOTIFY_SOCKET").filter(|place| !place.is_empty()) else { return };
    let told = address(place).and_then(|address| UnixDatagram::unbound()?.send_to_addr(what.as_bytes(), &address));
    if let Err(error) = told {
        tracing::warn!(%error, "systemd could not be told of it");
    }
}

fn address(place: &str) -> io::Result<SocketAddr> {
    match place.strip_prefix('@') {
        #[cfg(target_os = "linux")]
        Some(name) => <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name),
        _ => SocketAddr::from_pathname(place),
    }
}
