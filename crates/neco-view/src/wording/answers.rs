//! What a person decided or answered, in a few words.

use neco_proto::clean::clean_line;
use neco_proto::{Decision, ItemAnswer, Reply};

/// `allowed once`, `rejected: keep main`.
pub fn decision(decision: &Decision) -> String {
    match decision {
        Decision::Once => "allowed once".to_owned(),
        Decision::Session => "allowed for the session".to_owned(),
        Decision::Always => "always allowed".to_owned(),
        Decision::Edit { .. } => "allowed as changed".to_owned(),
        Decision::Reject { reason: None } => "rejected".to_owned(),
        Decision::Reject { reason: Some(reason) } => format!("rejected: {reason}"),
    }
}

/// `PostgreSQL, with a pool · 17`, `accepted: begin with the tests`.
pub fn reply(reply: Option<&Reply>) -> String {
    let with = |words: &str, comments: Option<&String>| match comments {
        Some(comments) => format!("{words}: {}", clean_line(comments)),
        None => words.to_owned(),
    };
    match reply {
        Some(Reply::Choices { answers }) => {
            let said = |answer: &ItemAnswer| {
                let said: Vec<&str> = answer.chosen.iter().chain(&answer.text).map(String::as_str).collect();
                if said.is_empty() { "(no answer)".to_owned() } else { clean_line(&said.join(", ")) }
            };
            answers.iter().map(said).collect::<Vec<_>>().join(" · ")
        }
        Some(Reply::AcceptPlan { comments, .. }) => with("accepted", comments.as_ref()),
        Some(Reply::AcceptChangedPlan { .. }) => "accepted".to_owned(),
        Some(Reply::RevisePlan { comments }) => with("changes requested", Some(comments)),
        Some(Reply::DropPlan) => "dropped".to_owned(),
        Some(Reply::GoOn { comments }) => with("go on", comments.as_ref()),
        Some(Reply::Dismiss) => "no answer".to_owned(),
        None => "(the work ended before there was an answer)".to_owned(),
    }
}
