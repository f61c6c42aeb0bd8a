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
    print(&text)
}

/// Prints the manual page.
pub fn man() -> Result<Exit, Failure> {
    let mut text = Vec::new();
    let written: io::Result<()> = Man::new(CommandLine::command()).render(&mut text);
    written.map_err(|error| say::unwritten(&error))?;
    print(&text)
}

fn print(text: &[u8]) -> Result<Exit, Failure> {
    say::out(&String::from_utf8_lossy(text))?;
    Ok(Exit::Done)
}
