//! The window that offers a model.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::Client;
use neco_proto::app::sessions::{ListSessions, SessionPage};
use neco_proto::app::{App, AppError, Call, Caller};
use serde_json::Value;
use tokio::sync::oneshot;

use super::stand_in::StandIn;
use super::talk::{Talk, Talked};
use crate::host::{Host, Wanted};
use crate::looks::Looks;
use crate::run::{self, WindowError};

/// Shows the window until there is a model or the person leaves. `typed` is the provider whose key was just typed.
pub async fn run(
    app: Arc<dyn App>,
    folder: String,
    typed: Option<String>,
    looks: Looks,
) -> Result<Talked, WindowError> {
    let (stand_in, answers) = StandIn::new(folder.clone());
    let talk = Talk { stand_in: Arc::clone(&stand_in), answers, app, folder, home: looks.home.clone() };
    let (tell, told) = oneshot::channel();
    let ends = Arc::clone(&stand_in);
    tokio::spawn(async move {
        // Nobody waits for it when the window is gone.
        let _ = tell.send(talk.run(typed).await);
        ends.end();
    });
    let host = Arc::new(SetUpHost(stand_in));
    run::run(host.clone(), host, Wanted::New, None, Looks { set_up: true, ..looks }).await?;
    Ok(told.now_or_never().and_then(Result::ok).unwrap_or(Talked::Left))
}

/// A window without sessions, files or anything else.
struct SetUpHost(Arc<StandIn>);

impl Host for SetUpHost {
    fn open(&self, _: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, AppError>> {
        let client: Arc<dyn Client> = self.0.clone();
        async move { Ok(client) }.boxed()
    }

    fn close(&self, _: Arc<dyn Client>) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }

    fn folder(&self) -> String {
        String::new()
    }

    /// The talk is over, and its last words were said.
    fn ended(&self) -> Option<String> {
        None
    }
}

/// There are no sessions yet, and there is nothing else to be asked.
impl App for SetUpHost {
    fn call<'a>(&'a self, _: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        async move { call.answer::<ListSessions>(SessionPage::default()) }.boxed()
    }
}
