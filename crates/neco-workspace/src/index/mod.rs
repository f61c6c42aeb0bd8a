//! The index of the workspace's code: ranked text search, definitions, references, the map.
//!
//! Invariants: what is in it is what the walking rules of all tools give, without sensitive files;
//! it never tells other than a fresh index would; files on disk are replaced, never changed; damage
//! is seen and mended by building anew; nothing runs when nobody asks.
//!
//! Reading order: [`language`], [`kind`], [`code`], `grammar`, `declarator`, `gathered`, `parse` (what a file says); [`terms`],
//! `postings`, `table`, `segment` (how it is kept); `manifest`, `scan`, `notices`, `follow`, `build`,
//! `tidy`, [`store`], [`indexes`] (how it is brought up to date); [`snapshot`], [`search`], [`symbols`], [`map`] (how it
//! is asked); [`request`], [`mod@fitting`] (what of it fits a person's request).

mod build;
mod code;
#[cfg(feature = "grammars")]
mod declarator;
mod fitting;
mod follow;
#[cfg(feature = "grammars")]
mod gathered;
#[cfg(feature = "grammars")]
mod grammar;
mod indexes;
mod kind;
mod language;
mod manifest;
mod map;
#[cfg(target_os = "linux")]
mod notices;
#[cfg(not(target_os = "linux"))]
#[path = "no_notices.rs"]
mod notices;
mod parse;
mod postings;
mod request;
mod scan;
mod search;
mod segment;
mod snapshot;
mod store;
mod symbols;
mod table;
mod terms;
mod tidy;

pub use code::{Definition, OutlineItem, outline};
pub use fitting::{Piece, fitting, fitting_by_names};
pub use indexes::Indexes;
pub use kind::SymbolKind;
pub use language::Language;
pub use map::RepoMap;
pub use search::{Hit, HitLine, Hits};
pub use snapshot::Snapshot;
pub use store::IndexError;
pub use store::{Index, remove_abandoned};
pub use store::{Patient, Watch};
pub use symbols::{Definitions, Likeness, Place, UsesOfFile};
