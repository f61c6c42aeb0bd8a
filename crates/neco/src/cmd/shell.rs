//! `neco completions` and `neco man`: what a shell and `man` know of the command line, written from its definition.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::CommandLine;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// After `neco completions --help`.
pub const COMPLETIONS: &str = "\
Examples:
  neco completions bash > ~/.local/share/bash-completion/completions/neco
  neco completions zsh > ~/.zfunc/_neco          with fpath+=(~/.zfunc) before compinit in ~/.zshrc
  neco completions fish > ~/.config/fish/completions/neco.fish
  neco completions powershell >> $PROFILE";

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "neco", &mut text);
    say::out(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// Prints the manual page.
pub fn man() -> Result<Exit, Failure> {
    let mut text = Vec::new();
    // What the short help leaves out would have no words there.
    let mut command = CommandLine::command().mut_args(|arg| arg.hide_short_help(false));
    command.build();
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let written: io::Result<()> = Man::new(command).render(&mut text);
    written.map_err(|error| say::unwritten(&error))?;
    // Subcommands have no page of their own: they are named as they are typed.
    let text = names.iter().fold(String::from_utf8_lossy(&text).into_owned(), |text, name| {
        text.replace(&format!("neco\\-{name}(1)"), &format!("neco {name}"))
    });
    say::out(&text)?;
    Ok(Exit::Done)
}
