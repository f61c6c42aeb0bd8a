//! MCP servers: none is started, and no address is asked.

use neco_config::Env;
use neco_ext::mcp::{FoundServers, Reach, ServerSettings, ServerState, ServerStatus};
use neco_proto::app::doctor::Finding;

use crate::mcp::{failed_before, untrusted};

/// What is looked at, for the person.
const SUBJECT: &str = "mcp";

/// Looks at each server that may be used, and tells which are not trusted and why others are left out. `usable` has those
/// that are off, too; `statuses` say how they stand, as far as that is known.
pub fn check(env: &Env, found: FoundServers, usable: &[ServerSettings], statuses: &[ServerStatus]) -> Vec<Finding> {
    let status = |name: &str| statuses.iter().find(|status| status.settings.name == name);
    let enabled = usable.iter().filter(|one| one.enabled);
    let mut findings: Vec<Finding> = enabled.map(|one| server(env, one, status(&one.name))).collect();
    findings.extend(untrusted(found.servers, usable).iter().map(|server| {
        let words = format!("{} of {} is off until you trust it", server.name, server.file);
        Finding { fix: Some("`neco trust` shows it and switches it on".to_owned()), ..Finding::info(SUBJECT, words) }
    }));
    findings.extend(found.notices.into_iter().map(|notice| Finding::warn(SUBJECT, notice)));
    findings
}

fn server(env: &Env, server: &ServerSettings, status: Option<&ServerStatus>) -> Finding {
    let name = &server.name;
    let reached = match &server.reach {
        Reach::Address(_) => format!("{name} at {}", server.in_short()),
        Reach::Program(program) => match env.find_program(&program.program) {
            Some(path) => format!("{name} runs {}", path.display()),
            None => {
                return Finding::fail(
                    SUBJECT,
                    format!("{name} of {}: there is no program {}", server.file, program.program),
                    format!("install it, correct the command, or `neco mcp disable {name}`"),
                );
            }
        },
    };
    let test = format!("`neco mcp test {name}` tries whether it works");
    let unusable = |why: &str| Finding::fail(SUBJECT, format!("{reached}, and can't be used: {why}"), test.clone());
    if let Some(failed) = status.and_then(|status| status.failed.as_ref()) {
        return unusable(&failed_before(failed));
    }
    match status.map(|status| &status.state) {
        Some(ServerState::Failed(why)) => unusable(why),
        Some(ServerState::NeedsLogin) => {
            let fix = Some(format!("`neco mcp login {name}` logs in"));
            Finding { fix, ..Finding::warn(SUBJECT, format!("{reached}, and wants you to log in")) }
        }
        // A program that is there is not yet a server.
        Some(ServerState::Configured) | None => {
            Finding { fix: Some(test), ..Finding::info(SUBJECT, format!("{reached}; it has not answered so far")) }
        }
        Some(ServerState::Known | ServerState::Starting | ServerState::Running | ServerState::Disabled) => {
            Finding::ok(SUBJECT, reached)
        }
    }
}
