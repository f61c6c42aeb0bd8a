//! What is known about programs: which start others, which destroy, which reach out.
//!
//! Each file looks at the programs it knows and adds to a finding; none of them makes anything safe.
//!
//! Reading order: [`wrapper`], [`commanded`], [`shell`], [`interpreter`], [`script`], [`stream_editor`], [`find`],
//! [`files`], [`git`] with [`committed`], [`system`], [`network`], [`unknown`].

mod commanded;
mod committed;
mod files;
mod find;
mod git;
mod interpreter;
mod network;
mod script;
mod shell;
mod stream_editor;
mod system;
mod unknown;
mod wrapper;

use super::examined::Word;
use super::finding::{Command, Finding};
use super::ground::Ground;

pub(crate) use git::invocation;
pub(crate) use shell::{looks_up, prints_into_variable, sets};
pub(crate) use stream_editor::is_harmless_script;

/// A command as the programs see it.
pub(crate) struct Case<'a> {
    /// The program by its own name, without folders, in small letters.
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [Word],
    pub(crate) command: &'a Command,
    pub(crate) ground: &'a Ground<'a>,
}

/// Lets everyone who knows the program have a look.
pub(crate) fn look(case: &Case<'_>, finding: &mut Finding) {
    wrapper::look(case, finding);
    commanded::look(case, finding);
    shell::look(case, finding);
    interpreter::look(case, finding);
    stream_editor::look(case, finding);
    find::look(case, finding);
    files::look(case, finding);
    git::look(case, finding);
    system::look(case, finding);
    network::look(case, finding);
    unknown::look(case, finding);
}
