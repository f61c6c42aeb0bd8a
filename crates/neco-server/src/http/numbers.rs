//! What is counted, for Prometheus.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that goes up, and down where it counts what is there.
#[derive(Clone, Default)]
pub(crate) struct Number(Arc<AtomicU64>);

/// One of those that are there, until it is dropped.
pub(crate) struct Counted(Number);

impl Number {
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one as long as what is given back lives.
    pub fn count(&self) -> Counted {
        self.add();
        Counted(self.clone())
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All of them.
#[derive(Clone, Default)]
pub(crate) struct Numbers {
    /// Requests that were answered, by the first digit of the status.
    pub answered: [Number; 5],
    /// Connections that are open.
    pub connections: Number,
    /// Streams and WebSockets that are open.
    pub streams: Number,
    /// Commands that were handed to sessions.
    pub commands: Number,
    /// Who showed no token, or a wrong one.
    pub strangers: Number,
}

impl Numbers {
    /// In the text format of Prometheus.
    pub fn told(&self, sessions: usize, version: &str) -> String {
        let mut text = String::new();
        let mut tell = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            for (labels, value) in values {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"];
        let answered: Vec<(String, u64)> = classes
            .iter()
            .zip(&self.answered)
            .map(|(class, number)| (format!("{{class=\"{class}\"}}"), number.get()))
            .collect();
        let one = |number: u64| [(String::new(), number)];
        tell("neco_info", "gauge", "The version that runs.", &[(format!("{{version=\"{version}\"}}"), 1)]);
        tell("neco_http_requests_total", "counter", "Requests that were answered.", &answered);
        tell("neco_http_connections", "gauge", "Connections that are open.", &one(self.connections.get()));
        tell("neco_streams", "gauge", "Streams and WebSockets that are open.", &one(self.streams.get()));
        tell("neco_sessions", "gauge", "Sessions that are held.", &one(sessions as u64));
        tell("neco_commands_total", "counter", "Commands that were handed to sessions.", &one(self.commands.get()));
        tell("neco_unauthorized_total", "counter", "Requests without a valid token.", &one(self.strangers.get()));
        text
    }
}
