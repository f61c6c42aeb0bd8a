//! How an agent works and how freely: modes, approval modes, risks, what rules say of calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes an enum whose values have names, the same in files, flags and events.
macro_rules! names {
    ($(#[$meta:meta])* pub enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)+
        }

        impl $type {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name used in files, flags and events.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The one of a name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use names;

names! {
    /// What kind of work the agent is here for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum Mode {
        /// All tools.
        #[default]
        Agent = "agent",
        /// Looks and thinks, changes nothing: files are read, and commands that are known to only look are run.
        Plan = "plan",
        /// Questions only: no tool that writes or runs exists for the model.
        Ask = "ask",
        /// All tools, and a fault is reproduced first, then explained, then mended, then proved to be gone.
        Debug = "debug",
    }
}

names! {
    /// When the person is asked; those that ask less come before those that ask more.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum ApprovalMode {
        /// Only for what is of high risk: rules call it `critical`.
        Auto = "auto",
        /// Before commands are run; files of the workspace are written unasked.
        AcceptEdits = "accept_edits",
        /// Before files are written and commands are run.
        #[default]
        AskFirst = "ask_first",
        /// Before everything that does more than read.
        Manual = "manual",
    }
}

names! {
    /// How much harm a call could do.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum Risk {
        /// It only reads.
        Safe = "safe",
        /// It changes something small that is easily undone.
        Low = "low",
        /// It writes files inside the workspace.
        Medium = "medium",
        /// It runs a command.
        High = "high",
        /// It touches secrets, deletes much, or leaves the box.
        Critical = "critical",
    }
}

names! {
    /// What is to be done with a call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum Ruling {
        /// It may run.
        Allow = "allow",
        /// A person decides.
        Ask = "ask",
        /// It may not run.
        Deny = "deny",
    }
}

names! {
    /// Who wrote a rule; later ones outrank earlier ones.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum RuleSource {
        /// Compiled in.
        BuiltIn = "built-in",
        /// The user's policy files and settings.
        User = "user",
        /// The project's policy files: they narrow what the user's rules say and never widen it.
        Project = "project",
        /// Flags of this run.
        CommandLine = "command line",
        /// What a person answered in this run.
        Session = "session",
    }
}
