//! Ears on loopback, outside of the box: whatever reaches them is an escape.

use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

/// A TCP port, a UDP port, a unix socket and one in the abstract name space.
pub struct Listeners {
    tcp: u16,
    udp: u16,
    socket: PathBuf,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listeners {
    /// Opens all of them; the unix socket lies in `folder`.
    pub fn open(folder: &Path) -> Self {
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let socket = folder.join("socket");
        let ports = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let unix = UnixListener::bind(&socket).unwrap();
        let name = SocketAddr::from_abstract_name(format!("neco-hostile-{}", ports.0)).unwrap();
        let hidden = UnixListener::bind_addr(&name).unwrap();
        hear(&heard, "tcp", move || tcp.accept().map(|_| ()));
        hear(&heard, "udp", move || udp.recv(&mut [0; 16]).map(|_| ()));
        hear(&heard, "unix", move || unix.accept().map(|(mut stream, _)| drop(stream.read(&mut [0; 16]))));
        hear(&heard, "abstract", move || hidden.accept().map(|_| ()));
        Self { tcp: ports.0, udp: ports.1, socket, heard }
    }

    pub fn tcp_port(&self) -> u16 {
        self.tcp
    }

    pub fn udp_port(&self) -> u16 {
        self.udp
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What arrived.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// Listens until the test's process ends.
fn hear(
    heard: &Arc<Mutex<Vec<String>>>,
    what: &'static str,
    mut next: impl FnMut() -> std::io::Result<()> + Send + 'static,
) {
    let heard = Arc::clone(heard);
    thread::spawn(move || {
        while next().is_ok() {
            heard.lock().unwrap().push(what.to_owned());
        }
    });
}
