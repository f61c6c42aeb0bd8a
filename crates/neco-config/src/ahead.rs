//! The user's settings read before anybody asks for them, beside whatever else a process begins with.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::env::Env;
use crate::find::{origin_of, read_text, user_file};
use crate::layer::{Node, parse};
use crate::load::built_in;
use crate::notice::Notice;
use crate::origin::Layer;

/// What is being read; it is taken once. All of them are equal: they change when something is known, not what.
#[derive(Clone, Default)]
pub(crate) struct Ahead(Arc<Mutex<Option<JoinHandle<ReadAhead>>>>);

/// What was read ahead.
pub(crate) struct ReadAhead {
    built_in: Node,
    user: Option<(String, Result<Node, Notice>)>,
}

impl Ahead {
    /// Begins to read, on a thread of its own.
    pub(crate) fn begin(env: &Env) -> Self {
        let (origin, path) = (origin_of(env, Layer::User, &user_file(env)), user_file(env));
        let read = move || {
            let text = read_text(&path, &origin).and_then(Result::ok);
            let user = text.map(|text| {
                let layer = parse(&text, &origin);
                (text, layer)
            });
            ReadAhead { built_in: built_in(), user }
        };
        // Who gets no thread reads later.
        Self(Arc::new(Mutex::new(thread::Builder::new().spawn(read).ok())))
    }

    /// What was read, for the first who asks.
    pub(crate) fn take(&self) -> Option<ReadAhead> {
        let reading = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        reading?.join().ok()
    }
}

impl ReadAhead {
    /// The built-in layer, and the layer of the user's file if that still has this text.
    pub(crate) fn layers(self, text: Option<&str>) -> (Node, Option<Result<Node, Notice>>) {
        let user = self.user.filter(|(read, _)| Some(read.as_str()) == text).map(|(_, layer)| layer);
        (self.built_in, user)
    }
}

impl PartialEq for Ahead {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Ahead {}

impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ahead")
    }
}
