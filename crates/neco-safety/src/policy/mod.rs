//! Policy: may this call happen?
//!
//! Invariants: [`Policy::judge`] is pure, so that the loop and an explanation get the same answer;
//! every verdict names the rule it comes from; without a person to ask, "ask" is "deny"; what is never
//! done is looked at before any rule; a project's rules never widen what the user's say; what is
//! critical, and what a mode forbids, is opened only by a rule of the user that names it.
//!
//! Reading order: [`action`], [`rule`] with [`pattern`], [`facts`] with [`arguments`], [`judge`], [`closed`] and
//! [`reach`], [`reasons`], [`grant`] with [`allowed`]; then where rules come from: [`fields`], [`read`], [`foreign`],
//! [`sources`], [`mod@keep`], [`cases`].

mod action;
mod allowed;
mod arguments;
pub mod canonical;
mod cases;
mod closed;
mod facts;
mod fields;
mod foreign;
mod grant;
mod judge;
mod keep;
mod pattern;
mod reach;
mod read;
mod reasons;
mod rule;
mod sources;
mod within;

pub use action::{Action, Confinement, SideEffect, Who};
pub use cases::{Case, read_cases};
pub use closed::Closed;
pub use closed::Sayings;
pub use closed::Telling;
pub use fields::Problem;
pub use grant::Grant;
pub use judge::{ExplainedPart, Explanation};
pub use judge::{Held, Policy, RuleRef, Verdict};
pub use keep::{forget, keep, keep_below, kept};
pub use pattern::{ArgsPattern, CommandPattern, HostPattern, PathPattern, ToolPattern};
pub use reach::some_of;
pub use read::{ReadRules, RuleReader};
pub use rule::{Rule, Ruling, Source, When};
pub use sources::{LoadedPolicy, PolicyError, RuleSources};
pub use within::Within;
