//! A server of the Model Context Protocol for tests: it speaks the era that is asked for, and misbehaves on demand.
//!
//! `fake-mcp [--era legacy|modern|both] [--misbehave WHAT]... [--record FILE] [--state FILE] [--ttl MS]
//! [--protocol VERSION]` answers lines of JSON-RPC on its input. It is written by hand, so that a client is not tested
//! against the library it is built on.
//!
//! Reading order: `options`, `protocol` (shapes on the wire), `server` (the connection), `tools`, `ask` (what tools ask
//! the client), `offers` (resources and prompts), `faults` (what is done wrong).

mod ask;
mod faults;
mod offers;
mod options;
mod protocol;
mod server;
mod tools;

use std::sync::Arc;
use std::{env, thread};

use options::{Fault, Options};
use server::Server;

fn main() {
    let options = Options::parse(env::args().skip(1)).unwrap_or_else(|message| faults::die(2, &message));
    let stays = options.has(Fault::IgnoreTerm);
    if stays && !options.term_ignored {
        faults::start_again_without_term();
    }
    let server = Arc::new(Server::open(options).unwrap_or_else(|message| faults::die(2, &message)));
    faults::begin(&server);
    server.run();
    if stays {
        loop {
            thread::park();
        }
    }
}
