//! Opening the session that a request goes to, and seeing it through.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_agent::{Budget, CapabilityLevel};
use neco_app::disk;
use neco_app::services::{self, ServiceSetup, Services};
use neco_app::workspace::keys;
use neco_app::workspace::plugged::{Plugged, Scope};
use neco_app::workspace::rules::{self, AlwaysFile};
use neco_app::workspace::sandbox;
use neco_app::workspace::told_files::ToldFiles;
use neco_config::{Config, Env, LoadOptions, Loaded, Notice};
use neco_ext::Hook;
use neco_model::{GROUPS, LocalServer, Models, SetupError};
use neco_proto::{Answer, Attachment, Client, Command, ErrorCode, Query, SessionId};
use neco_safety::Policy;
use neco_safety::policy::LoadedPolicy;
use neco_safety::sandbox::Ask;
use neco_safety::secrets::KnownSecret;
use neco_session::hub::{FindModel, Finder, Found};
use neco_session::{Session, SessionError, SessionOptions};
use neco_store::SqliteStore;
use neco_workspace::worktree::Held;

use super::attach::{self, Which};
use super::drive::{RunUi, see_through};
use super::socket::SocketServer;
use super::window::Person;
use super::{first_run, guest, message, note, picture, unpriced, worktree};
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::ask::editor::Programs;
use crate::ask::question::Place;
use crate::ask::{self, Tty};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::log;
use crate::outcome::{Outcome, RunError};
use crate::print::{Printer, place};
use crate::say;
use crate::short_id::short_id;
use crate::terminal::{Terminal, is_unattended};
use crate::tui::ahead;

/// How long local servers have to answer when no other model is there.
const PROBE: Duration = Duration::from_millis(500);

/// How often somebody else may be faster to open a session, and how long until it is looked again.
const RACES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

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
    let goes_on = args.session.is_some() || args.continue_latest;
    let message = message::gather(args.message(), terminal.stderr, goes_on)?;
    let attachments = picture::attachments(&args.images)?;
    if let Some(exit) = note::remember(&message.text, args, everywhere, env)? {
        return Ok(exit);
    }
    message.warnings.iter().for_each(|words| say::note(words));
    let tty = (args.output_format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let folder = crate::folder(everywhere)?;
    let runtime = compose::runtime()?;
    let folder = match args.worktree.worktree {
        Some(how) => worktree::begin(&folder, how.into(), &message.text, env)?,
        None => folder,
    };
    let title = message.text.lines().next().unwrap_or_default().to_owned();
    let mut races = 0;
    let opened = loop {
        let said = steering(&message.text, &attachments);
        if goes_on && let Some(begun) = runtime.block_on(guest::begin(which(args, &folder), env, Some(said)))? {
            attach::left_out(args).iter().for_each(|words| say::note(words));
            let ui = take_seat(args.output_format, env, tty, begun.folder(), begun.id());
            let seen = guest::follow(&runtime, begun, ui);
            runtime.shutdown_background();
            return seen;
        }
        let request = Request { args, everywhere, env, tty: tty.as_ref(), attended: tty.is_some(), interactive: false };
        match runtime.block_on(request.open(&folder)) {
            // Somebody else was faster, and serves it in a moment.
            Err(failure) if goes_on && failure.code == Some(ErrorCode::SessionInUse) && races < RACES => races += 1,
            // What was found damaged is set aside by the next opening.
            Err(_) if races < RACES && disk::is_doubted(env.data_dir()) => races = RACES,
            opened => break opened.inspect_err(|_| worktree::end(&folder, None, &title, "", env))?,
        }
        std::thread::sleep(PAUSE);
    };
    opened.notes.iter().for_each(|words| say::note(words));
    let others = SocketServer::serve(runtime.handle(), &opened.session, &opened.services, everywhere, env);
    let ui = take_seat(args.output_format, env, tty, opened.folder.clone(), opened.session.id());
    let asked = Command::UserMessage { content: message.text, attachments };
    let seen = see_through(&runtime, &opened.services, &opened.session, &others, ui, asked);
    let (works_in, id) = (opened.folder, short_id(opened.session.id()));
    let ended = compose::stop(runtime, opened.services, opened.session, others, seen);
    if matches!(ended, Ok(Exit::Failed)) && disk::is_full(env.data_dir()) {
        say::note(disk::store_advice(env.data_dir()));
    }
    worktree::end(&works_in, opened.held, &title, &id, env);
    ended
}

/// Which session is gone on with.
fn which<'a>(args: &'a RunArgs, folder: &'a Path) -> Which<'a> {
    match &args.session {
        Some(id) => Which::Id(id),
        None => Which::Latest(folder),
    }
}

