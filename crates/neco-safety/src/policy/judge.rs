//! The judgement: mode first, then what the person granted, then the risk matrix.

use neco_proto::{ApprovalMode, ErrorCode, Mode, Risk};

use super::action::{Action, Touch, Who};

/// What is to be done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It may not run.
    Deny,
}

/// A ruling and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What is to be done.
    pub ruling: Ruling,
    /// The rule it comes from, in words.
    pub reason: String,
    /// The code for the model when it is denied.
    pub code: ErrorCode,
}

/// What a person allowed for the rest of the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    tool: String,
    /// The exact command line, for tools that run one: another command is another question.
    command: Option<String>,
}

impl Grant {
    /// The grant that "for this session" on `action` stands for; none where every single call is asked about.
    #[must_use]
    pub fn like(action: &Action<'_>) -> Option<Self> {
        let grant = Self { tool: action.tool.to_owned(), command: action.command.map(str::to_owned) };
        (action.risk < Risk::Critical).then_some(grant)
    }

    /// The grant in words, shown before it is given.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.command {
            Some(command) => format!("run exactly `{command}` without asking, until Neco ends"),
            None => format!("use {} on ordinary files without asking, until Neco ends", self.tool),
        }
    }

    fn covers(&self, action: &Action<'_>) -> bool {
        self.tool == action.tool && self.command.as_deref() == action.command
    }
}

/// The rules in force.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    grants: Vec<Grant>,
}

impl Policy {
    /// Adds what a person allowed for the rest of the session.
    pub fn grant(&mut self, grant: Grant) {
        if !self.grants.contains(&grant) {
            self.grants.push(grant);
        }
    }

    /// May this call happen?
    #[must_use]
    pub fn judge(&self, action: &Action<'_>, who: &Who) -> Verdict {
        let (ruling, reason) = self.rule(action, who);
        if ruling == Ruling::Ask && !who.person_present {
            return Verdict { ruling: Ruling::Deny, reason: unasked(&reason, action.risk), code: denial_code(action) };
        }
        Verdict { ruling, reason, code: denial_code(action) }
    }

    fn rule(&self, action: &Action<'_>, who: &Who) -> (Ruling, String) {
        if who.mode == Mode::Ask && (action.touch != Touch::Reads || action.risk > Risk::Safe) {
            return (Ruling::Deny, "in ask mode nothing is written or run".to_owned());
        }
        if action.risk < Risk::Critical && self.grants.iter().any(|grant| grant.covers(action)) {
            return (Ruling::Allow, "allowed for this session".to_owned());
        }
        match matrix(action.risk, who.approval) {
            Ruling::Allow => (Ruling::Allow, format!("{} needs no approval in mode {}", what(action), who.approval)),
            Ruling::Ask | Ruling::Deny => {
                (Ruling::Ask, format!("{}; approval mode {} asks", what(action), who.approval))
            }
        }
    }
}

/// What a call does that makes it worth a question.
fn what(action: &Action<'_>) -> String {
    if let Some(because) = action.because {
        return because.to_owned();
    }
    let words = match action.touch {
        Touch::Reads => "it only reads",
        Touch::Writes => "it changes a file",
        Touch::Runs if action.risk <= Risk::Low => "it acts on a process of the agent's own",
        Touch::Runs => "it runs a command",
    };
    words.to_owned()
}

/// Why an unasked question is a no, and how it could become a yes.
fn unasked(reason: &str, risk: Risk) -> String {
    let way = match risk {
        Risk::Critical => "it always needs a person at a terminal",
        Risk::Safe | Risk::Low | Risk::Medium | Risk::High => {
            "the user can allow it by running with --approval auto (or --yes), or at a terminal"
        }
    };
    format!("{reason}, and nobody can be asked in this run; {way}")
}

