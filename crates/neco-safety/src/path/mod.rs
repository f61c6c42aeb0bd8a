//! Paths: resolved before they are judged, used as resolved.
//!
//! Invariants: a [`Located`] lies inside a root with every link and `..` resolved; what is done with
//! it goes through a handle of that root and follows no link, so a link that is put in its way after
//! the check is refused, not followed; no operation waits for a pipe, device or socket.
//!
//! Reading order: [`error`], [`spelling`], [`mod@resolve`], [`credentials`], [`located`], [`open_at`], [`attributes`],
//! [`unfinished`], [`replace`], [`sensitive`], [`later`], [`shape`].

mod attributes;
mod credentials;
mod error;
pub mod later;
mod located;
mod open_at;
mod replace;
mod resolve;
pub mod sensitive;
mod shape;
mod spelling;
mod unfinished;

pub use attributes::Attributes;
pub use credentials::{guard_credentials, is_own_credential};
pub use error::PathError;
pub use located::{Access, Located, Stamp};
pub use open_at::open_without_links;
pub use replace::Replaced;
pub use sensitive::is_sensitive;
pub use unfinished::{is_own_name, remove_abandoned};

pub(crate) use credentials::own_credentials;
pub(crate) use located::Root;
pub use open_at::open_beneath;
pub(crate) use resolve::{Resolved, resolve};
pub(crate) use shape::{Shape, name_fits};
pub(crate) use spelling::{Meant, meant};
