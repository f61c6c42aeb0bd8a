//! Logins at MCP servers with an address.

use futures::channel::mpsc;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use neco_ext::mcp::{LoggedOut, LoginStep, LoginUi, TokenStore, is_server_name};
use neco_proto::app::AppError;
use neco_proto::app::mcp::{LogInServer, LogOutServer, LoggedInServer, LoggedOutServer, ServerLogin};

use crate::app::StorelessApp;
use crate::error::failed;
use crate::mcp::{Here, of_mcp};
use crate::watching::{Told, told};
use crate::workspace::server_logins::ServerLogins;
use crate::workspace::{keys, wanted_logins};

pub(crate) async fn log_in(app: &StorelessApp, request: LogInServer) -> Result<LoggedInServer, AppError> {
    let happened: Vec<ServerLogin> = watch_log_in(app, request).try_collect().await?;
    let logged_in = happened.into_iter().find_map(|happened| match happened {
        ServerLogin::LoggedIn(logged_in) => Some(*logged_in),
        ServerLogin::OpenPage(_) | ServerLogin::EnterCode { .. } | ServerLogin::Other(_) => None,
    });
    logged_in.ok_or_else(|| failed("the login ended without a result"))
}

/// The same, step by step. Whoever stops watching ends the login.
pub(crate) fn watch_log_in(app: &StorelessApp, request: LogInServer) -> BoxStream<'_, Result<ServerLogin, AppError>> {
    told(|told| attempt(app, request, told))
}

async fn attempt(app: &StorelessApp, request: LogInServer, mut told: Told<ServerLogin>) -> Result<(), AppError> {
    // The sessions that are open there have the login at once.
    let here = Here::shared(app, &request.folder)?;
    let name = here.usable(&request.name).map_err(|error| error.after(&here.warnings))?.name;
    // Unbounded: a login has one or two steps, and whoever shows one can't wait.
    let (steps, mut shown) = mpsc::unbounded();
    let telling = async {
        while let Some(step) = shown.next().await {
            told.tell(step).await;
        }
        told
    };
    let logging_in = async {
        let ui = Steps { steps, has_browser: !request.no_browser };
        here.workspace.servers().log_in(&name, &ui).await.map_err(of_mcp)
    };
    let (mut told, logged_in) = futures::join!(telling, logging_in);
    logged_in?;
    wanted_logins::forget(app.env.data_dir(), &name);
    let file = app.env.shown(keys::file(&app.env).path());
    told.tell(ServerLogin::LoggedIn(Box::new(LoggedInServer { server: here.row(&name)?, file }))).await;
    Ok(())
}

/// Hands on what a person is shown of a login.
struct Steps {
    steps: mpsc::UnboundedSender<ServerLogin>,
    has_browser: bool,
}

impl LoginUi for Steps {
    fn show(&self, step: LoginStep) {
        let step = match step {
            LoginStep::OpenBrowser(page) => ServerLogin::OpenPage(page),
            LoginStep::EnterCode { url: page, code } => ServerLogin::EnterCode { page, code },
        };
        // Whoever does not listen any more drops the login as well.
        let _ = self.steps.unbounded_send(step);
    }

    fn has_browser(&self) -> bool {
        self.has_browser
    }
}

pub(crate) async fn log_out(app: &StorelessApp, request: LogOutServer) -> Result<LoggedOutServer, AppError> {
    let LogOutServer { folder, name } = request;
    let here = Here::shared(app, &folder)?;
    if let Err(error) = here.row(&name) {
        // What a server gave that is gone from the settings can be forgotten, too.
        return if forget(app, &name)? { Ok(logged_out(None)) } else { Err(error) };
    }
    match here.workspace.servers().log_out(&name).await {
        Ok(LoggedOut::Nothing) => Ok(LoggedOutServer::default()),
        Ok(LoggedOut::Forgotten) => Ok(logged_out(None)),
        Ok(LoggedOut::HereOnly(why)) => Ok(logged_out(Some(why))),
        // One that nobody has trusted is not asked.
        Err(_) if forget(app, &name)? => Ok(logged_out(None)),
        Err(error) => Err(of_mcp(error)),
    }
}

fn logged_out(problem: Option<String>) -> LoggedOutServer {
    LoggedOutServer { was_logged_in: true, problem }
}

/// Forgets what a login at a server gave; says whether there was one.
pub(crate) fn forget(app: &StorelessApp, name: &str) -> Result<bool, AppError> {
    let logins = ServerLogins::new(&app.env);
    if !is_server_name(name) || logins.load(name).map_err(failed)?.is_none() {
        return Ok(false);
    }
    logins.remove(name).map_err(failed)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use neco_config::Env;
    use neco_proto::app::Trouble;

    use super::*;

    #[tokio::test]
    async fn only_a_server_with_an_address_has_a_login_and_one_that_is_gone_can_be_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().display().to_string();
        let env = Env::for_test([("NECO_HOME", folder.as_str())], home.path());
        std::fs::create_dir_all(env.config_dir()).unwrap();
        std::fs::write(env.config_dir().join("config.toml"), "[mcp_servers.files]\ncommand = \"sh\"\n").unwrap();
        ServerLogins::new(&env).save("gone", &"{}".into()).unwrap();
        let app = StorelessApp::new(env, Vec::new());
        let log_in = LogInServer { folder: folder.clone(), name: "files".to_owned(), no_browser: true };
        let refused = super::log_in(&app, log_in).await.unwrap_err();
        assert!(refused.message.contains("nobody logs in at one"), "{refused:?}");
        let leave = |name: &str| log_out(&app, LogOutServer { folder: folder.clone(), name: name.to_owned() });
        assert_eq!(leave("gone").await, Ok(logged_out(None)));
        assert_eq!(leave("gone").await.map_err(|error| error.trouble), Err(Trouble::NotFound));
        assert!(leave("files").await.is_err());
    }
}
