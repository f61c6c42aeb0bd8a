//! Signals that end the window or put it away for a while: the terminal is given back first.

use std::future::poll_fn;
use std::task::Poll;

use rustix::process::{Signal as Number, getpgrp, getsid, kill_current_process_group};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The process is to end.
    End,
    /// It is to stop until somebody lets it go on.
    Stop,
    /// It was stopped, and goes on: the shell may have had the terminal meanwhile.
    GoOn,
    /// The terminal has another size.
    Look,
}

/// The signals that are heard, with what each asks for and whether a key of the terminal sends it.
pub(super) struct Signals(Vec<(Signal, Asked, bool)>);

impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> Self {
        let kinds = [
            (SignalKind::terminate(), Asked::End, false),
            (SignalKind::hangup(), Asked::End, false),
            (SignalKind::quit(), Asked::End, true),
            (SignalKind::interrupt(), Asked::End, true),
            (SignalKind::from_raw(Number::TSTP.as_raw()), Asked::Stop, false),
            (SignalKind::from_raw(Number::CONT.as_raw()), Asked::GoOn, false),
            (SignalKind::window_change(), Asked::Look, false),
        ];
        let hear = |(kind, asked, is_key)| Some((signal(kind).ok()?, asked, is_key));
        Self(kinds.into_iter().filter_map(hear).collect())
    }

    /// Ready when one came. While an editor has the terminal, Ctrl-C and Ctrl-\ are meant for it.
    pub(super) async fn next(&mut self, editing: bool) -> Asked {
        poll_fn(|context| {
            for (signal, asked, is_key) in &mut self.0 {
                while signal.poll_recv(context) == Poll::Ready(Some(())) {
                    if !(editing && *is_key) {
                        return Poll::Ready(*asked);
                    }
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Stops this process, and those that it was started through, until the shell goes on with them; whether it could.
///
/// Without a shell that looks after its jobs nobody would ever let it go on: the group is then that of whoever began
/// the session, such as the only program of a container.
pub(super) fn suspend() -> bool {
    if getsid(None).is_ok_and(|session| session == getpgrp()) {
        return false;
    }
    // Not TSTP: that is heard by this process itself.
    kill_current_process_group(Number::STOP).is_ok()
}
