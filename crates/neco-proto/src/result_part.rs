//! What a call gave that is more than text.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A piece of what a call gave that is more than text, for windows.
// The model gets what it reads as in the call's output, and a picture in the message that follows the results, where
// it sees such: so every vendor's wire can send it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ResultPart {
    /// A picture, which follows in a message.
    Picture {
        /// Where it is from.
        source: String,
        /// Such as `image/png`.
        media_type: String,
    },
    /// Something that can be had at an address.
    Link {
        /// The address.
        uri: String,
        /// What it is called.
        name: String,
        /// What it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Such as `text/csv`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
    /// Something that has an address, with its content.
    Resource {
        /// The address.
        uri: String,
        /// Such as `text/csv`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
        /// The content, if it is text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Its bytes in base64, if it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
    /// Structured data.
    Data {
        /// The data.
        value: Value,
    },
}

impl ResultPart {
    /// Changes every text of it, such as to take secrets out. What is in base64 stays as it is.
    pub fn each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Picture { source, media_type: _ } => change(source),
            Self::Link { uri, name, description, media_type: _ } => {
                [uri, name].into_iter().chain(description).for_each(change);
            }
            Self::Resource { uri, text, media_type: _, data: _ } => {
                std::iter::once(uri).chain(text).for_each(change);
            }
            Self::Data { value } => each_text_in(value, change),
        }
    }
}

fn each_text_in(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_text_in(value, change)),
        Value::Object(fields) => fields.values_mut().for_each(|value| each_text_in(value, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl fmt::Display for ResultPart {
    /// What the model reads in its place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Picture { source, media_type } => write!(f, "[a picture: {source}, {media_type}]"),
            Self::Link { uri, name, description, media_type } => {
                write!(f, "[{name}: {uri}")?;
                [media_type, description].into_iter().flatten().try_for_each(|more| write!(f, ", {more}"))?;
                f.write_str("]")
            }
            Self::Resource { uri, text: Some(text), .. } => write!(f, "[{uri}]\n{text}"),
            Self::Resource { uri, media_type, .. } => {
                write!(f, "[{uri}: {}, no text]", media_type.as_deref().unwrap_or("unknown"))
            }
            Self::Data { value } => value.fmt(f),
        }
    }
}
