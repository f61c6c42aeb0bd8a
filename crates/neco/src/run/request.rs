//! Opening the session that a request goes to, and seeing it through.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_agent::Budget;
use neco_config::{Config, Env, LoadOptions, Loaded};
use neco_model::{Models, SetupError};
use neco_session::hub::FindModel;
use neco_session::{Session, SessionError, SessionOptions};
use neco_store::{SessionRecord, SqliteStore};

use super::drive::{Person, see_through};
use super::{first_run, message};
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::ask::{Tty, editor};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::outcome::{Outcome, RunError};
use crate::print::Printer;
use crate::say;
use crate::short_id::short_id;
use crate::terminal::{Terminal, is_unattended};
use crate::wire::{self, ServiceSetup, Services};

/// How long local servers have to answer when no other model is there.
const PROBE: Duration = Duration::from_millis(500);

/// One request, from its arguments to how the process ends.
///
/// # Errors
/// When it can't begin.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let format = args.output_format;
    attempt(args, everywhere, env).inspect_err(|failure| {
        if format == OutputFormat::Json {
            report(failure, env);
        }
    })
}

fn attempt(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let terminal = Terminal::look_at(env);
    let message = message::gather(args.message(), terminal.stderr)?;
    let tty = (args.output_format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let folder = crate::folder(everywhere)?;
    let runtime = wire::runtime()?;
    let request = Request { args, everywhere, env, person_present: tty.is_some() };
    let opened = runtime.block_on(request.open(&folder))?;
    for words in message.warnings.iter().chain(&opened.notes) {
        say::note(words);
    }
    let mut printer = Printer::new(args.output_format, &terminal);
    printer.set_session(short_id(opened.session.id()));
    let person = tty.map(|tty| Person { tty, paint: terminal.paint(), editor: editor::wanted(env) });
    let exit = see_through(&runtime, &opened.session, printer, person, message.text)?;
    Ok(wire::stop(runtime, opened.services, opened.session, exit))
}

/// In `json` form even what never began is an object.
fn report(failure: &Failure, env: &Env) {
    let outcome = Outcome::of_failure(RunError { code: failure.code, message: failure.message.clone() });
    let mut printer = Printer::new(OutputFormat::Json, &Terminal::look_at(env));
    // The same is said on stderr.
    let _ = printer.finish(&outcome, None, failure.exit);
}

/// What is needed to open the session of a request.
struct Request<'a> {
    args: &'a RunArgs,
    everywhere: &'a EverywhereArgs,
    env: &'a Env,
    person_present: bool,
}

/// A session that is open.
struct Opened {
    services: Services,
    session: Session,
    notes: Vec<String>,
}

impl Request<'_> {
    async fn open(&self, folder: &Path) -> Result<Opened, Failure> {
        let loaded = self.load(folder)?;
        let store = wire::open_store(self.env.data_dir()).await?;
        let record = match &self.args.session {
            Some(id) => Some(self.find(&store, id).await?),
            None => None,
        };
        // The settings of the session's own folder count, wherever it is gone on with from.
        let loaded = match &record {
            Some(record) if Path::new(&record.cwd) != folder => self.load(Path::new(&record.cwd))?,
            Some(_) | None => loaded,
        };
        let config = loaded.config;
        let mut notes: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
        let models = Arc::new(wire::models(&config, self.env)?);
        let going_on = record.is_some() || self.args.continue_latest;
        let default_model = self.default_model(&models, going_on, &mut notes).await?;
        let refusal = Arc::new(Mutex::new(None));
        let services = self.services(store, &config, find_model(&models, &refusal))?;
        let options = self.options(&config, default_model);
        let record = match record {
            None if self.args.continue_latest => Some(services.hub.latest(folder).await?),
            record => record,
        };
        let session = match record {
            Some(record) => services.hub.open(record, options).await,
            None => services.hub.create(folder, options).await,
        };
        let session = session.map_err(|error| self.explain(error, &refusal))?;
        Ok(Opened { services, session, notes })
    }

    fn load(&self, folder: &Path) -> Result<Loaded, Failure> {
        let overrides = &self.everywhere.overrides;
        Ok(neco_config::load(LoadOptions { env: self.env, cwd: folder, overrides })?)
    }

    /// The record of a session, which says where it lives.
    async fn find(&self, store: &Arc<SqliteStore>, id: &str) -> Result<SessionRecord, Failure> {
        let nothing: FindModel = Arc::new(|_| Err(String::new()));
        Ok(self.services(Arc::clone(store), &Config::built_in(), nothing)?.hub.find(id).await?)
    }

    fn services(&self, store: Arc<SqliteStore>, config: &Config, find_model: FindModel) -> Result<Services, Failure> {
        let setup = ServiceSetup {
            config,
            tools: self.args.tools.clone().unwrap_or_default(),
            environment: wire::environment(self.env),
            data_dir: self.env.data_dir().to_owned(),
            find_model,
        };
        Services::start(store, setup)
    }

    /// What is asked when nobody says otherwise: what is configured, else a local server that answers.
    async fn default_model(&self, models: &Models, going_on: bool, notes: &mut Vec<String>) -> Result<String, Failure> {
        if let Some(model) = &self.args.model {
            return Ok(model.clone());
        }
        let looked = match models.default_name() {
            Ok(name) => return Ok(name),
            Err(SetupError::NoModel(looked)) => looked,
            Err(error) => return Err(error.into()),
        };
        let served = models.probe_local(PROBE).await.into_iter().find_map(|server| {
            let model = server.models.first()?;
            Some((format!("{}/{model}", server.provider), server.base))
        });
        match served {
            Some((name, base)) => {
                notes.push(format!("no model is configured; using {name}, which answers at {base}"));
                Ok(name)
            }
            // A session that goes on has a model of its own.
            None if going_on => Ok(String::new()),
            None => Err(first_run::guide(&looked, self.env.config_dir())),
        }
    }

    fn options(&self, config: &Config, default_model: String) -> SessionOptions {
        SessionOptions {
            model: self.args.model.clone(),
            default_model,
            mode: self.args.mode().unwrap_or(config.mode),
            approval: self.args.approval().unwrap_or(config.approval),
            person_present: self.person_present,
            max_turns: self.args.max_turns.unwrap_or(config.agent.max_turns),
            budget: Budget { cost: self.args.max_cost.or(config.agent.max_cost), tokens: config.agent.max_tokens },
        }
    }

    /// The session knows only words of what is wrong with a model; here it is known what.
    fn explain(&self, error: SessionError, refusal: &Mutex<Option<SetupError>>) -> Failure {
        let refused = refusal.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (error, refused) {
            (SessionError::Model(_), Some(SetupError::NoModel(looked))) => {
                first_run::guide(&looked, self.env.config_dir())
            }
            (SessionError::Model(_), Some(refused)) => refused.into(),
            (error, _) => error.into(),
        }
    }
}

fn find_model(models: &Arc<Models>, refusal: &Arc<Mutex<Option<SetupError>>>) -> FindModel {
    let (models, refusal) = (Arc::clone(models), Arc::clone(refusal));
    Arc::new(move |name| {
        // Without a name there is no model but the default one.
        let name = if name.is_empty() { models.default_name() } else { Ok(name.to_owned()) };
        name.and_then(|name| models.provider_for(&name)).map_err(|error| {
            let words = error.to_string();
            *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            words
        })
    })
}
