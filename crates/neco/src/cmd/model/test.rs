//! `neco model test`: one tiny question to each model that a name stands for.

use std::io;
use std::time::{Duration, Instant};

use neco_model::trial::{self, Alone};
use neco_model::{Models, SetupError, Trial};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::paint::Paint;
use crate::print::screen::{Look, Screen};
use crate::say;
use crate::terminal::Terminal;

/// Columns before what follows a line that is too wide.
const HANGING: usize = 6;
/// How often time is shown.
const TICK: Duration = Duration::from_secs(1);
/// How long silence needs no word where time can't be shown.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of one.
struct Tested {
    name: String,
    tools: bool,
    outcome: Result<Trial, SetupError>,
}

/// Asks everything that `name` stands for, one after the other; the default model without a name.
///
/// # Errors
/// When there is no such model.
pub async fn run(models: &Models, name: Option<&str>, json: bool, terminal: &Terminal) -> Result<Exit, Failure> {
    let paint = terminal.stdout_paint();
    let name = match name {
        Some(name) => name.to_owned(),
        None => models.default_name()?,
    };
    let mut all = Vec::new();
    for alone in models.each_alone(&name)? {
        let name = clean_line(&alone.name);
        let tested = waited_for(&name, terminal.look(), ask(alone)).await;
        if !json {
            say::lines(&format!("{}\n", line(&tested, paint)), HANGING)?;
        }
        all.push(tested);
    }
    if json {
        say::out(&format!("{:#}\n", json!({ "name": name, "models": all.iter().map(as_json).collect::<Vec<_>>() })))?;
    }
    Ok(if all.iter().all(Tested::passed) { Exit::Done } else { Exit::Provider })
}

impl Tested {
    fn passed(&self) -> bool {
        self.outcome.as_ref().is_ok_and(Trial::passed)
    }

    /// Why it did not pass.
    fn problem(&self) -> Option<String> {
        let trial = match &self.outcome {
            Ok(trial) => trial,
            Err(error) => return Some(error.to_string()),
        };
        match (&trial.error, trial.called) {
            (Some(error), _) => Some(error.to_string()),
            (None, Some(false)) => Some(match &trial.miscalled {
                Some(call) => format!("it calls a tool, but not as it is told to: {call}"),
                None => "it answers, but does not call the tool that it is told to call".to_owned(),
            }),
            (None, _) if trial.finish.is_none() => Some("the answer ended before it was whole".to_owned()),
            (None, _) => None,
        }
    }
}

/// What `asked` comes to. A person sees meanwhile who is waited for, and how long.
async fn waited_for<T>(name: &str, look: Look, asked: impl Future<Output = T>) -> T {
    let mut screen = Screen::new(Box::new(io::stdout()), Box::new(io::stderr()), look);
    let begun = Instant::now();
    let mut clock = tokio::time::interval(TICK);
    let mut told = look.overwrites;
    tokio::pin!(asked);
    loop {
        tokio::select! {
            done = &mut asked => {
                // A closed stderr is no reason to stop.
                let _ = screen.settle();
                return done;
            }
            _ = clock.tick() => {
                let _ = screen.passing(&format!("… {name}"), &format!(" · {}", figures::elapsed(begun.elapsed())));
            }
        }
        if !told && begun.elapsed() >= PATIENCE {
            told = true;
            say::note(&format!("{name} has sent nothing for {}; still waiting", figures::elapsed(PATIENCE)));
        }
    }
}

async fn ask(alone: Alone) -> Tested {
    let Alone { name, tools, provider } = alone;
    let outcome = match provider {
        Ok(provider) => Ok(trial::attempt(&*provider, tools).await),
        Err(error) => Err(error),
    };
    Tested { name, tools, outcome }
}

fn line(tested: &Tested, paint: Paint) -> String {
    let mut parts = vec![clean_line(&tested.name)];
    parts.extend(tested.problem().map(|problem| clean_line(&problem)));
    if let Ok(trial) = &tested.outcome {
        parts.extend(trial.first_byte.map(|time| format!("first byte {}", figures::duration(time))));
        parts.extend(trial.first_byte.map(|_| format!("{} in all", figures::duration(trial.took))));
        parts.extend(trial.tokens_per_second().map(|speed| format!("{speed:.0} tokens/s")));
        parts.extend(trial.usage.as_ref().and_then(figures::usage));
        if tested.passed() {
            parts.push(if tested.tools { "calls tools" } else { "not asked to call tools" }.to_owned());
        }
    }
    let health = if tested.passed() { paint.green("ok  ") } else { paint.red("fail") };
    format!("{health}  {}", parts.join(" · "))
}

fn as_json(tested: &Tested) -> Value {
    let trial = tested.outcome.as_ref().ok();
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    json!({
        "name": tested.name,
        "ok": tested.passed(),
        "problem": tested.problem(),
        "first_byte_ms": trial.and_then(|trial| trial.first_byte).map(millis),
        "duration_ms": trial.map(|trial| millis(trial.took)),
        "tokens_per_second": trial.and_then(Trial::tokens_per_second),
        "usage": trial.and_then(|trial| trial.usage),
        "called_tool": trial.and_then(|trial| trial.called),
    })
}
