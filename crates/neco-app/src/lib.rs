//! The program without a face: what work in a folder is made of, and the answers to what a front end can ask.
//!
//! Nothing here prints, asks a person or knows a terminal.
//!
//! Reading order: [`workspace`] (what one folder brings), [`services`] (what its sessions stand on), [`opening`] (how one
//! is opened), [`mod@app`] (which call is answered where), [`sessions`], [`disk`], [`mod@error`].

pub mod app;
pub mod disk;
pub mod error;
pub mod opening;
pub mod services;
pub mod sessions;
pub mod workspace;

pub use app::LocalApp;
