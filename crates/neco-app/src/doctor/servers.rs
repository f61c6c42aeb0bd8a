//! MCP servers: none is started, and no address is asked.

use neco_config::Env;
use neco_ext::mcp::{FoundServers, Reach, ServerSettings};
use neco_proto::app::doctor::Finding;

use crate::mcp::untrusted;

/// What is looked at, for the person.
const SUBJECT: &str = "mcp";

/// Looks at each server that may be used, and tells which are not trusted and why others are left out. `usable` has those
/// that are off, too.
pub fn check(env: &Env, found: FoundServers, usable: &[ServerSettings]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = usable.iter().filter(|one| one.enabled).map(|one| server(env, one)).collect();
    findings.extend(untrusted(found.servers, usable).iter().map(|server| {
        let words = format!("{} of {} is off until you trust it", server.name, server.file);
        Finding { fix: Some("`neco trust` shows it and switches it on".to_owned()), ..Finding::info(SUBJECT, words) }
    }));
    findings.extend(found.notices.into_iter().map(|notice| Finding::warn(SUBJECT, notice)));
    findings
}

fn server(env: &Env, server: &ServerSettings) -> Finding {
    let name = &server.name;
    match &server.reach {
        Reach::Address(_) => {
            Finding::ok(SUBJECT, format!("{name} at {}; `neco mcp test {name}` asks it", server.in_short()))
        }
        Reach::Program(program) => match env.find_program(&program.program) {
            Some(path) => Finding::ok(SUBJECT, format!("{name} runs {}", path.display())),
            None => Finding::fail(
                SUBJECT,
                format!("{name} of {}: there is no program {}", server.file, program.program),
                format!("install it, correct the command, or `neco mcp disable {name}`"),
            ),
        },
    }
}