/// What is said to a session that may be at work: words reach the agent at its next turn. Pictures
/// can't be said in between.
fn steering(text: &str, attachments: &[Attachment]) -> Command {
    match attachments {
        [] => Command::Steer { text: text.to_owned() },
        _ => Command::UserMessage { content: text.to_owned(), attachments: attachments.to_vec() },
    }
}

/// What a session that works in `folder` is seen with.
pub fn take_seat(format: OutputFormat, env: &Env, tty: Option<Tty>, folder: PathBuf, session: SessionId) -> RunUi {
    let terminal = Terminal::look_at(env);
    let mut printer = Printer::new(format, &terminal);
    printer.set_session(short_id(session));
    let person = tty.map(|tty| {
        let place = Place { paint: terminal.paint(), width: terminal.width, rows: terminal.rows, folder };
        Person { tty, place, programs: Programs::wanted(env) }
    });
    RunUi { printer, person }
}

/// In `json` form even what never began is an object.
fn report(failure: &Failure, env: &Env) {
    let outcome = Outcome::of_failure(RunError { code: failure.code, message: failure.message.clone() });
    let mut printer = Printer::new(OutputFormat::Json, &Terminal::look_at(env));
    // The same is said on stderr.
    let _ = printer.finish(&outcome, None, failure.exit);
}

/// What is needed to open the session of a request.
pub struct Request<'a> {
    /// What is asked for.
    pub args: &'a RunArgs,
    /// Where settings come from.
    pub everywhere: &'a EverywhereArgs,
    /// The environment.
    pub env: &'a Env,
    /// Where a person can be asked while it is opened, if so.
    pub tty: Option<&'a Tty>,
    /// Whether a person is there.
    pub attended: bool,
    /// Whether more than a single request is meant.
    pub interactive: bool,
}

/// What was found for work in a folder.
struct Given {
    policy: Policy,
    hooks: Vec<Hook>,
    secrets: Vec<KnownSecret>,
    told: ToldFiles,
}

/// A session that is open.
pub struct Opened {
    /// What it stands on.
    pub services: Services,
    /// The session.
    pub session: Session,
    /// Where it works.
    pub folder: PathBuf,
    /// That somebody works there, should it be a worktree of ours.
    pub held: Option<Held>,
    /// What the person should know.
    pub notes: Vec<String>,
}

