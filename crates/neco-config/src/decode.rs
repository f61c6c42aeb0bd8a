//! Turns a tree into a [`Config`], or into one section of it; an error names the innermost place it happened at.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};

use crate::layer::{Node, Value};
use crate::notice::Notice;
use crate::origin::Origin;
use crate::section::Config;

/// Reads a whole configuration. What the check let through fits, so an error here is rare; still
/// it points at its place.
pub(crate) fn decode(root: &Node) -> Result<Config, Notice> {
    decode_section(root)
}

/// Reads one section by itself.
pub(crate) fn decode_section<'a, T: Deserialize<'a>>(node: &'a Node) -> Result<T, Notice> {
    T::deserialize(node).map_err(|error| {
        Notice::about(error.origin.as_ref().unwrap_or(&node.origin), crate::trail::visible(&error.message))
    })
}

/// What did not fit, and where.
#[derive(Debug)]
pub(crate) struct Misfit {
    message: String,
    origin: Option<Origin>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), origin: None }
    }
}

impl<'de> IntoDeserializer<'de, Misfit> for &'de Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let result = match &self.value {
            Value::Table(entries) => {
                let mut entries: Vec<(&str, &Node)> =
                    entries.iter().map(|(name, node)| (name.as_str(), &**node)).collect();
                // As they are written: the order of a schema's properties means something.
                entries.sort_by_key(|(_, node)| node.name_origin.position);
                visitor.visit_map(MapDeserializer::new(entries.into_iter()))
            }
            Value::List(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Value::Text(text) | Value::Date(text) => visitor.visit_borrowed_str(text),
            Value::Whole(number) => visitor.visit_i64(*number),
            Value::Number(number) => visitor.visit_f64(*number),
            Value::Switch(switch) => visitor.visit_bool(*switch),
        };
        result.map_err(|misfit| self.placed(misfit))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let result = match &self.value {
            Value::Table(entries) => {
                let entries = entries.iter().map(|(name, node)| (name.as_str(), &**node));
                visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(entries)))
            }
            Value::Text(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            Value::List(_) | Value::Whole(_) | Value::Number(_) | Value::Switch(_) | Value::Date(_) => {
                Err(de::Error::custom("expected a string or a table"))
            }
        };
        result.map_err(|misfit: Misfit| self.placed(misfit))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl Node {
    fn placed(&self, misfit: Misfit) -> Misfit {
        Misfit { origin: misfit.origin.or_else(|| Some(self.origin.clone())), ..misfit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::parse;
    use crate::origin::{Layer, Source};

    fn read(text: &str) -> Result<Config, String> {
        let origin = Origin::new(Layer::User, Source::File { path: "/c".into(), shown: "c".into() });
        decode(&parse(text, &origin).unwrap()).map_err(|notice| notice.to_string())
    }

    #[test]
    fn a_tree_becomes_a_configuration() {
        let config = read(
            "model = 'a/b'\nmode = 'ask'\n[network]\nbackoff = 1\n[model_providers.x]\ntype = 'scripted'\nheaders.h = 'v'",
        );
        let config = config.unwrap();
        assert_eq!(config.model.as_deref(), Some("a/b"));
        assert_eq!(config.mode, neco_proto::Mode::Ask);
        assert_eq!(config.network.backoff, 1.0);
        let provider = &config.model_providers["x"];
        assert_eq!(provider.kind, Some(crate::section::ProviderType::Scripted));
        assert_eq!(provider.headers["h"], "v");
    }

    #[test]
    fn a_misfit_names_its_innermost_place() {
        for (text, place) in [
            ("[agent]\nmax_turns = -1", "c:2:13: "),
            ("tools.only = ['a', 1]", "c:1:20: "),
            ("mode = 'dance'", "c:1:8: "),
            ("mode = 1", "c:1:8: "),
            ("[model_providers]\nx = 1", "c:2:5: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(place), "{error}");
        }
    }
}
