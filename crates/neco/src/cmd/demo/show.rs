//! The demo, from the sample project to the proof.

use std::fs;
use std::path::Path;

use neco_config::Env;
use neco_model::Script;
use tempfile::TempDir;

use super::project::Project;
use super::script;
use crate::args::{EverywhereArgs, InputFormat, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::diff::coloured;
use crate::print::paint::Paint;
use crate::run::request;
use crate::{say, terminal, tui};

/// Milliseconds that the scripted model takes to begin an answer when somebody watches.
const PACE: u64 = 120;

/// The same in the window, where it is read as it comes.
const WINDOW_PACE: u64 = 400;

/// Runs `neco demo`: in the window where there is a terminal for it and `plain` is not asked for.
///
/// # Errors
/// When the sample project can't be made or the demo can't begin.
pub fn run(keep: bool, plain: bool, env: &Env) -> Result<Exit, Failure> {
    let failed = |what: &str, error: std::io::Error| Failure::new(Exit::Failed, format!("{what}: {error}"));
    let terminal = terminal::look_at(env);
    let folder = tempfile::Builder::new()
        .prefix("neco-demo-")
        .tempdir()
        .map_err(|error| failed("no temporary folder can be made", error))?;
    let project = Project::make(folder.path().join("project"), env.find_program("git"))
        .map_err(|error| failed("the sample project can't be written", error))?;
    let args = RunArgs { words: vec![script::TASK.to_owned()], passing: true, ..RunArgs::default() };
    let window = !plain && tui::is_wanted(&args, env) && terminal.is_capable();
    let script = match (window, terminal.stderr) {
        (true, _) => script::for_window(WINDOW_PACE),
        (false, true) => script::script(PACE),
        (false, false) => script::script(0),
    };
    let home = folder.path().join("home");
    configure(&home, &script).map_err(|error| failed("the settings of the demo can't be written", error))?;
    let (place, home) = (project.folder().to_owned(), env.moved_to(&home));
    neco_app::workspace::boxed_git::install(&home);
    let everywhere = EverywhereArgs { cwd: Some(place.clone()), ..EverywhereArgs::default() };
    let exit = if window {
        tui::show(&args, &everywhere, place, Vec::new(), &home)?.1?
    } else {
        say::out(&opening(&project, terminal.stdout_paint()))?;
        // What is piped in is none of its business.
        let args = RunArgs { yes: true, input_format: InputFormat::StreamJson, ..args };
        request::one(&args, &everywhere, &home)?
    };
    let (printed, passed) = project.test().map_err(|error| failed("sh can't be run", error))?;
    say::out(&proof(&project, &printed, passed, terminal.stdout_paint()))?;
    if exit != Exit::Done {
        return Ok(exit);
    }
    say::out(&closing(folder, keep))?;
    // In the window a person may have left early, or said no.
    Ok(if passed || window { Exit::Done } else { Exit::Failed })
}

/// Writes the settings of the demo: the script, and no call beside it.
fn configure(home: &Path, turns: &Script) -> std::io::Result<()> {
    fs::create_dir_all(home)?;
    let script = home.join("script.json");
    fs::write(&script, serde_json::to_string(turns)?)?;
    let settings = format!(
        "model = \"scripted/demo\"\n[model_providers.scripted]\nscript = {:?}\n[sessions]\nmodel_title = false\n\
         [memory]\nextract = false\n",
        script.display().to_string()
    );
    fs::write(home.join("config.toml"), settings)
}

fn opening(project: &Project, paint: Paint) -> String {
    let lines = [
        paint.bold("Neco demo: a sample project with a failing test, fixed in front of you."),
        paint.yellow(
            "The model is scripted: what it says was written beforehand. Loop, tools, policy and store are real.",
        ),
        paint.dim(&format!("project: {}", project.folder().display())),
        String::new(),
        paint.bold(&format!("> {}", script::TASK)),
    ];
    format!("{}\n", lines.join("\n"))
}

fn proof(project: &Project, printed: &str, passed: bool, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(diff) = project.diff() {
        text.push_str(&format!("\n{}\n", paint.bold("What changed (git diff):")));
        diff.lines().for_each(|line| text.push_str(&format!("  {}\n", coloured(line, paint))));
    }
    text.push_str(&format!("\n{}\n", paint.bold("The test, run once more by the demo itself (sh test.sh):")));
    printed.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    text.push_str(&match passed {
        true => paint.green("  passes"),
        false => paint.red("  fails"),
    });
    text.push('\n');
    text
}

fn closing(folder: TempDir, keep: bool) -> String {
    let place = if keep {
        format!("The project is kept in {}.", folder.keep().join("project").display())
    } else {
        "The sample project was deleted; --keep keeps it.".to_owned()
    };
    format!(
        "\n{place}\n\nNow with a real model:\n  \
         neco login openai     adds a key (or anthropic, deepseek, …); OPENAI_API_KEY=… works too\n  \
         neco doctor           shows what is found: keys, and local servers such as Ollama\n  \
         cd your/project\n  \
         neco                  opens the window; neco -m \"…\" runs one task\n",
    )
}
