//! An answer of another process that comes bit by bit, over a connection of its own: whoever reads slowly keeps no other
//! answer waiting, and whoever stops reading ends the work.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{BoxStream, unfold};
use neco_proto::ClientError;
use neco_proto::app::AppError;
use serde_json::Value;

use super::address::{Address, Connection};
use super::client::{not_expected, not_understood};
use super::frames::{Asked, Numbered, Reply, Request, line};
use super::lines::Read;

/// All that comes; nothing after an error.
pub(super) fn watch(address: Arc<Address>, asked: Asked) -> BoxStream<'static, Result<Value, AppError>> {
    unfold(Watching::Begins(address, Box::new(asked)), |watching| async move {
        let (item, watching) = match watching.next().await {
            Ok(next) => next.map(|(item, connection)| (Ok(item), Watching::Goes(connection)))?,
            Err(error) => (Err(error), Watching::Over),
        };
        Some((item, watching))
    })
    .boxed()
}

enum Watching {
    Begins(Arc<Address>, Box<Asked>),
    Goes(Box<Connection>),
    Over,
}

impl Watching {
    async fn next(self) -> Result<Option<(Value, Box<Connection>)>, AppError> {
        let mut connection = match self {
            Self::Begins(address, asked) => begin(&address, *asked).await?,
            Self::Goes(connection) => connection,
            Self::Over => return Ok(None),
        };
        let line = match connection.lines.next().await {
            Ok(Read::Line(line)) => line,
            Ok(Read::TooLong) => return Err(not_understood("an answer without an end").into()),
            Ok(Read::End) | Err(_) => return Err(ClientError::Gone.into()),
        };
        match serde_json::from_slice(&line) {
            Ok(Numbered { says: Reply::Item(item), .. }) => Ok(Some((item, connection))),
            Ok(Numbered { says: Reply::End, .. }) => Ok(None),
            Ok(Numbered { says: Reply::NotCalled(error), .. }) => Err(error),
            Ok(Numbered { says, .. }) => Err(not_expected(says).into()),
            Err(error) => Err(not_understood(&error.to_string()).into()),
        }
    }
}

async fn begin(address: &Address, asked: Asked) -> Result<Box<Connection>, AppError> {
    let mut connection = address.connect().await.map_err(ClientError::from)?;
    let request = line(1, Request::Watch(asked)).map_err(|error| not_understood(&error.to_string()))?;
    connection.write.say(&request).await.map_err(|_| ClientError::Gone)?;
    Ok(Box::new(connection))
}
