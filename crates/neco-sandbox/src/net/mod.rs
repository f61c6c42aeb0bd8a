//! The network of this machine, as tools reach it: web addresses, one answer at a time.
//!
//! Invariants:
//! - only `http` and `https`; no login in an address, no cookies, nothing that identifies the person;
//! - a name is resolved here, every address it stands for is looked at, and the connection goes to an
//!   address that was looked at: there is no second lookup that could answer otherwise;
//! - this machine, private networks and everything else that is not the open internet is refused
//!   unless the person's settings name the host; that holds anew after every redirect;
//! - a redirect to another host is told and not followed: who allowed one host did not allow the other;
//! - what an answer takes, in time and in bytes after unpacking, has an end;
//! - keys stay in here: a tool says which one to send and never sees it.
//!
//! A proxy from the environment is used as other programs use it. Then the proxy looks names up, so
//! they are looked at here as far as this machine can resolve them.
//!
//! Nothing is made before the first request.
//!
//! Reading order: [`hosts`], [`check`], [`proxy`], [`network`].

pub(crate) mod check;
mod hosts;
mod network;
mod proxy;

pub use network::{LocalNet, NetSettings};
pub use proxy::ProxyRules;
