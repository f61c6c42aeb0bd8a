//! The sandbox room: how a process is put into its box, and the only room with `unsafe` code.
//!
//! Invariants: every `unsafe` block says why it is sound; nothing here decides whether something
//! may run, only how.
//!
//! Reading order: [`linux`].

pub(crate) mod linux;
