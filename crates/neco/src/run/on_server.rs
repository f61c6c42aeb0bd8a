//! A request to a session of a server: followed to its end, or left to go on in the background.

use neco_config::Env;
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, Caller};
use neco_proto::{Command, MessagePiece};
use neco_server::RemoteClient;
use neco_tui::line::run::RunUi;
use neco_tui::line::run::attached::{self, Begun};
use neco_tui::line::run::stdin;
use serde_json::json;

use super::ends::Ends;
use super::opener::wanted;
use super::request::{take_seat, with_pictures};
use super::{attach, files, picture, slash};
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::ask::Tty;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;
use crate::server::{along, is_elsewhere, named, reach, resume, started};
use crate::short_id::short_id;
use crate::terminal::{self, is_unattended};

/// What is asked, and of which session.
struct Asked {
    wanted: OpenSession,
    said: Command,
    ends: Ends,
}

impl Asked {
    /// From the command line and stdin.
    fn read(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Self, Failure> {
        let settings = [everywhere.overrides.clone(), args.box_args.overrides()].concat();
        let is_elsewhere = is_elsewhere(everywhere, env)?;
        if is_elsewhere && !settings.is_empty() {
            let words =
                "-c, --sandbox and --network hold for the process that runs the session, and that is the server";
            return Err(Failure::usage(words).hint("`neco serve -c KEY=VALUE` starts one that has them."));
        }
        let goes_on = args.session.is_some() || args.continue_latest;
        let message = stdin::gather(args.message(), terminal::look_at(env).stderr, goes_on)?;
        message.warnings.iter().for_each(|words| say::note(words));
        let attachments = picture::attachments(&files::pictures(args))?;
        let spelt_out = slash::spelt_out(message.text, args, everywhere, env)?;
        let args = &spelt_out.wanted(args);
        let ends = Ends::of(args)?;
        let text = ends.told(files::added(MessagePiece::joined(&spelt_out.pieces), args)?);
        let said = with_pictures(spelt_out.said_with(&text).command(false), &attachments);
        let folder = crate::folder(everywhere)?.display().to_string();
        let mut wanted = OpenSession { interactive: true, ..wanted(args, everywhere, folder)? };
        if !is_elsewhere {
            wanted = along(wanted, (settings, everywhere), env)?;
        }
        Ok(Self { wanted, said, ends })
    }
}

async fn open(server: &RemoteClient, wanted: OpenSession, args: &RunArgs) -> Result<OpenedSession, Failure> {
    let opened = server.open(&Caller::person(), wanted).await?;
    opened.notes.iter().for_each(|words| say::note(words));
    if opened.owner.is_some() {
        attach::left_out(args).iter().for_each(|words| say::note(words));
    }
    Ok(opened)
}

/// Says a message to a session of the server that was named, and follows it until it is answered.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let url = named(everywhere, env).unwrap_or_default();
    let Asked { wanted, said, ends } = Asked::read(args, everywhere, env)?;
    let tty = (args.output_format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let runtime = compose::runtime()?;
    let begun = runtime.block_on(async {
        let server = reach(url, env).await?;
        let opened = open(&server, OpenSession { attended: tty.is_some(), ..wanted }, args).await?;
        let OpenedSession { id, client, folder, .. } = opened;
        Ok::<_, Failure>(Begun::say(client, server.owner().pid, (id, folder), Some(said)).await?)
    })?;
    let (format, id) = (args.output_format, begun.id());
    // How a session of this machine is gone on with would find none.
    let ui = take_seat(format, env, tty, begun.folder(), None);
    let ui = RunUi { judge: ends.judge(), ..ui };
    let seen = attached::follow(&runtime, begun, ui);
    runtime.shutdown_background();
    if format == OutputFormat::Text && terminal::look_at(env).stderr {
        say::note(&format!("{} {} comes back to it", resume(everywhere, env), short_id(id)));
    }
    Ok(seen?)
}

/// Says a message to a session of the server that was named, or of the one here, and leaves it to that; what it asks
/// waits for a person.
pub fn begin(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let Asked { wanted, said, .. } = Asked::read(args, everywhere, env)?;
    let url = match named(everywhere, env) {
        Some(url) => url.to_owned(),
        None => started(env)?.url,
    };
    let runtime = compose::runtime()?;
    let id = runtime.block_on(async {
        let server = reach(&url, env).await?;
        let opened = open(&server, OpenSession { attended: true, ..wanted }, args).await?;
        opened.client.send(said).await?;
        Ok::<_, Failure>(opened.id)
    })?;
    runtime.shutdown_background();
    match args.output_format {
        OutputFormat::Text => {
            say::out(&format!("{id}\n"))?;
            let short = short_id(id);
            say::note(&format!(
                "It works in the background; neco logs -f {short} follows it, neco stop {short} stops it"
            ));
        }
        OutputFormat::Json | OutputFormat::StreamJson | OutputFormat::ClaudeStreamJson => {
            say::out(&format!("{}\n", json!({ "session_id": id, "server": url })))?;
        }
    }
    Ok(Exit::Done)
}
