//! Which functions of the program a start and a turn use. A program's pages are mapped by the dozen around each that is
//! used, so a linker that lays these functions side by side saves memory and page faults.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

use crate::answer::Turn;
use crate::program::Program;
use crate::stage::Stage;
use crate::topic::turns;

/// Rounds of a read, an edit and a command: the first does most of what later ones do.
const ROUNDS: usize = 3;

/// Writes the names of the functions into the file `to`, in the order of their first use. The program must have its
/// symbols.
pub fn write(program: &Program, folder: &Path, to: &Path) -> anyhow::Result<()> {
    let hello = used(program, &Stage::new(folder)?, &[Turn::Text("Hello! What shall we work on?")])?;
    let turns = used(program, &turns::stage(folder)?, &turns::script(ROUNDS))?;
    let mut seen = HashSet::new();
    let names: Vec<&str> =
        hello.lines().chain(turns.lines()).filter_map(name).filter(|name| seen.insert(*name)).collect();
    anyhow::ensure!(names.iter().any(|name| name.contains("neco")), "the program has no symbols");
    fs::write(to, names.join("\n") + "\n").with_context(|| format!("can't write {}", to.display()))
}

/// What valgrind noted while `turns` were played.
fn used(program: &Program, stage: &Stage, turns: &[Turn]) -> anyhow::Result<String> {
    let notes = stage.notes("functions");
    let mut to = OsString::from("--callgrind-out-file=");
    to.push(&notes);
    let before = [OsString::from("--tool=callgrind"), "--demangle=no".into(), "--quiet".into(), to];
    let valgrind = Path::new("valgrind");
    program.run_under(valgrind, &before, stage, turns).context("valgrind finds out which functions are used")?;
    Ok(fs::read_to_string(&notes)?)
}

/// The function that a line of the notes names for the first time: `fn=(12) name`, and `name'2` within itself.
fn name(line: &str) -> Option<&str> {
    let (_, name) = line.strip_prefix("fn=(").or_else(|| line.strip_prefix("cfn=("))?.split_once(") ")?;
    Some(name.split_once('\'').map_or(name, |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_where_it_is_first_met() {
        let notes =
            "events: Ir\nfl=(1) ???\nfn=(1) main\n0 3\ncfn=(2) _ZN4neco4openE\ncalls=1 0\n0 9\nfn=(1)\nfn=(3) walk'2\n";
        assert_eq!(notes.lines().filter_map(name).collect::<Vec<_>>(), ["main", "_ZN4neco4openE", "walk"]);
    }
}
