//! What a person is asked, whoever shows it: a call as it is or as they changed it, a plan; and what their answers send.
//!
//! A letter means the same wherever it answers: `y` yes, `s` yes and less is asked in this session, `a` yes and a rule is
//! kept, `e` it is changed first, `r` it is sent back, `d` all of it is shown, `n` no.

use neco_proto::event::PermissionRequest;
use neco_proto::visible::visible_line;
use neco_proto::{ApprovalMode, Command, Decision, Diff, Reply, Risk};
use serde_json::Value;

/// A command that is shorter is repeated in the rule that allows it.
const SHORT_COMMAND: usize = 40;

/// What a call comes to that the person changed is found out when it is judged: whatever was not told yet is asked about
/// then.
pub const CHECKED_AGAIN: &str = "Checked again after your change; asked again if it is riskier";

/// What is said of a command that no sandbox holds.
pub const NO_SANDBOX: &str = "no sandbox";

/// What is said of a call that happens on another machine.
pub const ELSEWHERE: &str = "runs elsewhere";

/// A call that a person is asked about.
#[derive(Clone, Debug)]
pub struct Approval {
    /// What is asked; once they changed it, what they made of it.
    pub request: PermissionRequest,
    /// Whether the person changed it.
    pub revised: bool,
}

impl Approval {
    /// The call as it was asked about.
    pub fn new(request: PermissionRequest) -> Self {
        Self { request, revised: false }
    }

    /// The person made this of it: no rule is made of that, and it is asked about as it is now.
    pub fn revise(&mut self, arguments: Value, diff: Vec<Diff>) {
        let request = &mut self.request;
        let verb = request.summary.split([' ', ',']).next().unwrap_or_default();
        request.summary = format!("{verb}, as you changed it");
        request.reason = CHECKED_AGAIN.to_owned();
        let command = arguments.get("command").and_then(Value::as_str).map(str::to_owned);
        request.command = request.command.take().and(command);
        (request.args, request.diff) = (arguments, diff);
        (request.session_rule, request.always_rule, request.always_file) = (None, None, None);
        self.revised = true;
    }

