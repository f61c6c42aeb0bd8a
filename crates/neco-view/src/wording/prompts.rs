//! What `/init` and `/review` say to the agent.

/// Lets the agent write AGENTS.md; `more` is what the person added.
pub fn init(more: &str) -> String {
    let text = "Look at this project and write AGENTS.md at its top: what somebody who works on it for the first time \
                has to know and can't see at a glance. How to build, test, lint and run it (one test too), how it is \
                laid out, the conventions that the code keeps, and what must not be done. Check every command that you \
                write down by running it, unless that does harm. Short: at most 60 lines, no general advice, nothing \
                that is obvious from the names of files. If AGENTS.md, CLAUDE.md, README or CONTRIBUTING exist, keep \
                what is true in them and do not repeat them.";
    with(text, more)
}

/// Lets the agent review changes; `what` is what the person wants reviewed, by default what is not committed.
pub fn review(what: &str) -> String {
    let subject = if what.is_empty() {
        "what is not committed here (git status, git diff HEAD, and new files)".to_owned()
    } else {
        format!("this: {what}")
    };
    format!(
        "Review {subject}. Change nothing. Read the code around each change before you judge it. Report defects first, \
         the worst first: what is wrong, where (file and line), when it shows, and how to fix it. Only what you are \
         sure of, or say how sure. Then, apart and short, what could be simpler. Say so plainly if nothing is wrong."
    )
}

fn with(text: &str, more: &str) -> String {
    if more.is_empty() { text.to_owned() } else { format!("{text}\n\nAlso: {more}") }
}
