//! From any history to a conversation that a vendor accepts.
//!
//! A history may come from several vendors, from a session that was interrupted, or from a file
//! that somebody edited. Invariants of what comes out, whatever goes in: every call has exactly one
//! result, in the message right after it and in the order of the calls; no result is without its
//! call; ids are unique and of the form the vendor accepts, the same at call and result; no part
//! and no message is empty; only user messages hold pictures, and only for models that see them;
//! the model neither begins nor ends, nor speaks twice in a row; a call of a tool that is not declared is written as
//! the model made it, as one of `call`, where that is declared. A message that needs no change is passed on as it is,
//! together with the bytes that a wire made of it.
//!
//! What is left to the wires: joining what the user and tools say where their vendor wants that, and
//! leaving out thoughts where [`Sent::kin`] says that another model thought them.
//!
//! Reading order: [`taker`] (what a vendor takes), [`sent`] (what comes out), `turns` (the walk).

pub mod sent;
pub mod taker;
mod turns;

pub use sent::Sent;
pub use taker::{CallIds, Kin, Taker};
pub use turns::adapt;
