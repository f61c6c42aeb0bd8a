//! `neco model test`: one tiny question to each model that a name stands for.

use std::io;
use std::time::{Duration, Instant};

use neco_config::Env;
use neco_proto::app::models::{ShowModel, TestModel, TestedModel};
use neco_proto::app::{App, Caller};
use serde_json::json;

use crate::args::EverywhereArgs;
use crate::cmd::program::{self, ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::paint::Paint;
use crate::print::screen::{Look, Screen};
use crate::terminal::Terminal;
use crate::{compose, say};

/// Columns before what follows a line that is too wide.
const HANGING: usize = 6;
/// How often time is shown.
const TICK: Duration = Duration::from_secs(1);
/// How long silence needs no word where time can't be shown.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks everything that `name` stands for, one after the other; the default model without a name.
///
/// # Errors
/// When there is no such model.
pub fn run(
    name: Option<&str>,
    json: bool,
    everywhere: &EverywhereArgs,
    env: &Env,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    let shown = ask(&ShowModel { folder: folder.clone(), name: name.map(str::to_owned) }, everywhere, env)?;
    notes(&shown.warnings);
    let app: &dyn App = &program::without_store(everywhere, env);
    let (runtime, caller) = (compose::runtime()?, Caller::person());
    let mut all = Vec::new();
    for (number, state) in shown.models.iter().flat_map(|model| &model.states).enumerate() {
        let request = TestModel { folder: folder.clone(), name: shown.name.clone(), number, base: None };
        let asked = app.ask(&caller, &request);
        let tested = runtime.block_on(waited_for(&clean_line(&state.name), terminal.look(), asked))?;
        if !json {
            say::lines(&format!("{}\n", line(&tested, terminal.stdout_paint())), HANGING)?;
        }
        all.push(tested);
    }
    if json {
        say::out(&format!("{:#}\n", json!({ "name": shown.name, "models": all })))?;
    }
    Ok(if all.iter().all(|tested| tested.ok) { Exit::Done } else { Exit::Provider })
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

fn line(tested: &TestedModel, paint: Paint) -> String {
    let mut parts = vec![clean_line(&tested.name)];
    parts.extend(tested.problem.as_ref().map(|problem| clean_line(problem)));
    let duration = |millis: u64| figures::duration(Duration::from_millis(millis));
    if let Some((first, all)) = tested.first_byte_ms.zip(tested.duration_ms) {
        parts.push(format!("first byte {}", duration(first)));
        parts.push(format!("{} in all", duration(all)));
    }
    parts.extend(tested.tokens_per_second.map(|speed| format!("{speed:.0} tokens/s")));
    parts.extend(tested.usage.as_ref().and_then(figures::usage));
    if tested.ok {
        let calls = if tested.called_tool.is_some() { "calls tools" } else { "not asked to call tools" };
        parts.push(calls.to_owned());
    }
    let health = if tested.ok { paint.green("ok  ") } else { paint.red("fail") };
    format!("{health}  {}", parts.join(" · "))
}