    /// How the sandbox holds it once it is allowed, or that it runs elsewhere, in words; none for what runs nothing,
    /// and while nobody has looked at what the person made of it.
    pub fn held(&self) -> Option<&'static str> {
        let request = &self.request;
        if self.revised {
            return None;
        }
        let Some(sandboxed) = request.sandboxed else { return request.network.then_some(ELSEWHERE) };
        Some(match (sandboxed, request.network, request.opens) {
            (false, ..) => NO_SANDBOX,
            (true, false, false) => "sandboxed · writes here, no network",
            (true, true, false) => "sandboxed · with network",
            (true, false, true) => "sandboxed · opens more files",
            (true, true, true) => "sandboxed · with network, opens more files",
        })
    }

    /// Yes to what is shown.
    pub fn yes(&self) -> Decision {
        if self.revised { Decision::Edit { arguments: self.request.args.clone() } } else { Decision::Once }
    }

    /// What tells the session of a decision.
    pub fn decide(&self, decision: Decision) -> Command {
        Command::Approve { call_id: self.request.call_id.clone(), decision }
    }

    /// Whether a change of it is too long for anybody to have seen it where it is asked about.
    pub fn is_summed_up(&self) -> bool {
        self.request.diff.iter().any(is_summed_up)
    }

    /// The answers in the order in which they are offered: yes is the first and no the last, and what is offered for
    /// several calls at once takes no number from the others.
    pub fn answers(&self, asks: Offered<'_>) -> Vec<CallAnswer> {
        let request = &self.request;
        let answer = |means: Means, words: String, short: &'static str| CallAnswer {
            means,
            words,
            about: String::new(),
            saved: String::new(),
            short,
        };
        let yes = match (self.revised, request.risk >= Risk::Critical) {
            (true, _) => "Yes, as you changed it",
            (false, true) => "Yes, this once",
            (false, false) => "Yes",
        };
        let mut answers = vec![answer(Means::Yes, yes.to_owned(), "yes")];
        if asks.covered > 0 {
            let words = format!("Yes to this and the {} marked +", asks.covered);
            answers.push(answer(Means::YesToNamed, words, "yes to all +"));
        }
        if let Some(rule) = request.session_rule.as_ref().filter(|_| asks.rules) {
            answers.push(match asks.accepts_edits {
                true => CallAnswer {
                    about: "Shift-Tab goes back".to_owned(),
                    ..answer(Means::AcceptEdits, "Yes, and accept edits from now on".to_owned(), "accept edits")
                },
                false => {
                    let only = asks.only.map(|only| format!(", {only} only")).unwrap_or_default();
                    let words = format!("Yes, for this session{only}");
                    let session = answer(Means::Rule(Rule::Session), words, "session");
                    CallAnswer { about: self.in_short(rule), ..session }
                }
            });
        }
        if let Some(rule) = request.always_rule.as_ref().filter(|_| asks.rules) {
            let always = answer(Means::Rule(Rule::Always), "Yes, always".to_owned(), "always");
            answers.push(CallAnswer { about: self.in_short(rule), saved: self.saved(), ..always });
        }
        answers.push(answer(Means::Edit, "Change it first, in the editor".to_owned(), "change"));
        if asks.open > 0 {
            answers.push(answer(Means::NoToAll, format!("No to all {}", asks.open + 1), "no to all"));
        }
        let no = match asks.who {
            Some(who) => format!("No, and tell {who} what to do instead"),
            None => "No, and say what to do instead".to_owned(),
        };
        answers.push(answer(Means::No, no, "no"));
        answers
    }

    /// Where "always" saves its rule, in words that follow the rule; nothing where that is not known.
    pub fn saved(&self) -> String {
        let file = self.request.always_file.as_deref().map(visible_line);
        file.map(|file| format!(" (saved in {file})")).unwrap_or_default()
    }

    /// A rule that does not repeat a long command: it is shown above.
    pub fn in_short(&self, rule: &str) -> String {
        let rule = visible_line(rule);
        let command = self.request.command.as_deref().map(visible_line).unwrap_or_default();
        if command.chars().count() < SHORT_COMMAND {
            return rule;
        }
        rule.replace(&format!("`{command}`"), "this command")
    }
}

/// Whether a change is too long to be shown: it says only how much it is.
pub fn is_summed_up(file: &Diff) -> bool {
    !file.deleted && file.added + file.removed > 0 && !file.unified.lines().any(|line| line.starts_with("@@ "))
}

/// A rule that can be made of a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It holds until the session ends.
    Session,
    /// It is kept.
    Always,
}

impl Rule {
    /// The letter that asks for it.
    pub fn letter(self) -> char {
        match self {
            Self::Session => 's',
            Self::Always => 'a',
        }
    }
}

/// What an answer to a call comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Yes, this once.
    Yes,
    /// Yes to this one and to those that are named with `+`.
    YesToNamed,
    /// Yes, and edits are accepted from now on.
    AcceptEdits,
    /// Yes, with a rule.
    Rule(Rule),
    /// The person changes it first.
    Edit,
    /// No to everything that waits.
    NoToAll,
    /// No, and why.
    No,
}

impl Means {
    /// The letter that means it.
    pub fn letter(self) -> char {
        match self {
            Self::Yes => 'y',
            Self::YesToNamed => 'Y',
            Self::AcceptEdits => Rule::Session.letter(),
            Self::Rule(rule) => rule.letter(),
            Self::Edit => 'e',
            Self::NoToAll => 'N',
            Self::No => 'n',
        }
    }

    /// How long it holds, where that is longer than the call: it waits for Enter however it is asked for.
    pub fn rule(self) -> Option<Rule> {
        match self {
            Self::AcceptEdits => Some(Rule::Session),
            Self::Rule(rule) => Some(rule),
            Self::Yes | Self::YesToNamed | Self::Edit | Self::NoToAll | Self::No => None,
        }
    }

    /// Whether it has a number. What is said of several calls at once has its letter alone, so that the numbers of the
    /// other answers do not depend on what else waits.
    pub fn is_numbered(self) -> bool {
        match self {
            Self::YesToNamed | Self::NoToAll => false,
            Self::Yes | Self::AcceptEdits | Self::Rule(_) | Self::Edit | Self::No => true,
        }
    }
}

