//! What skills and commands cost that nobody uses: five hundred of the one and two hundred of the other.

use anyhow::Context as _;

use super::Setting;
use super::start::{repeat, to_first_request};
use crate::answer::Turn;
use crate::figure::{Figure, Target, Unit};
use crate::program::Run;
use crate::report::Report;
use crate::samples::Samples;
use crate::stage::Stage;

const SKILLS: usize = 500;
const COMMANDS: usize = 200;
const RUNS: usize = 30;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let turns = [Turn::Text("Hello! What shall we work on?")];
    let (without, with) = (Stage::new(setting.folder)?, Stage::new(setting.folder)?);
    fill(&with)?;
    setting.program.rehearse(&without, &turns)?;
    setting.program.rehearse(&with, &turns)?;
    // By turns, so that both have the same machine.
    let both = repeat(RUNS, || Ok((setting.program.run(&without, &turns)?, setting.program.run(&with, &turns)?)))?;
    let more =
        |of: fn(&Run) -> f64| Samples::of(both.iter().map(|(without, with)| of(with) - of(without))).context("no runs");
    let (time, memory) = (more(to_first_request)?, more(|run| run.used.peak as f64 / 1e6)?);
    let size = more(|run| run.exchanges.first().map_or(f64::NAN, |first| first.size as f64 / 1e3))?;
    report.add(Figure::median("skills_500_start", Unit::Milliseconds, time).promised(Target::Below(5.0)));
    report.add(Figure::median("skills_500_memory", Unit::Megabytes, memory));
    report.add(Figure::median("skills_500_request", Unit::Kilobytes, size));
    Ok(())
}

/// Skills and commands in the person's own folder.
fn fill(stage: &Stage) -> anyhow::Result<()> {
    for number in 0..SKILLS {
        let head = format!("name: skill-{number}\ndescription: Does what number {number} is for. Use it for reports.");
        let body = "Read the notes first, then write the report.\n".repeat(40);
        stage.write_home(&format!("skills/skill-{number}/SKILL.md"), &format!("---\n{head}\n---\n{body}"))?;
    }
    for number in 0..COMMANDS {
        let text = format!("---\ndescription: Command {number}.\n---\nDo number {number} with $ARGUMENTS.\n");
        stage.write_home(&format!("commands/command-{number}.md"), &text)?;
    }
    Ok(())
}
