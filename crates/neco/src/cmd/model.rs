//! `neco model`: which models there are, what is known of one, and whether it works.
//!
//! Invariants: nothing but `test` sends anything to a vendor; no key is ever shown.

use std::io;
use std::time::{Duration, Instant};

use clap::Subcommand;
use futures::StreamExt;
use neco_config::Env;
use neco_proto::app::models::{ListModels, ModelList, ModelTest, ProviderRow, ShowModel, TestModels, TestedModels};
use neco_proto::app::Caller;
use neco_view::paint::lists::models;
use serde_json::{Value, json};

use super::program::{ask, folder, notes, print, print_hanging, without_store_or_server};
use crate::args::{EverywhereArgs, JsonArg};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::figures;
use crate::print::screen::{Look, Screen};
use crate::{compose, say, terminal};

/// Columns before what follows a line about a test that is too wide.
const HANGING: usize = 6;
/// How often time is shown.
const TICK: Duration = Duration::from_secs(1);
/// How long silence needs no word where time can't be shown.
const PATIENCE: Duration = Duration::from_secs(10);

/// `neco model …`
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Lists the models of providers that have a key or a server that answers
    List {
        /// Only those of this provider, whether it can be asked or not
        provider: Option<String>,
        /// Those of all providers
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows the address, key, limits and prices of a model or a group
    Show {
        /// provider/model, or a group's name; without it the current model
        name: Option<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Tests models with one short request: do they answer, how fast, do they call tools?
    Test {
        /// provider/model, or a group's name; without it the default model
        name: Option<String>,
        #[command(flatten)]
        json: JsonArg,
    },
}

/// Runs `neco model …`.
pub fn run(command: &ModelCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let (folder, terminal) = (folder(everywhere)?, terminal::look_at(env));
    let paint = terminal.stdout_paint();
    match command {
        ModelCommand::List { provider, all, json } => {
            let all = *all || provider.is_some();
            let mut list = ask(&ListModels { folder, all, own_servers: true }, everywhere, env)?;
            notes(&list.warnings);
            if let Some(provider) = provider {
                list = only_of(provider, list)?;
            }
            let provider = |provider: &ProviderRow| json!({ "name": provider.name, "usable": provider.usable, "state": models::standing(&provider.standing) });
            let providers: Vec<Value> = list.providers.iter().map(provider).collect();
            let value = json!({ "groups": list.groups, "providers": providers, "models": list.models });
            print_hanging(*json, &value, models::HANGING, || models::as_lines(&list, paint))
        }
        ModelCommand::Show { name, json } => {
            let mut shown = ask(&ShowModel { folder, name: name.clone() }, everywhere, env)?;
            notes(&std::mem::take(&mut shown.warnings));
            if json.json {
                // Programs see that by the address.
                shown.models.iter_mut().for_each(|model| model.local = false);
            }
            print_hanging(*json, &shown, models::HANGING, || models::shown(&shown, paint))
        }
        ModelCommand::Test { name, json } => test(folder, name.clone(), *json, everywhere, env),
    }
}

/// What a list says of one provider.
fn only_of(provider: &str, mut list: ModelList) -> Result<ModelList, Failure> {
    list.groups.clear();
    list.providers.retain(|row| row.name == provider);
    list.models.retain(|model| model.name.split_once('/').is_some_and(|(of, _)| of == provider));
    match list.providers.is_empty() {
        true => Err(Failure::usage(format!("there is no provider {provider}"))
            .hint("`neco model list --all` lists them; `neco model show NAME` shows one model.")),
        false => Ok(list),
    }
}

/// Asks everything that `name` stands for, one after the other; the default model without a name.
fn test(
    folder: String,
    name: Option<String>,
    json: JsonArg,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let terminal = terminal::look_at(env);
    let (runtime, caller) = (compose::runtime()?, Caller::person());
    let app = without_store_or_server(everywhere, env, &runtime)?;
    let mut tests = app.watch(&caller, &TestModels { folder, name });
    let mut all = TestedModels::default();
    let mut asked: Option<String> = None;
    loop {
        let next = match asked.take() {
            Some(name) => runtime.block_on(waited_for(&name, terminal.look(), tests.next())),
            None => runtime.block_on(tests.next()),
        };
        match next.transpose().inspect_err(|error| notes(&error.warnings))? {
            Some(ModelTest::Begins { name, warnings }) => {
                notes(&warnings);
                all.name = name;
            }
            Some(ModelTest::Asked { name }) => asked = Some(clean_line(&name)),
            Some(ModelTest::Tested(tested)) => {
                if !json.json {
                    say::lines(&models::tested(&tested, terminal.stdout_paint()), HANGING)?;
                }
                all.models.push(*tested);
            }
            Some(ModelTest::Other(_)) => {}
            None => break,
        }
    }
    print(json, &all, String::new)?;
    Ok(if all.models.iter().all(|tested| tested.ok) { Exit::Done } else { Exit::Provider })
}

/// What `asked` comes to. A person sees meanwhile who is waited for, and how long.
pub(super) async fn waited_for<T>(name: &str, look: Look, asked: impl Future<Output = T>) -> T {
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
