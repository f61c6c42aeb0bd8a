//! `cargo xtask`: all automation of the repository, so that every check is one command away and CI
//! runs nothing that a person can't run.
//!
//! Reading order: [`test_run`] (what is checked), [`step`], [`machine`], [`mcp_servers`], [`page`],
//! [`mod@reference`],
//! [`mod@bench`], [`parity`], [`conformance`] with [`bridge`], [`coverage`], [`pictures`], [`weight`], [`dist`].

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to the person at the terminal")]
#![allow(clippy::disallowed_methods, reason = "it works on the repository and starts cargo, for whoever called it")]

mod bench;
mod bridge;
mod cargo;
mod conformance;
mod coverage;
mod dist;
mod machine;
mod mcp_servers;
mod page;
mod parity;
mod pictures;
mod reference;
mod step;
mod test_run;
mod weight;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--quick]        sets the machine up and runs every check; --quick leaves out documents,
                        examples in them and licences
  web                   builds the page, web/dist; the next build of the program brings it along
  reference [--check]   writes docs/reference from the code; --check only compares
  bench [ARGUMENTS]     builds the release binary and measures it; ARGUMENTS go to neco-bench
  bench peers           the same beside other agents, which npm installs below the target folder
  bench web             builds the page and the release binary that brings it along, and measures the page in
                        a browser
  parity [GRADE]        plays the acceptance cases of the founding designs and prints their score;
                        GRADE, from 1 to 10, is a person's for how it feels to use
  conformance [PART]    plays the official conformance suite of MCP, for Neco as a client and as a server;
                        only scenarios whose names contain PART
  coverage              runs all tests and prints which share of the code they ran, with
                        cargo-llvm-cov
  dist                  builds the binary for download, target/dist/neco, with the functions that a start
                        and a turn use laid side by side; valgrind finds them
  weight BINARY         prints what each part of a binary with symbols weighs and takes to build
  pictures [BINARY]     draws the pictures of the window in docs/pictures from a real run";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let root = root()?;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test"] => Ok(test_run::run(&root, test_run::Depth::Full)),
        ["test", "--quick"] => Ok(test_run::run(&root, test_run::Depth::Quick)),
        ["web"] => page::build(&root),
        ["reference"] => reference::write(&root),
        ["reference", "--check"] => reference::check(&root),
        ["bench", "peers", rest @ ..] => bench::peers(&root, rest),
        ["bench", "web"] => page::figures(&root),
        ["bench", rest @ ..] => bench::run(&root, rest),
        ["parity"] => parity::run(&root, None),
        ["parity", grade] => parity::run(&root, Some(grade)),
        ["conformance"] => conformance::run(&root, ""),
        ["conformance", part] => conformance::run(&root, part),
        ["coverage"] => coverage::run(&root),
        ["dist"] => dist::run(&root),
        ["weight", binary] => weight::run(&root, binary),
        ["pictures"] => pictures::write(&root, None),
        ["pictures", binary] => pictures::write(&root, Some(binary)),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        [] => bail!("no command\n{USAGE}"),
        [..] => bail!("not understood: {}\n{USAGE}", words.join(" ")),
    }
}

/// The repository: the folder above this crate's.
fn root() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in no repository")?;
    Ok(root.to_path_buf())
}