/// The risk matrix. Commands are not yet in a sandbox, so `auto` allows them on the person's word alone.
fn matrix(risk: Risk, approval: ApprovalMode) -> Ruling {
    match (risk, approval) {
        (Risk::Safe, ApprovalMode::Auto | ApprovalMode::AskFirst | ApprovalMode::Manual)
        | (Risk::Low, ApprovalMode::Auto | ApprovalMode::AskFirst)
        | (Risk::Medium | Risk::High, ApprovalMode::Auto) => Ruling::Allow,
        (Risk::Low, ApprovalMode::Manual)
        | (Risk::Medium | Risk::High, ApprovalMode::AskFirst | ApprovalMode::Manual)
        | (Risk::Critical, ApprovalMode::Auto | ApprovalMode::AskFirst | ApprovalMode::Manual) => Ruling::Ask,
    }
}

fn denial_code(action: &Action<'_>) -> ErrorCode {
    match action.touch {
        Touch::Runs => ErrorCode::CommandBlocked,
        Touch::Reads | Touch::Writes => ErrorCode::BlockedByPolicy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(touch: Touch, risk: Risk, command: Option<&str>) -> Action<'_> {
        Action { tool: "tool", touch, risk, command, because: None }
    }

    fn who(mode: Mode, approval: ApprovalMode, person_present: bool) -> Who {
        Who { mode, approval, person_present }
    }

    #[test]
    fn the_risk_matrix_is_the_one_of_the_table() {
        use ApprovalMode::{AskFirst, Auto, Manual};
        use Ruling::{Allow, Ask};
        let table = [
            (Risk::Safe, Allow, Allow, Allow),
            (Risk::Low, Allow, Allow, Ask),
            (Risk::Medium, Allow, Ask, Ask),
            (Risk::High, Allow, Ask, Ask),
            (Risk::Critical, Ask, Ask, Ask),
        ];
        for (risk, auto, ask_first, manual) in table {
            for (approval, expected) in [(Auto, auto), (AskFirst, ask_first), (Manual, manual)] {
                let verdict =
                    Policy::default().judge(&action(Touch::Writes, risk, None), &who(Mode::Agent, approval, true));
                assert_eq!(verdict.ruling, expected, "{risk} in {approval}");
            }
        }
    }

    #[test]
    fn ask_mode_refuses_whatever_was_granted() {
        let write = action(Touch::Writes, Risk::Medium, None);
        let mut policy = Policy::default();
        policy.grant(Grant::like(&write).unwrap());
        assert_eq!(policy.judge(&write, &who(Mode::Ask, ApprovalMode::Auto, true)).ruling, Ruling::Deny);
        assert_eq!(policy.judge(&write, &who(Mode::Agent, ApprovalMode::Manual, true)).ruling, Ruling::Allow);
    }

    #[test]
    fn without_a_person_ask_is_deny_and_says_how_to_allow() {
        let run = action(Touch::Runs, Risk::High, Some("make"));
        let verdict = Policy::default().judge(&run, &who(Mode::Agent, ApprovalMode::AskFirst, false));
        assert_eq!((verdict.ruling, verdict.code), (Ruling::Deny, ErrorCode::CommandBlocked));
        assert!(verdict.reason.contains("--approval auto"), "{}", verdict.reason);
    }

    #[test]
    fn a_grant_covers_the_same_command_only_and_never_the_critical() {
        let mut policy = Policy::default();
        policy.grant(Grant::like(&action(Touch::Runs, Risk::High, Some("make test"))).unwrap());
        assert_eq!(Grant::like(&action(Touch::Runs, Risk::Critical, Some("make test"))), None);
        let me = who(Mode::Agent, ApprovalMode::AskFirst, true);
        assert_eq!(policy.judge(&action(Touch::Runs, Risk::High, Some("make test")), &me).ruling, Ruling::Allow);
        assert_eq!(
            policy.judge(&action(Touch::Runs, Risk::High, Some("make test; rm -rf .")), &me).ruling,
            Ruling::Ask
        );
        assert_eq!(policy.judge(&action(Touch::Runs, Risk::Critical, Some("make test")), &me).ruling, Ruling::Ask);
    }
}
