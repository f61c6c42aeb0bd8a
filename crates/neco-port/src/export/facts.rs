//! What both kinds of readers are told in the same words: the heading, its facts, answers.

use neco_proto::{ItemAnswer, Reply};

use super::{About, Outline, figures};

/// The title of the document.
pub(super) fn title(about: &About, outline: &Outline) -> String {
    let first = outline.asked.first().map(|asked| asked.text.as_str());
    let known = [outline.title.as_deref(), Some(about.title.as_str()), first];
    let said = known.into_iter().flatten().map(str::trim).find(|title| !title.is_empty());
    said.unwrap_or("A session with Neco").to_owned()
}

/// What the session is and what it used.
pub(super) fn facts(about: &About, outline: &Outline) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let (Some(began), Some(ended)) = (outline.began, outline.ended) {
        let (from, until) = (figures::minute(began), figures::minute(ended));
        // The day is said once.
        let until = match (from == until, from.split_once(' '), until.split_once(' ')) {
            (true, _, _) => String::new(),
            (false, Some((day, _)), Some((same, time))) if day == same => format!(" – {time}"),
            (false, _, _) => format!(" – {until}"),
        };
        facts.push(("When", format!("{from}{until} UTC")));
    }
    facts.push(("Folder", about.cwd.clone()));
    let models: Vec<&str> = outline.models.iter().map(|(model, _)| model.as_str()).collect();
    if !models.is_empty() {
        facts.push(("Model", models.join(", ")));
    }
    facts.push(("Work", work(outline)));
    let used: Vec<String> = figures::used(&outline.usage).into_iter().chain(figures::cost(&outline.usage)).collect();
    if !used.is_empty() {
        facts.push(("Used", used.join(" · ")));
    }
    facts.push(("Session", about.id.to_string()));
    facts
}

fn work(outline: &Outline) -> String {
    let mut work = vec![figures::count(outline.asked.len() as u64, "message")];
    work.push(match outline.failed_calls {
        0 => figures::count(outline.calls, "call"),
        failed => format!("{} ({failed} failed)", figures::count(outline.calls, "call")),
    });
    if outline.worked_ms > 0 {
        work.push(format!("{} of work", figures::duration(outline.worked_ms)));
    }
    work.join(" · ")
}

/// An answer of the person, in words.
pub(super) fn answered(reply: Option<&Reply>) -> String {
    let with = |words: &str, comments: Option<&String>| match comments {
        Some(comments) => format!("{words}: {comments}"),
        None => words.to_owned(),
    };
    match reply {
        None => "not answered".to_owned(),
        Some(Reply::Choices { answers }) => {
            let one =
                |answer: &ItemAnswer| answer.chosen.iter().chain(&answer.text).cloned().collect::<Vec<_>>().join(", ");
            answers.iter().map(one).collect::<Vec<_>>().join(" · ")
        }
        Some(Reply::AcceptPlan { comments, .. }) => with("carry it out", comments.as_ref()),
        Some(Reply::RevisePlan { comments }) => with("make it better", Some(comments)),
        Some(Reply::DropPlan) => "drop it".to_owned(),
        Some(Reply::GoOn { comments }) => with("go on", comments.as_ref()),
        Some(Reply::Dismiss) => "no answer".to_owned(),
    }
}
