//! `neco serve token`: what lets somebody in.

use clap::Args;
use neco_config::Env;
use neco_proto::app::Scope;
use neco_server::http::access;

use crate::args::{Choices, one_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;
use crate::server::{run_folder, token_here};

/// What a token can be for.
const SCOPES: &Choices<Scope> = &[
    (Scope::Read, "read", "Looks at sessions and settings"),
    (Scope::Work, "steer", "Works in sessions and answers what they ask"),
    (Scope::Manage, "admin", "Does all that you may"),
];

/// `neco serve token …`
#[derive(Clone, Debug, Args)]
pub struct TokenArgs {
    /// Makes a token of this name, in place of one that has it
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// What the new one may do
    #[arg(long, value_parser = one_of(SCOPES), requires = "name", default_value = "read")]
    pub scope: Scope,
    /// Removes the token of that name; without a name your own, and the next server makes another
    #[arg(long)]
    pub remove: bool,
    /// Lists the tokens that have names
    #[arg(long, conflicts_with_all = ["name", "remove"])]
    pub list: bool,
}

/// Runs `neco serve token …`.
pub fn run(args: &TokenArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = run_folder(env);
    let failed = |error: std::io::Error| Failure::new(Exit::Failed, format!("tokens can't be changed: {error}"));
    if args.list {
        let named = access::named_tokens(&folder).map_err(failed)?;
        let line = |token: &access::NamedToken| {
            let scope = SCOPES.iter().find(|(scope, ..)| *scope == token.scope).map_or("", |(_, word, _)| word);
            format!("{}  {scope}\n", token.name)
        };
        say::out(&named.iter().map(line).collect::<String>())?;
    } else if args.remove {
        if !access::remove_token(&folder, args.name.as_deref()).map_err(failed)? {
            return Err(Failure::usage("there is no such token").hint("`neco serve token --list` names them."));
        }
    } else if let Some(name) = &args.name {
        say::out(&format!("{}\n", access::add_token(&folder, name, args.scope).map_err(failed)?))?;
    } else {
        say::out(&format!("{}\n", token_here(env)?))?;
    }
    Ok(Exit::Done)
}
