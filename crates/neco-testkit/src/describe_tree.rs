//! Agents of the tree, their letters and the tasks of workflows as short words.

use neco_proto::event::{AgentNode, Down, Letter, NodeResult, Up, WorkflowTask};

/// What a letter is.
pub fn letter(letter: &Letter) -> &'static str {
    match letter {
        Letter::Up(Up::Report { .. }) => "report",
        Letter::Up(Up::Question { .. }) => "question",
        Letter::Up(Up::Ended { result: NodeResult::Output { .. } }) => "completed",
        Letter::Up(Up::Ended { result: NodeResult::Error { .. } }) => "error",
        Letter::Up(Up::Stopped { .. }) => "stopped",
        Letter::Down(Down::Task { .. }) => "task",
        Letter::Down(Down::Redirect { .. }) => "redirect",
        Letter::Down(Down::Answer { .. }) => "answer",
    }
}

/// What a letter says.
pub fn letter_text(letter: &Letter) -> String {
    match letter {
        Letter::Up(Up::Report { progress, message }) => format!("{progress} {message}"),
        Letter::Up(Up::Question { text }) => text.clone(),
        Letter::Up(Up::Ended { result }) => result_text(result),
        Letter::Up(Up::Stopped { why }) => why.clone(),
        Letter::Down(Down::Task { text } | Down::Redirect { text } | Down::Answer { text }) => text.clone(),
    }
}

/// What a node was asked, said and gave.
pub fn node_text(node: &AgentNode) -> String {
    let said = node.last_message.clone().into_iter();
    let result = node.result.iter().map(result_text);
    std::iter::once(node.task.clone()).chain(said).chain(result).collect::<Vec<_>>().join("\n")
}

/// Tasks, one a line.
pub fn task_lines(tasks: &[WorkflowTask]) -> String {
    let line = |task: &WorkflowTask| {
        let error = task.error.as_ref().map(|error| format!(" {error}")).unwrap_or_default();
        format!("{} {}{error}", task.id, task.state)
    };
    tasks.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn result_text(result: &NodeResult) -> String {
    match result {
        NodeResult::Output { output } => match output.as_str() {
            Some(text) => text.to_owned(),
            None => output.to_string(),
        },
        NodeResult::Error { message, .. } => message.clone(),
    }
}