/// An answer to a call that can be given now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallAnswer {
    /// What it comes to.
    pub means: Means,
    /// What it says.
    pub words: String,
    /// More about it, such as the rule that would be made.
    pub about: String,
    /// Where that rule is saved, in words that follow it.
    pub saved: String,
    /// The same in a word or two.
    pub short: &'static str,
}

/// What the answers to a call depend on besides the call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offered<'a> {
    /// Who asks, when that is not the root.
    pub who: Option<&'a str>,
    /// For whom alone a rule for this session holds, where there are other agents.
    pub only: Option<&'a str>,
    /// How many other calls one yes can cover.
    pub covered: usize,
    /// How many other calls nobody has said anything of.
    pub open: usize,
    /// Whether rules can be made of it.
    pub rules: bool,
    /// Whether yes for this session is to accept edits.
    pub accepts_edits: bool,
}

/// An answer to a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanAnswer {
    /// The key that gives it where keys do.
    pub key: char,
    /// What stands beside that key.
    pub label: &'static str,
    /// What it is called in a list of answers; none where the list does not have it.
    pub listed: Option<&'static str>,
    /// What is said once it was given.
    pub said: &'static str,
    /// What comes of it.
    pub means: PlanMeans,
}

impl PlanAnswer {
    /// Whether less is asked from then on: that waits for Enter.
    pub fn asks_less(&self) -> bool {
        matches!(self.means, PlanMeans::Send(Reply::AcceptPlan { approval: Some(_), .. }))
    }
}

/// What comes of an answer to a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanMeans {
    /// It is sent.
    Send(Reply),
    /// The person says first what should be different.
    Revise,
    /// The person changes the plan themselves, and what they made of it is carried out.
    Edit,
}

/// The answers to a plan, in the order in which they are offered.
pub const PLAN_ANSWERS: &[PlanAnswer] = &[
    accepts(None, 'y', "carry it out", Some("Yes, asking as before"), "accepted"),
    accepts(
        Some(ApprovalMode::AcceptEdits),
        's',
        "… accepting edits",
        Some("Yes, accept edits, ask before commands"),
        "accepted, approval accept_edits",
    ),
    accepts(Some(ApprovalMode::Auto), 'u', "Yes, with approval auto", None, "accepted, approval auto"),
    accepts(Some(ApprovalMode::AskFirst), 'f', "Yes, with approval ask_first", None, "accepted, approval ask_first"),
    accepts(Some(ApprovalMode::Manual), 'm', "Yes, with approval manual", None, "accepted, approval manual"),
    PlanAnswer {
        key: 'r',
        label: "send it back",
        listed: Some("Change the plan: say what should be different"),
        said: "send it back",
        means: PlanMeans::Revise,
    },
    PlanAnswer {
        key: 'e',
        label: "edit it",
        listed: Some("Edit the plan in the editor, then carry it out"),
        said: "edit it",
        means: PlanMeans::Edit,
    },
    PlanAnswer {
        key: 'n',
        label: "drop it",
        listed: Some("No, stay in plan mode"),
        said: "dropped",
        means: PlanMeans::Send(Reply::DropPlan),
    },
];

/// What was said to a plan that is carried out; none for every other answer.
pub fn accepted_plan(reply: &Reply) -> Option<String> {
    Some(match reply {
        Reply::AcceptPlan { approval: None, .. } => "Yes".to_owned(),
        Reply::AcceptPlan { approval: Some(ApprovalMode::AcceptEdits), .. } => {
            "Yes, accept edits, ask before commands".to_owned()
        }
        Reply::AcceptPlan { approval: Some(approval), .. } => format!("Yes, approval {approval}"),
        Reply::AcceptChangedPlan { .. } => "Yes, as you changed it".to_owned(),
        Reply::Choices { .. } | Reply::RevisePlan { .. } | Reply::DropPlan | Reply::GoOn { .. } | Reply::Dismiss => {
            return None;
        }
    })
}

const fn accepts(
    approval: Option<ApprovalMode>,
    key: char,
    label: &'static str,
    listed: Option<&'static str>,
    said: &'static str,
) -> PlanAnswer {
    let means = PlanMeans::Send(Reply::AcceptPlan { approval, comments: None });
    PlanAnswer { key, label, listed, said, means }
}

