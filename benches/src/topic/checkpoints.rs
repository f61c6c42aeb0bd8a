//! Keeping a workspace of 5,000 files, beside what git needs for the same on the same tree.
//!
//! Git is started as a process, as people do; ours runs in this one, as it does in the program. The two
//! take turns, so that both see the same machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use neco_proto::event::CheckpointWhen;
use neco_workspace::checkpoint::{Checkpoints, JjCheckpoints, LeaveOutSettings, Note, Place};

use super::Setting;
use crate::clock::{Moment, milliseconds};
use crate::figure::{Figure, Target, Unit};
use crate::report::Report;
use crate::samples::Samples;
use crate::stage::Stage;

const FILES: usize = 5000;
const CHANGED: usize = 20;
const ROUNDS: usize = 15;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let stage = Stage::new(setting.folder)?;
    let root = stage.workspace();
    write_tree(&root)?;
    git(&root, &["add", "-A"])?;
    let points = JjCheckpoints::new(Place {
        root: root.clone(),
        store: stage.notes("checkpoints"),
        home: None,
        settings: LeaveOutSettings::default(),
        unsaved: Default::default(),
    });
    report.add(Figure::info("checkpoint_first", Unit::Milliseconds, keep(&points)?));
    // What was written a moment ago is read once more; then all facts are old enough.
    std::thread::sleep(std::time::Duration::from_millis(100));
    keep(&points)?;
    unchanged(&points, &root, report)?;
    changed(&points, &root, report)?;
    report.add(Figure::info("checkpoint_store", Unit::Megabytes, points.size()? as f64 / 1e6));
    small(setting, report)
}

fn unchanged(points: &JjCheckpoints, root: &Path, report: &mut Report) -> anyhow::Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(keep(points)?);
        theirs.push(git(root, &["status", "--porcelain"])?);
    }
    compare(["checkpoint_unchanged", "git_status", "checkpoint_to_git_status"], ours, theirs, report)
}

fn changed(points: &JjCheckpoints, root: &Path, report: &mut Report) -> anyhow::Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for number in 0..CHANGED {
            let file = root.join(name(number * (FILES / CHANGED)));
            fs::write(file, format!("// round {round}\n{}", content(number)))?;
        }
        ours.push(keep(points)?);
        theirs.push(git(root, &["add", "-A"])? + git(root, &["write-tree"])?);
    }
    compare(["checkpoint_20_changed", "git_add_write_tree", "checkpoint_to_git_add"], ours, theirs, report)
}

/// What a turn in a small project waits for.
fn small(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let stage = Stage::new(setting.folder)?;
    let root = stage.workspace();
    for number in 0..20 {
        stage.write(&name(number), &content(number))?;
    }
    let place = Place {
        root,
        store: stage.notes("checkpoints"),
        home: None,
        settings: LeaveOutSettings::default(),
        unsaved: Default::default(),
    };
    report.add(Figure::info("checkpoint_small_first", Unit::Milliseconds, keep(&JjCheckpoints::new(place.clone()))?));
    let points = JjCheckpoints::new(place);
    std::thread::sleep(std::time::Duration::from_millis(100));
    keep(&points)?;
    let times = (0..ROUNDS).map(|_| keep(&points)).collect::<anyhow::Result<Vec<_>>>()?;
    let samples = Samples::of(times).context("nothing was measured")?;
    report.add(Figure::median("checkpoint_small", Unit::Milliseconds, samples).promised(Target::AtMost(2.0)));
    Ok(())
}

fn compare(names: [&'static str; 3], ours: Vec<f64>, theirs: Vec<f64>, report: &mut Report) -> anyhow::Result<()> {
    let [own, git, ratio] = names;
    let ours = Samples::of(ours).context("nothing was measured")?;
    let theirs = Samples::of(theirs).context("nothing was measured")?;
    report.add(Figure::median(own, Unit::Milliseconds, ours));
    report.add(Figure::median(git, Unit::Milliseconds, theirs));
    let figure = Figure::info(ratio, Unit::Ratio, ours.median / theirs.median);
    report.add(figure.promised(Target::AtMost(1.0)));
    Ok(())
}

/// Keeps the workspace and gives the milliseconds that took.
fn keep(points: &JjCheckpoints) -> anyhow::Result<f64> {
    let begun = Moment::now();
    points.snapshot(&Note { when: CheckpointWhen::After, label: "bench".to_owned(), session: "bench".to_owned() })?;
    Ok(milliseconds(Moment::now().since(begun)))
}

fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<f64> {
    let begun = Moment::now();
    let done = Command::new("git").arg("-C").arg(root).args(arguments).output()?;
    anyhow::ensure!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    Ok(milliseconds(Moment::now().since(begun)))
}

fn write_tree(root: &Path) -> anyhow::Result<()> {
    for number in 0..FILES {
        let file = root.join(name(number));
        fs::create_dir_all(file.parent().context("a file is in a folder")?)?;
        fs::write(file, content(number))?;
    }
    fs::write(root.join(".gitignore"), "target/\n*.log\n")?;
    Ok(())
}

fn name(number: usize) -> String {
    format!("crate{}/src/part{}/file{number}.rs", number % 25, number % 7)
}

fn content(number: usize) -> String {
    (0..60).map(|line| format!("fn f{number}_{line}() -> usize {{ {} }}\n", number * line)).collect()
}
