//! Connections: accepted within bounds, served until they end or make no progress; over TLS where the server has a
//! certificate.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::House;
use super::crowd::{Crowd, Place};
use super::guard::Peer;
use super::neighbour::Lookout;
use super::numbers::Counted;

/// Connections at a time; more wait.
const MOST: usize = 4096;

/// Bytes of the head of a request.
const HEAD: usize = 16 * 1024;

/// Lines of it.
const HEADERS: usize = 64;

/// How long it may take.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a handshake of TLS may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a reader may take nothing before it is cut off: what it did not hear is in the log.
const PROGRESS: Duration = Duration::from_secs(30);

/// How long somebody who has just come may take to say a first word when the server ends.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// How long nothing is accepted after the system refused to.
const REST: Duration = Duration::from_millis(100);

/// The place of a connection: whoever goes on with it, such as a WebSocket, keeps it.
#[derive(Clone)]
pub(crate) struct Seat {
    /// What is waited for when the server ends.
    pub open: TaskTracker,
    _taken: Arc<(OwnedSemaphorePermit, Option<Place>, Counted)>,
}

/// Serves connections until `stop`, with `tls` where the server speaks that; gives those that are left.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    house: Arc<House>,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
) -> io::Result<TaskTracker> {
    let own = listener.local_addr()?;
    let (places, open, lookout) = (Arc::new(Semaphore::new(MOST)), TaskTracker::new(), Arc::<Lookout>::default());
    let crowd = Arc::<Crowd>::default();
    loop {
        let place = tokio::select! {
            () = stop.cancelled() => break,
            place = Arc::clone(&places).acquire_owned() => place.map_err(io::Error::other)?,
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(REST).await;
                continue;
            }
        };
        // Behind a proxy all come from its address.
        let of_address = if house.guard.behind_proxy { None } else { Some(crowd.enter(peer.ip())) };
        let Ok(of_address) = of_address.transpose() else {
            tracing::debug!(%peer, "a connection was turned away: its address has too many");
            continue;
        };
        // What it listens at may be all addresses; the connection has one of them.
        let own = stream.local_addr().unwrap_or(own);
        let (since, lookout) = (std::time::Instant::now(), Arc::clone(&lookout));
        let (router, stop) = (router.clone(), stop.clone());
        let tls = tls.clone();
        let taken = (place, of_address.flatten(), house.hall.numbers.connections.count());
        let seat = Seat { open: open.clone(), _taken: Arc::new(taken) };
        open.spawn(async move {
            let looked = tokio::task::spawn_blocking(move || lookout.is_command(peer, own, since)).await;
            match looked {
                Ok(false) => begin(stream, tls, (peer, seat), router, stop).await,
                Ok(true) | Err(_) => tracing::warn!(%peer, "a connection was turned away: at its other end is a command of an agent, or nobody any more"),
            }
        });
    }
    open.close();
    Ok(open)
}

/// Speaks TLS where the server does, and serves what comes then.
async fn begin(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    whose: (SocketAddr, Seat),
    router: Router,
    stop: CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    // Whoever is gone without a word is seen to be gone.
    #[cfg(target_os = "linux")]
    let _ =
        rustix::net::sockopt::set_tcp_user_timeout(&stream, u32::try_from(PROGRESS.as_millis()).unwrap_or(u32::MAX));
    let stream = Progress { io: stream, stuck: None };
    let Some(tls) = tls else { return serve(stream, whose, router, stop).await };
    let peer = whose.0;
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(HANDSHAKE, tls.accept(stream)) => shaken,
        () = stop.cancelled() => return,
    };
    match shaken {
        Ok(Ok(stream)) => serve(stream, whose, router, stop).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no TLS was spoken"),
        Err(_) => tracing::debug!(%peer, "a handshake took too long"),
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    (peer, seat): (SocketAddr, Seat),
    router: Router,
    stop: CancellationToken,
) {
    let io = TokioIo::new(stream);
    let inner = TowerToHyperService::new(router);
    let asked = Arc::new(Notify::new());
    let asks = Arc::clone(&asked);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        request.extensions_mut().insert(seat.clone());
        asks.notify_one();
        inner.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD)
        .max_headers(HEADERS)
        .serve_connection(io, service)
        .with_upgrades();
    tokio::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = stop.cancelled() => {
            // Whoever has just come could not know, and is answered what it is about to ask.
            let served = tokio::select! {
                served = connection.as_mut() => Some(served),
                () = asked.notified() => None,
                () = sleep(FIRST_WORD) => None,
            };
            match served {
                Some(served) => served,
                None => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, %peer, "a connection broke");
    }
}

/// A stream that fails when nothing can be written for long.
struct Progress<T> {
    io: T,
    /// Since when it takes nothing.
    stuck: Option<Pin<Box<Sleep>>>,
}

impl<T> Progress<T> {
    fn watched<R>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(sleep(PROGRESS)));
        match stuck.as_mut().poll(context) {
            Poll::Ready(()) => {
                stuck.as_mut().reset(Instant::now() + PROGRESS);
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "nothing was read for too long")))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Progress<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Progress<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.watched(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(context);
        self.watched(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(context);
        self.watched(context, shut)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, bytes);
        self.watched(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}
