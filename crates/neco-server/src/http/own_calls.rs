//! What a server answers itself, before the program is asked: who may come in, and what was done.
//!
//! Invariant: only the person makes and removes tokens. Whoever has a token of another name would else stay when that is
//! taken away.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use neco_proto::app::access::{
    AddToken, ListAudit, ListTokens, NewToken, RemoveToken, RemovedToken, TokenList, TokenRow,
};
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, AppError, Call, Caller, Described, Request, Trouble, Verb};
use neco_proto::{Actor, Client, SessionId};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::access::{add_token, named_tokens, remove_token};
use super::audit::{Audit, Line, lines};

/// Characters of a token's name.
const LONGEST_NAME: usize = 64;

/// What can be asked of a server besides its program.
pub const DESCRIBED: &[Described] = &[
    Described::of::<ListTokens>(),
    Described::of::<AddToken>(),
    Described::of::<RemoveToken>(),
    Described::of::<ListAudit>(),
];

/// A program with what its server answers itself.
pub(crate) struct WithOwnCalls {
    pub app: Arc<dyn App>,
    /// The folder of the server.
    pub folder: PathBuf,
    pub audit: Audit,
}

impl WithOwnCalls {
    async fn answer(&self, caller: &Caller, call: Call) -> Result<Value, AppError> {
        let (name, folder) = (call.name.clone(), self.folder.clone());
        let Some(own) = DESCRIBED.iter().find(|described| described.route.name == name) else {
            return Err(AppError::unknown(&name));
        };
        let refused = if caller.scope < own.route.scope {
            Some(format!("{name} is only for whoever may do everything"))
        } else if own.route.verb != Verb::Get && caller.actor != Actor::Person {
            Some("only the person themselves makes and removes tokens".to_owned())
        } else {
            None
        };
        if let Some(words) = refused {
            let refused = Err(AppError::new(Trouble::NotAllowed, words));
            self.audit.note(Line::of(caller, &name, &refused)).await;
            return refused;
        }
        spawn_blocking(move || answered(&folder, call)).await.map_err(failed)?
    }
}

/// It reads and writes files.
fn answered(folder: &Path, call: Call) -> Result<Value, AppError> {
    let name = call.name.as_str();
    if name == ListTokens::ROUTE.name {
        let named = named_tokens(folder).map_err(failed)?.into_iter();
        let tokens = named.map(|token| TokenRow { name: token.name, scope: token.scope.into() }).collect();
        call.answer::<ListTokens>(TokenList { tokens })
    } else if name == AddToken::ROUTE.name {
        let AddToken { name, scope } = call.clone().read()?;
        let name = name.trim();
        if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
            let words = format!("a token's name has 1 to {LONGEST_NAME} characters, all of which can be seen");
            return Err(AppError::new(Trouble::Invalid, words));
        }
        call.answer::<AddToken>(NewToken { token: add_token(folder, name, scope).map_err(failed)? })
    } else if name == RemoveToken::ROUTE.name {
        let RemoveToken { name } = call.clone().read()?;
        match remove_token(folder, Some(&name)).map_err(failed)? {
            true => call.answer::<RemoveToken>(RemovedToken {}),
            false => Err(AppError::new(Trouble::NotFound, format!("there is no token {name}"))),
        }
    } else {
        let asked: ListAudit = call.clone().read()?;
        let unknown = |_| AppError::new(Trouble::Invalid, "the cursor is none of this list");
        let before = asked.page.cursor.as_deref().map(str::parse).transpose().map_err(unknown)?;
        let limit = asked.page.limit.unwrap_or(ListAudit::LINES).clamp(1, ListAudit::MOST);
        call.answer::<ListAudit>(lines(folder, asked.refused, before, limit).map_err(failed)?)
    }
}

fn failed(error: impl Into<io::Error>) -> AppError {
    AppError::new(Trouble::Failed, error.into().to_string())
}

impl App for WithOwnCalls {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        match DESCRIBED.iter().any(|described| described.route.name == call.name) {
            true => self.answer(caller, call).boxed(),
            false => self.app.call(caller, call),
        }
    }

    fn stream<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxStream<'a, Result<Value, AppError>> {
        self.app.stream(caller, call)
    }

    fn open<'a>(&'a self, caller: &'a Caller, wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        self.app.open(caller, wanted)
    }

    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, Result<Option<SessionId>, AppError>> {
        self.app.close(client)
    }

    fn is_watched(&self, session: SessionId) -> bool {
        self.app.is_watched(session)
    }
}
