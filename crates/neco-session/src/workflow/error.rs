//! What is wrong with a workflow, before anything runs: all of it at once, as far as that can be told.

/// What is wrong with a workflow; each names the tasks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum WorkflowError {
    /// The file can't be read as a workflow.
    #[error("the workflow can't be read: {0}")]
    Unreadable(String),
    /// There is nothing to do.
    #[error("the workflow has no tasks")]
    Empty,
    /// A name that templates could not use.
    #[error("{0:?} is no name for a task: use letters, digits and _, and begin with a letter")]
    BadName(String),
    /// Two tasks of one name.
    #[error("two tasks are named {0}")]
    Twice(String),
    /// A task that is none of the three, or more than one.
    #[error("task {task} must have exactly one of agent, tool and command{}", given(.found))]
    Work { task: String, found: Vec<&'static str> },
    /// An agent that is asked nothing.
    #[error("task {0} is an agent and has no prompt")]
    NoPrompt(String),
    /// A seconds or retries that are none.
    #[error("{what} of {whose} must be a number of seconds above 0")]
    BadTime { whose: String, what: &'static str },
    /// An agent that does not exist.
    #[error("task {task}: {words}")]
    UnknownName { task: String, words: String },
    /// There is no workflow of a name.
    #[error("there is no workflow {name}{}", known_words(.known))]
    Unknown { name: String, known: Vec<String> },
    /// It is in a state in which that can't be done.
    #[error("{0}")]
    NotNow(String),
    /// A dependency on nothing.
    #[error("task {task} needs {missing}, which is no task{}", near(.similar))]
    UnknownDependency { task: String, missing: String, similar: Option<String> },
    /// Tasks that wait for each other.
    #[error("these tasks wait for each other: {}", .0.join(" → "))]
    Cycle(Vec<String>),
    /// A template that can't be read.
    #[error("the {part} of task {task} can't be read: {reason}")]
    BadTemplate { task: String, part: &'static str, reason: String },
    /// A template reads what is not there.
    #[error("the {part} of task {task} reads {name}, {why}")]
    MissingInput { task: String, part: &'static str, name: String, why: String },
    /// An input without a value.
    #[error("the workflow needs a value for {0}, written {0}=VALUE")]
    NoValue(String),
    /// A value that nobody asked for.
    #[error("the workflow has no input {0}")]
    UnknownInput(String),
    /// A limit that lets nothing run.
    #[error("the limit {0} is 0, so nothing could run")]
    ZeroLimit(&'static str),
    /// More than one thing.
    #[error("{}", lines(.0))]
    Several(Vec<WorkflowError>),
}

impl WorkflowError {
    /// All of these as one; nothing when there are none.
    pub fn none_of(mut problems: Vec<Self>) -> Result<(), Self> {
        match problems.len() {
            0 => Ok(()),
            1 => problems.pop().map_or(Ok(()), Err),
            _ => Err(Self::Several(problems)),
        }
    }

    /// Each for itself.
    pub fn each(self) -> Vec<Self> {
        match self {
            Self::Several(problems) => problems.into_iter().flat_map(Self::each).collect(),
            one => vec![one],
        }
    }
}

fn lines(problems: &[WorkflowError]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn given(found: &[&str]) -> String {
    if found.is_empty() { String::new() } else { format!(", and it has {}", found.join(" and ")) }
}

fn near(similar: &Option<String>) -> String {
    similar.as_ref().map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

fn known_words(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; there are: {}", known.join(", ")) }
}
