//! Benchmarks of the figures the product promises: the built binary against a scripted model on a
//! local server, measured as a user would run it. `docs/benchmarks.md` says what each figure means.
//!
//! A missed target is reported, not an error; the exit code is 1 when something could not be measured.
//!
//! Reading order: [`topic`] (what is measured), [`program`] (how a run happens), [`server`],
//! [`speaker`], [`answer`], [`measured`], [`report`], [`compare`], [`functions`].

mod answer;
mod clock;
mod code_tree;
mod compare;
mod figure;
mod functions;
mod indexing;
mod machine;
mod measured;
mod peer;
mod processes;
mod program;
mod reference;
mod report;
mod samples;
mod server;
mod speaker;
mod stage;
mod topic;
mod tree;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use crate::compare::Earlier;
use crate::machine::Machine;
use crate::program::Program;
use crate::report::Report;
use crate::topic::{Setting, Topic};

/// Measures the figures the product promises.
#[derive(Debug, Parser)]
#[command(name = "neco-bench")]
struct Arguments {
    /// Measure only this; can be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<Topic>,
    /// The program under test [default: `neco` beside this program].
    #[arg(long = "bin", value_name = "PATH")]
    program: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Also write JSON into this file, for `--compare`.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Show the figures beside those of an earlier run, and what got worse.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    compare: Option<PathBuf>,
    /// Measure nothing: write the names of the functions that a start and a turn use, for a linker, into this file.
    /// Valgrind finds them; the program must have its symbols.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "json", "save", "compare"])]
    functions: Option<PathBuf>,
    /// The folder in which runs write; its disk is part of what is measured [default: the system's
    /// folder for temporary files].
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let outcome = match arguments.next() {
        Some(first) if first == measured::MARK => measured::main(arguments).map(|()| true),
        Some(first) if first == indexing::MARK => indexing::main(arguments).map(|()| true),
        _ => bench(&Arguments::parse()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "neco-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and prints; says whether everything could be measured.
fn bench(arguments: &Arguments) -> anyhow::Result<bool> {
    let program = Program::new(&program_path(arguments)?)?;
    let earlier = arguments.compare.as_deref().map(Earlier::read).transpose()?;
    let folder = arguments.folder.clone().unwrap_or_else(std::env::temp_dir);
    if let Some(file) = &arguments.functions {
        functions::write(&program, &folder, file)?;
        return Ok(true);
    }
    let mut report = Report {
        date: jiff::Zoned::now().strftime("%Y-%m-%d %H:%M").to_string(),
        program: program.version()?,
        machine: Machine::look(&folder)?,
        figures: Vec::new(),
        peers: Vec::new(),
        skipped: Vec::new(),
        failed: Vec::new(),
    };
    let setting = Setting { program: &program, folder: &folder };
    let topics = if arguments.only.is_empty() { Topic::ALL } else { &arguments.only };
    for topic in topics {
        let _ = writeln!(io::stderr(), "measuring: {}", topic.name());
        if let Err(error) = topic.measure(&setting, &mut report) {
            report.fail(topic.name(), &error);
        }
    }
    report.machine.load_after = machine::load();
    let mut out = io::stdout().lock();
    if arguments.json {
        report.write_json(&mut out)?
    } else {
        report.write_table(&mut out)?
    }
    if let Some(path) = &arguments.save {
        report.write_json(&mut File::create(path).with_context(|| format!("can't write {}", path.display()))?)?;
    }
    if let Some(earlier) = earlier {
        earlier.write_table(&report, &mut out)?;
    }
    Ok(report.failed.is_empty())
}

fn program_path(arguments: &Arguments) -> anyhow::Result<PathBuf> {
    match &arguments.program {
        Some(path) => Ok(path.clone()),
        None => Ok(std::env::current_exe()?.with_file_name("neco")),
    }
}
