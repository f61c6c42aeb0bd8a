//! Runs a WASM module or component for Neco.
//!
//! What runs sees its standard input, output and errors, its arguments and the variables `ARG_…`, and nothing else: no
//! files, no network, no other variable. It has so much fuel, so much memory and so long, and then it is over.
//!
//! Reading order: [`options`] (what is asked), [`engine`] (how it runs).

mod engine;
mod options;

use std::process::ExitCode;

use crate::options::{Asked, USAGE};

/// The exit code when nothing could be run.
const NOT_RUN: u8 = 125;

fn main() -> ExitCode {
    let options = match options::read(std::env::args_os().skip(1)) {
        Ok(Asked::Run(options)) => options,
        Ok(Asked::Help) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Ok(Asked::Version) => {
            println!("neco-wasm {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        Err(error) => return failed(&format!("{error}; `neco-wasm --help` shows how it is called")),
    };
    match engine::run(&options) {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(words: &str) -> ExitCode {
    eprintln!("neco-wasm: {words}");
    ExitCode::from(NOT_RUN)
}
