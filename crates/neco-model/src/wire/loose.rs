//! A JSON value of which servers disagree what type it has; text is borrowed where it can be.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// No call has more tokens: a number above it is nonsense, and counts as none.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Any JSON value. Asked for as something it is not, it counts as absent.
#[derive(Default)]
pub(super) enum Loose<'a> {
    /// `null`, absent, or of no use.
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Number(u64),
    Structure(Value),
}

impl Loose<'_> {
    /// The text; empty when it is none.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Nothing | Self::Number(_) | Self::Structure(_) => "",
        }
    }

    /// The whole number, also when it is written as text.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => {
                let text = text.trim();
                text.parse().ok().or_else(|| whole(text.parse().ok()?))
            }
            Self::Nothing | Self::Structure(_) => None,
        }
    }

    /// A count of tokens; nothing when it is none that a call can have.
    pub(super) fn tokens(&self) -> Option<u64> {
        self.number().filter(|tokens| *tokens <= MOST_TOKENS)
    }

    /// JSON as text: the text itself, or a structure written out.
    pub(super) fn json_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Structure(value) => Cow::Owned(value.to_string()),
            Self::Nothing | Self::Number(_) => Cow::Borrowed(""),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

/// For fields in which `null` is the same as absent.
pub(super) fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// For parts that only some messages have in this form: in any other form they count as absent.
pub(super) fn or_ignored<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    let raw: Option<&'de RawValue> = Option::deserialize(from)?;
    Ok(raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default())
}

/// A whole number that a server wrote with a fraction; the cast saturates.
fn whole(number: f64) -> Option<u64> {
    (number >= 0.0).then_some(number as u64)
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Loose::Nothing)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Loose::Nothing)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Loose::Number(number))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Loose::Nothing)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(whole(number).map_or(Loose::Nothing, Loose::Number))
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(seq)).map(Loose::Structure)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(map)).map(Loose::Structure)
    }
}
