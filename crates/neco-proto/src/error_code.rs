//! The stable error codes, as one table: number, name, whether trying again can help, what the
//! model is told and what the person is told.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

macro_rules! error_codes {
    ($($number:literal $variant:ident $retry:ident, $model:literal, $user:literal;)+) => {
        /// A stable code of something that went wrong; serialised as its number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum ErrorCode {
            $(#[doc = $user] $variant = $number,)+
        }

        impl ErrorCode {
            /// Every code, in order of number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code of a number.
            #[must_use]
            pub fn from_number(number: u16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Whether the same thing can succeed when it is tried again unchanged.
            #[must_use]
            pub fn retryable(self) -> bool {
                match self { $(Self::$variant => error_codes!(@$retry),)+ }
            }

            /// What the model is told, besides the particulars of the case.
            #[must_use]
            pub fn for_model(self) -> &'static str {
                match self { $(Self::$variant => $model,)+ }
            }

            /// What the person is told, besides the particulars of the case.
            #[must_use]
            pub fn for_user(self) -> &'static str {
                match self { $(Self::$variant => $user,)+ }
            }
        }
    };
    (@again) => { true };
    (@final) => { false };
}

error_codes! {
    1001 ToolNotFound final, "There is no such tool. Use one of the declared tools.", "the model called a tool that does not exist";
    1002 InvalidArguments final, "Correct the arguments and call again.", "the model called a tool with arguments that do not fit";
    1003 BlockedByPolicy final, "The policy does not allow this call. Do not try to reach the same effect another way; go on without it or say what you would need.", "the policy does not allow this call";
    1004 ToolTimedOut again, "The tool took too long and was stopped.", "a tool took too long and was stopped";
    1005 ToolFailed final, "The tool failed.", "a tool failed";
    1006 RejectedByUser final, "The user rejected this call. Do not repeat it unchanged; follow what the user said.", "you rejected this call";
    1007 ServerNotFound final, "There is no such MCP server. Use one of the declared tools.", "there is no such MCP server";
    1008 ServerDisabled final, "This MCP server is switched off. Go on without it.", "an MCP server is switched off";
    1009 ServerUnreachable again, "The MCP server can't be reached. Go on without it, or say what you would need.", "an MCP server can't be reached";
    1010 Interrupted final, "Neco stopped while this call was running: it may have done all, some or none of its work. Check before you repeat it.", "Neco stopped while a tool call was running; the call may have done all, some or none of its work";
    2001 FileNotFound final, "There is no such file.", "a file does not exist";
    2002 PathOutsideWorkspace final, "The path lies outside the workspace. Work inside it.", "a path lies outside the workspace";
    2003 FileTooLarge final, "The file is too large for this. Work on a part of it.", "a file is too large";
    2004 EditTextNotUnique final, "The text to replace occurs more than once. Give more of its surroundings, or set replace_all.", "the text to replace occurs more than once";
    2005 EditTextNotFound final, "The text to replace was not found. Read the file again and copy the text exactly.", "the text to replace was not found";
    2006 FileChanged final, "The file changed since you read it. Read it again before you change it.", "a file was changed by someone else since it was read";
    2007 NotATextFile final, "This is not a text file.", "a file is not text";
    3001 CommandBlocked final, "This command is not allowed. Do not try to reach the same effect another way.", "a command is not allowed";
    3002 CommandTimedOut again, "The command took too long and was killed. Give it a longer timeout, or run it in the background.", "a command took too long and was killed";
    3003 SandboxDenied final, "The sandbox did not allow this. Say what you need it for, so that the user can allow it.", "the sandbox stopped a command";
    4001 ModelTimedOut again, "The model did not answer in time.", "the model did not answer in time";
    4002 RateLimited again, "The model's rate limit was reached.", "the model's rate limit was reached";
    4003 NotAuthorised final, "The model's key was not accepted.", "the model's key was not accepted";
    4004 ContextTooLong final, "The conversation is too long for the model.", "the conversation is too long for the model";
    4005 ProviderUnavailable again, "The model can't be reached.", "the model can't be reached";
    4006 BudgetUsedUp final, "The budget is used up.", "the budget or the credit at the vendor is used up";
    4007 EmptyAnswer again, "The model answered nothing.", "the model answered nothing; try another model";
    4008 AnswerRefused final, "The model or its vendor's filter declined to answer.", "the model or its vendor's filter declined to answer; say it in other words, or set another model";
    4009 BrokenCall again, "The model wrote a call that can't be read.", "the model wrote a call that can't be read; try again, or set another model";
    4010 AnswerTooLong final, "The model's answer is longer than an answer may be.", "the model's answer is longer than an answer may be; set another model";
    4011 RequestRefused final, "The model's server refused the request.", "the model's server refused the request, or does not have the model";
    5001 IterationLimit final, "The limit of turns was reached.", "the limit of turns was reached";
    5002 LoopDetected final, "You are repeating yourself. Change your approach or ask the user.", "the model was repeating itself";
    6001 StoreFailed again, "The session could not be written.", "the session could not be written";
    6002 SessionInUse again, "The session is in use.", "the session is in use by another process";
    6003 ServerEnding again, "The server is about to end.", "the server is about to end, or another one takes its place";
}

impl ErrorCode {
    /// The number, such as 2005.
    #[must_use]
    pub fn number(self) -> u16 {
        self as u16
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u16(self.number())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u16::deserialize(deserializer)?;
        Self::from_number(number).ok_or_else(|| de::Error::custom(format!("unknown error code {number}")))
    }
}

impl JsonSchema for ErrorCode {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let numbers: Vec<u16> = Self::ALL.iter().map(|code| code.number()).collect();
        json_schema!({ "type": "integer", "enum": numbers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_unique_and_read_back() {
        assert!(ErrorCode::ALL.windows(2).all(|pair| pair[0].number() < pair[1].number()));
        for code in ErrorCode::ALL {
            let json = serde_json::to_string(code).unwrap();
            assert_eq!(json, code.number().to_string());
            assert_eq!(serde_json::from_str::<ErrorCode>(&json).unwrap(), *code);
        }
        assert!(serde_json::from_str::<ErrorCode>("1").is_err());
    }
}
