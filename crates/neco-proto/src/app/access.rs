//! Who may come in at a server from elsewhere, and what was done there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::caller::Scope;
use super::known::Known;
use super::request::{Page, request};
use crate::Actor;

/// Lists the tokens that have names; the person's own has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListTokens {}

request!(ListTokens => TokenList, "tokens.list", Get "/tokens", Manage, repeatable);

/// The tokens that have names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    /// In the order in which they were made.
    pub tokens: Vec<TokenRow>,
}

/// A token with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenRow {
    /// What it is called.
    pub name: String,
    /// The most that whoever has it may do.
    pub scope: Known<Scope>,
}

/// Makes a token with a name, in place of one that has it. Only the person does, with their own token or in a browser
/// that they signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddToken {
    /// What it is called.
    pub name: String,
    /// The most that whoever has it may do.
    pub scope: Scope,
}

request!(AddToken => NewToken, "tokens.add", Post "/tokens", Manage, once);

/// A token that was just made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewToken {
    /// The token itself: it is said this once.
    pub token: String,
}

impl std::fmt::Debug for NewToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("NewToken").finish_non_exhaustive()
    }
}

/// Removes a token by its name; what is open with it ends within two seconds. Only the person does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoveToken {
    /// What it is called.
    pub name: String,
}

request!(RemoveToken => RemovedToken, "tokens.remove", Delete "/tokens/{name}", Manage, once);

/// A token was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedToken {}

/// Lists what was done at the server, the newest first, as far as it is still kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListAudit {
    /// Lists what those were refused who may do nothing instead.
    pub refused: bool,
    /// Which part is wanted; 50 lines when nothing is said.
    #[serde(flatten)]
    pub page: Page,
}

impl ListAudit {
    /// Lines of a page when nothing is said.
    pub const LINES: usize = 50;

    /// Most lines of a page.
    pub const MOST: usize = 500;
}

request!(ListAudit => AuditPage, "audit.list", Get "/audit", Manage, repeatable);

/// A page of what was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditPage {
    /// The newest first.
    pub lines: Vec<AuditLine>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What somebody did, or was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditLine {
    /// When.
    pub at: String,
    /// Who; nobody who showed no token that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// What they may do at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Known<Scope>>,
    /// A call, a command of a session, or what was asked by whoever was turned away.
    pub does: String,
    /// The session that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The address of whoever was turned away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The token that is made or removed; empty is the person's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Why nothing came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}
