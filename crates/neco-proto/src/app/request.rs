//! What a request is: plain data with an answer and a route.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::caller::Scope;
use super::error::AppError;

/// Something that can be asked of the program.
/// ```
/// use neco_proto::app::{Request, Route, Scope, Verb};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// How many sessions there are.
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct CountSessions {}
///
/// impl Request for CountSessions {
///     type Answer = u64;
///     const ROUTE: Route = Route {
///         name: "sessions.count",
///         verb: Verb::Get,
///         path: "/sessions/count",
///         scope: Scope::Read,
///         repeatable: true,
///     };
/// }
/// # assert!(CountSessions::ROUTE.repeatable);
/// ```
pub trait Request: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// What comes back.
    type Answer: Serialize + DeserializeOwned + JsonSchema + Send + 'static;

    /// How it is called over wires.
    const ROUTE: Route;
}

/// A request whose answer can also be had bit by bit, as it is found out.
/// ```
/// use neco_proto::app::Watch;
/// use neco_proto::app::doctor::{Examine, Finding};
///
/// fn tells_findings<R: Watch<Item = Finding>>(_: &R) {}
///
/// tells_findings(&Examine::default());
/// ```
pub trait Watch: Request {
    /// What comes, one after the other.
    type Item: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
}

/// Says of a request what comes back and how it is called: its name, its verb and path over HTTP, what a caller must be
/// allowed, and whether it is `repeatable` or must be asked only `once`.
macro_rules! request {
    ($type:ty => $answer:ty, $name:literal, $verb:ident $path:literal, $scope:ident, $times:ident) => {
        impl $crate::app::request::Request for $type {
            type Answer = $answer;

            const ROUTE: $crate::app::request::Route = $crate::app::request::Route {
                name: $name,
                verb: $crate::app::request::Verb::$verb,
                path: $path,
                scope: $crate::app::caller::Scope::$scope,
                repeatable: $crate::app::request::request!(@$times),
            };
        }
    };
    (@repeatable) => {
        true
    };
    (@once) => {
        false
    };
}
pub(crate) use request;

/// Which part of a list is wanted; all of it unless something is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Page {
    /// How many at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Only those after the page that said so with its `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// How a request is called over wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Its name, such as `sessions.list`.
    pub name: &'static str,
    /// The verb over HTTP.
    pub verb: Verb,
    /// The path over HTTP, with `{fields}` of the request in it.
    pub path: &'static str,
    /// What a caller must be allowed.
    pub scope: Scope,
    /// Whether asking twice does no more than asking once.
    pub repeatable: bool,
}

/// What makes a schema, with what it refers to among the definitions of the generator.
pub type Describes = fn(&mut SchemaGenerator) -> Schema;

/// A request as those see it who only have its data: routers, descriptions of the API, clients in other languages.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// How it is called.
    pub route: Route,
    /// Its fields.
    pub request: Describes,
    /// What comes back.
    pub answer: Describes,
    /// What comes one after the other, where the answer can also be had bit by bit.
    pub item: Option<Describes>,
}

impl Described {
    /// A request whose answer comes in one piece.
    #[must_use]
    pub const fn of<R: Request>() -> Self {
        Self {
            route: R::ROUTE,
            request: |generator| generator.subschema_for::<R>(),
            answer: |generator| generator.subschema_for::<R::Answer>(),
            item: None,
        }
    }
}

/// A verb of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Looks.
    Get,
    /// Does something.
    Post,
    /// Sets something.
    Put,
    /// Removes something.
    Delete,
}

/// A request as wires carry it. Its arguments, which may hold a key, are never printed.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The name of its route.
    pub name: String,
    /// Its fields.
    #[serde(default)]
    pub arguments: Value,
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Call").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Call {
    /// The call of a request.
    ///
    /// # Errors
    /// When the request can't be written down.
    pub fn of<R: Request>(request: &R) -> Result<Self, AppError> {
        let arguments = serde_json::to_value(request);
        let arguments = arguments.map_err(|error| AppError::not_understood(R::ROUTE.name, &error))?;
        Ok(Self { name: R::ROUTE.name.to_owned(), arguments })
    }

    /// The request, if it is this one.
    ///
    /// # Errors
    /// When it is another one, or its fields do not fit.
    pub fn read<R: Request>(self) -> Result<R, AppError> {
        if self.name != R::ROUTE.name {
            return Err(AppError::unknown(&self.name));
        }
        let arguments = if self.arguments.is_null() { Value::Object(serde_json::Map::new()) } else { self.arguments };
        serde_json::from_value(arguments).map_err(|error| AppError::not_understood(R::ROUTE.name, &error))
    }

    /// The answer to it, if it is this one.
    ///
    /// # Errors
    /// When it is another one, or the answer can't be written down.
    pub fn answer<R: Request>(self, answer: R::Answer) -> Result<Value, AppError> {
        self.read::<R>()?;
        serde_json::to_value(answer).map_err(|error| AppError::not_understood(R::ROUTE.name, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_printed_without_its_arguments() {
        let call = Call { name: "keys.set".to_owned(), arguments: serde_json::json!({ "key": "sk-secret" }) };
        assert_eq!(format!("{call:?}"), "Call { name: \"keys.set\", .. }");
    }
}