#[cfg(test)]
mod tests {
    use neco_proto::{CallId, ToolOrigin};
    use serde_json::json;

    use super::*;

    fn approval() -> Approval {
        Approval::new(PermissionRequest {
            call_id: CallId::from("1"),
            origin: ToolOrigin::BuiltIn,
            tool: "bash".into(),
            summary: "Run make".into(),
            args: json!({ "command": "make" }),
            command: Some("make".into()),
            risk: Risk::High,
            reason: String::new(),
            diff: Vec::new(),
            sandboxed: None,
            network: false,
            opens: false,
            ahead: Vec::new(),
            always_rule: Some("run `make`, always".into()),
            always_file: Some("~/always.toml".into()),
            session_rule: Some("run `make`".into()),
        })
    }

    #[test]
    fn what_else_waits_moves_no_number_and_no_is_the_last() {
        let numbered = |offered: Offered<'_>| -> Vec<Means> {
            let answers = approval().answers(offered);
            assert_eq!(answers.last().map(|answer| answer.means), Some(Means::No));
            answers.iter().map(|answer| answer.means).filter(|means| means.is_numbered()).collect()
        };
        let alone = Offered { rules: true, ..Offered::default() };
        let expected = [Means::Yes, Means::Rule(Rule::Session), Means::Rule(Rule::Always), Means::Edit, Means::No];
        assert_eq!(numbered(alone), expected);
        assert_eq!(numbered(Offered { covered: 2, open: 3, who: Some("coder-1"), ..alone }), expected);
        assert_eq!(numbered(Offered::default()), [Means::Yes, Means::Edit, Means::No]);
    }

    #[test]
    fn a_rule_for_this_session_says_for_whom_it_holds_where_there_are_others() {
        let words = |only| {
            let answers = approval().answers(Offered { rules: true, only, ..Offered::default() });
            let session = answers.into_iter().find(|answer| answer.means == Means::Rule(Rule::Session));
            session.map(|answer| answer.words).unwrap_or_default()
        };
        assert_eq!(words(None), "Yes, for this session");
        assert_eq!(words(Some("coder-1")), "Yes, for this session, coder-1 only");
    }

    #[test]
    fn a_letter_means_the_same_of_a_call_and_of_a_plan() {
        let of_plan = |key: char| PLAN_ANSWERS.iter().find(|answer| answer.key == key).map(|answer| &answer.means);
        let accepts = |approval| PlanMeans::Send(Reply::AcceptPlan { approval, comments: None });
        assert_eq!(of_plan(Means::Yes.letter()), Some(&accepts(None)));
        assert_eq!(of_plan(Means::AcceptEdits.letter()), Some(&accepts(Some(ApprovalMode::AcceptEdits))));
        assert_eq!(of_plan(Means::Edit.letter()), Some(&PlanMeans::Edit));
        assert_eq!(of_plan(Means::No.letter()), Some(&PlanMeans::Send(Reply::DropPlan)));
        assert_eq!(of_plan(Rule::Always.letter()), None, "no plan makes a rule that is kept");
    }

    #[test]
    fn what_holds_for_longer_says_so_and_a_change_without_lines_is_summed_up() {
        let rules = [Means::Yes, Means::AcceptEdits, Means::Rule(Rule::Always), Means::No].map(Means::rule);
        assert_eq!(rules, [None, Some(Rule::Session), Some(Rule::Always), None]);
        let asks_less: Vec<char> =
            PLAN_ANSWERS.iter().filter(|answer| answer.asks_less()).map(|answer| answer.key).collect();
        assert_eq!(asks_less, ['s', 'u', 'f', 'm']);
        let mut approval = approval();
        assert!(!approval.is_summed_up());
        for (unified, is_summed_up) in [("@@ -0,0 +1 @@\n+a\n", false), ("(too long to show)\n", true)] {
            let file =
                Diff { path: "a".into(), unified: unified.into(), added: 1, removed: 0, created: true, deleted: false };
            approval.request.diff = vec![file];
            assert_eq!(approval.is_summed_up(), is_summed_up, "{unified}");
        }
    }
}