impl Request<'_> {
    /// Opens it for work in `folder`, or in the session's own.
    ///
    /// # Errors
    /// When that is not possible; there may be no model yet.
    pub async fn open(&self, folder: &Path) -> Result<Opened, Failure> {
        let mut loaded = self.load(folder, &[])?;
        let store = compose::open_store(self.env.data_dir()).await?;
        let found = self.find(&store, folder).await?;
        let mut notes: Vec<String> = found.iter().filter_map(Found::note).map(|note| place::words(&note)).collect();
        let record = found.as_ref().map(|found| found.record.clone());
        if let Some(record) = record.as_ref().filter(|_| self.interactive) {
            ahead::look(&store, record, self.env);
        }
        let mut works_in = folder.to_owned();
        // The settings of the session's own folder count, wherever it is gone on with from.
        if let Some(record) = record.as_ref().filter(|record| Path::new(&record.cwd) != folder) {
            works_in = PathBuf::from(&record.cwd);
            notes.push(format!("the session works in its own folder, {}", record.cwd));
            loaded = self.load(&works_in, &loaded.warnings)?;
        }
        let held = worktree::hold(&works_in, self.env);
        log::settings(&loaded);
        notes.extend(keys::warnings(&loaded));
        if let Some(tools) = &self.args.tools {
            notes.push(format!("only these tools exist in this run: {}", tools.join(", ")));
        }
        let config = &loaded.config;
        let models = Arc::new(services::models(config, self.env)?);
        let default_model = self.default_model(&models, record.is_some(), &mut notes).await;
        let default_model = default_model.map_err(|failure| self.name_origin(failure, None, &loaded))?;
        let refusal = Arc::new(Mutex::new(None));
        let plugged = self.plugged(&works_in, &loaded, &mut notes);
        let policy = self.policy(&works_in, &loaded, &plugged)?;
        let told = ToldFiles::find(self.env, &plugged)?;
        let given = Given { policy, hooks: plugged.hooks(), secrets: services::secrets(&models), told };
        let services = self.services(store, config, given, find_model(&models, &refusal))?;
        log::hide(services.hub.redactor().clone());
        let options = self.options(config, default_model)?;
        let session = match found {
            Some(found) => services.hub.open(services.hub.settle(found).await?, options).await,
            None => services.hub.create(folder, options).await,
        };
        let session = session.map_err(|error| self.explain(error, &refusal, &loaded))?;
        notes.extend(self.warn_of_prices(&session, &models, config).await);
        Ok(Opened { services, session, folder: works_in, held, notes })
    }

    /// Reads the settings. Warnings are said at once, whatever comes of the rest; those in `said` were.
    fn load(&self, folder: &Path, said: &[Notice]) -> Result<Loaded, Failure> {
        let overrides = &[self.everywhere.overrides.clone(), self.args.box_args.overrides()].concat();
        let loaded = neco_config::load(LoadOptions { env: self.env, cwd: folder, overrides })?;
        let new = loaded.warnings.iter().filter(|warning| !said.contains(warning));
        new.for_each(|warning| say::note(&warning.to_string()));
        Ok(loaded)
    }

    /// The session that is gone on with, and where it goes on; `None` for a new one.
    async fn find(&self, store: &Arc<SqliteStore>, folder: &Path) -> Result<Option<Found>, Failure> {
        if self.args.session.is_none() && !self.args.continue_latest {
            return Ok(None);
        }
        let finder = Finder::new(store.clone(), self.env.data_dir().to_owned());
        let Some(id) = &self.args.session else { return Ok(Some(finder.latest(folder).await?)) };
        let chose = self.everywhere.cwd.is_some();
        let found = finder.place_of(finder.find(id).await?, folder, chose)?;
        if chose && Path::new(&found.record.cwd) != folder {
            return Err(Failure::usage(format!(
                "the session has its own folder, {}: --cwd is for sessions whose folder is gone",
                found.record.cwd
            )));
        }
        Ok(Some(found))
    }

    /// What is plugged in. A person is asked about what the folder brings that nobody has decided
    /// about; without one it stays off, and that is said.
    fn plugged(&self, folder: &Path, loaded: &Loaded, notes: &mut Vec<String>) -> Plugged {
        let mut plugged = Plugged::look(self.env, folder, loaded);
        notes.append(&mut plugged.notices);
        if let Some(tty) = self.tty.filter(|_| plugged.has_news())
            && let Err(words) = ask::trust::ask(tty, &mut plugged, Scope::News, self.env)
        {
            notes.push(format!("the answer could not be kept: {words}"));
        }
        notes.extend(plugged.note());
        plugged
    }

    /// The rules for work in a folder. What is left out of them is said at once.
    fn policy(&self, folder: &Path, loaded: &Loaded, plugged: &Plugged) -> Result<Policy, Failure> {
        let LoadedPolicy { policy, warnings, .. } =
            rules::load(&self.args.rules.flags(), self.env, folder, loaded, plugged)?;
        warnings.iter().for_each(|warning| say::note(&warning.to_string()));
        Ok(policy)
    }

    fn services(
        &self,
        store: Arc<SqliteStore>,
        config: &Config,
        given: Given,
        find_model: FindModel,
    ) -> Result<Services, Failure> {
        let Given { policy, hooks, secrets, told } = given;
        let setup = ServiceSetup {
            attended: self.attended,
            interactive: self.interactive,
            config,
            tools: self.args.tools.clone().unwrap_or_default(),
            policy,
            hooks,
            rule_book: Some(Arc::new(AlwaysFile::of(self.env))),
            told,
            sandbox: Some(sandbox::open(config, self.env, Ask::IfChanged)?),
            environment: services::environment(self.env),
            secrets,
            data_dir: self.env.data_dir().to_owned(),
            index_dir: services::index_dir(self.env.data_dir()),
            find_model,
        };
        Ok(Services::start(store, setup)?)
    }

    /// What is asked when nobody says otherwise: what is configured, else a local server that answers.
    async fn default_model(&self, models: &Models, going_on: bool, notes: &mut Vec<String>) -> Result<String, Failure> {
        if let Some(model) = &self.args.model {
            // A group may be all that is known, and a local server all that there is.
            if GROUPS.contains(&model.as_str()) && matches!(models.default_name(), Err(SetupError::NoModel(_))) {
                models.use_local(&models.probe_local(PROBE).await);
            }
            return Ok(model.clone());
        }
        let looked = match models.default_name() {
            Ok(name) => return Ok(name),
            Err(SetupError::NoModel(looked)) => looked,
            Err(error) => return Err(error.into()),
        };
        let servers = models.probe_local(PROBE).await;
        models.use_local(&servers);
        match (models.default_name(), servers.first()) {
            (Ok(name), Some(LocalServer { base, .. })) => {
                let provider = models.provider_for(&name)?;
                notes.push(format!("no model is configured; using {}, which answers at {base}", provider.label()));
                Ok(name)
            }
            // A session that goes on has a model of its own.
            _ if going_on => Ok(String::new()),
            _ => Err(first_run::guide(&looked, self.env.config_dir())),
        }
    }

    fn options(&self, config: &Config, default_model: String) -> Result<SessionOptions, Failure> {
        let (generation, default_generation) = generations(self.args.generation, config)?;
        self.check_tools(generation.unwrap_or(default_generation), config)?;
        Ok(SessionOptions {
            model: self.args.model.clone(),
            default_model,
            mode: self.args.mode(),
            default_mode: config.mode,
            generation,
            default_generation,
            approval: self.args.approval().unwrap_or(config.approval),
            person_present: self.attended,
            max_turns: self.args.max_turns.unwrap_or(config.agent.max_turns),
            budget: Budget {
                cost: self.args.max_cost.or(config.agent.max_cost),
                tokens: config.agent.max_tokens,
                time: config.agent.max_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            },
        })
    }

    /// Who names a tool wants to have it.
    fn check_tools(&self, generation: CapabilityLevel, config: &Config) -> Result<(), Failure> {
        let named = self.args.tools.as_ref().unwrap_or(&config.tools.only);
        if named.is_empty() {
            return Ok(());
        }
        let all = services::all_tools(&config.tools, &services::indexes(self.env.data_dir()));
        let missing = named.iter().filter_map(|name| all.find(name).ok()).find(|tool| !generation.has(tool.name()));
        let Some(tool) = missing else { return Ok(()) };
        let from = CapabilityLevel::of_tool(tool.name()).map_or(1, CapabilityLevel::number);
        Err(Failure::usage(format!(
            "{} belongs to generation {from}, and this run is of generation {}: raise --gen, or leave it out of --tools",
            tool.name(),
            generation.number()
        )))
    }

    /// A budget of money does nothing where no price is known.
    async fn warn_of_prices(&self, session: &Session, models: &Models, config: &Config) -> Option<String> {
        let limit = match (self.args.max_cost, config.agent.max_cost) {
            (Some(_), _) => "--max-cost",
            (None, Some(_)) => "agent.max_cost",
            (None, None) => return None,
        };
        let Ok(Answer::Snapshot(snapshot)) = session.ask(Query::Snapshot).await else { return None };
        unpriced::warning(models, &snapshot.model, limit)
    }

    /// The session knows only words of what is wrong with a model; here it is known what.
    fn explain(&self, error: SessionError, refusal: &Mutex<Option<Refusal>>, loaded: &Loaded) -> Failure {
        let refused = refusal.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (error, refused) {
            (SessionError::Model(_), Some(Refusal { error: SetupError::NoModel(looked), .. })) => {
                first_run::guide(&looked, self.env.config_dir())
            }
            (SessionError::Model(_), Some(Refusal { model, error })) => {
                self.name_origin(error.into(), Some(&model), loaded)
            }
            // Its own words say more, but what is wrong decides how the process ends.
            (error @ SessionError::OwnModel { .. }, Some(Refusal { error: refused, .. })) => {
                let refused = Failure::from(refused);
                Failure { message: error.to_string(), ..refused }
            }
            (error, _) => error.into(),
        }
    }

    /// Adds who chose the model that can't be used, where that is known; a session has its own.
    fn name_origin(&self, failure: Failure, model: Option<&str>, loaded: &Loaded) -> Failure {
        let configured = model.is_none_or(|model| loaded.config.model.as_deref() == Some(model));
        let origin = match (&self.args.model, loaded.origins.get("model")) {
            (Some(model), _) => format!("The model comes from --model {model}."),
            (None, Some(setting)) if configured => {
                format!("The model comes from {}: model = {}", setting.origin, setting.value)
            }
            (None, Some(_) | None) => return failure,
        };
        let hint = failure.hint.as_ref().map(|hint| format!("\n{hint}")).unwrap_or_default();
        failure.hint(format!("{origin}{hint}"))
    }
}

/// The generation that is asked for, and the one when nobody asks for one.
fn generations(asked: Option<u8>, config: &Config) -> Result<(Option<CapabilityLevel>, CapabilityLevel), Failure> {
    let known = |number: u8| CapabilityLevel::new(number).map_err(|error| Failure::usage(error.to_string()));
    let configured = config.agent.generation.map(known).transpose()?;
    Ok((asked.map(known).transpose()?, configured.unwrap_or_else(CapabilityLevel::highest)))
}

/// A model that can't be used, and why.
struct Refusal {
    model: String,
    error: SetupError,
}

fn find_model(models: &Arc<Models>, refusal: &Arc<Mutex<Option<Refusal>>>) -> FindModel {
    let (models, refusal) = (Arc::clone(models), Arc::clone(refusal));
    Arc::new(move |name| {
        // Without a name there is no model but the default one.
        let wanted = if name.is_empty() { models.default_name() } else { Ok(name.to_owned()) };
        wanted.and_then(|wanted| models.provider_for(&wanted)).map_err(|error| {
            let words = error.to_string();
            let refused = Refusal { model: name.to_owned(), error };
            *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(refused);
            words
        })
    })
}
