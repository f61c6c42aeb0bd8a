//! Choosing among models and keys, trying again, failing over.
//!
//! A group is a provider around providers. What happens after a failure:
//!
//! | failure | then |
//! |---|---|
//! | rate limit | the next key or model that is ready, at once; when none is, the one that is ready first, each as often as `network.retries` says |
//! | overload, server error, timeout, broken stream, broken call, unreachable | the same key again, as often as `network.retries` says, then the next key, then the next model |
//! | a server that still loads its model | the same again as long as `network.load_timeout` says |
//! | a failure of the first kind, but the vendor asks to wait too long or forbids another try | the next key at once |
//! | key not accepted, not allowed, no credit | the next key at once, then the next model |
//! | no such model; nobody listens at a local address, and nobody did before | the next model at once |
//! | request not understood, too long, too large, filtered | the error ends the call: another model would be asked the same thing, and the agent can mend it |
//!
//! What failed for good is rested: it goes to the end of the order for a while. A key that is not
//! accepted or has no credit rests for all models, anything else rests the key for the one model.
//! When the rest is over one call tries it, and the others keep away until that one succeeded.
//! Every step is a delta, so that nobody looks at a hang. All state that calls share is atomic.
//!
//! An answer that is more than one may be (`network.max_answer_…`) is cut there: the connection is closed, and its
//! finish says which limit it went past.
//!
//! Reading order: [`breaker`], [`lane`], [`retry`], [`failover`], [`bounds`], `question`.

pub mod bounds;
pub mod breaker;
pub mod failover;
pub mod lane;
mod question;
pub mod retry;

pub use bounds::AnswerLimits;
pub use breaker::Breaker;
pub use failover::{Group, Member};
pub use failover::{Turns, by_price};
pub use lane::{Breakers, Lane};
pub use retry::{Failures, RetryPolicy};
