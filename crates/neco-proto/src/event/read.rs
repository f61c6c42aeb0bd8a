//! Reading events, also those of other versions: what is not known is kept as it is and passed over.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use serde::de::{DeserializeSeed, Error, IntoDeserializer as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, forward_to_deserialize_any};
use serde_json::{Map, Value};

use super::{Event, EventBody};
use crate::ids::{AgentId, Seq, SessionId, TurnId};

/// An event that this version can't read: its type is new, or a value in it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnknownEvent {
    /// The value of `type`.
    #[serde(rename = "type")]
    pub name: String,
    /// All other fields, in their order.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Event {
    /// Reads an event from its JSON, faster than by way of [`Deserialize`], which has to keep a copy.
    ///
    /// # Errors
    /// When the text is no event.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        match serde_json::from_str::<Read<true>>(text) {
            Ok(read) => Ok(read.0),
            Err(error) => serde_json::from_str::<Read<false>>(text).map(|read| read.0).map_err(|_| error),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Known(Read<true>),
            Unknown(Read<false>),
        }
        match Either::deserialize(deserializer)? {
            Either::Known(read) => Ok(read.0),
            Either::Unknown(read) => Ok(read.0),
        }
    }
}

impl<'de> Deserialize<'de> for EventBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let unknown = UnknownEvent::deserialize(deserializer)?;
        let known = Self::read(&unknown.name, Value::Object(unknown.fields.clone()));
        Ok(known.unwrap_or(Self::Unknown(unknown)))
    }
}

/// An event whose body is read as one of its type when `KNOWN`, and is kept as an unknown one otherwise.
struct Read<const KNOWN: bool>(Event);

impl<'de, const KNOWN: bool> Deserialize<'de> for Read<KNOWN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader::<KNOWN>)
    }
}

struct Reader<const KNOWN: bool>;

impl<'de, const KNOWN: bool> Visitor<'de> for Reader<KNOWN> {
    type Value = Read<KNOWN>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut head, mut early) = (Head::default(), Map::new());
        while let Some(Text(name)) = map.next_key()? {
            if name == "type" {
                let Text(name) = map.next_value()?;
                let mut fields =
                    Fields { head, early: early.into_iter(), map, known: None, value: None, more: Map::new() };
                let body = if KNOWN { EventBody::read(&name, &mut fields) } else { unknown(&name, &mut fields) }?;
                return fields.into_event(body).map(Read);
            }
            if !head.read(&name, &mut map)? {
                early.insert(name.into_owned(), map.next_value()?);
            }
        }
        Err(A::Error::missing_field("type"))
    }
}

/// Keeps a body as it stands.
pub(super) fn unknown<'de, D: Deserializer<'de>>(name: &str, fields: D) -> Result<EventBody, D::Error> {
    Ok(EventBody::Unknown(UnknownEvent { name: name.to_owned(), fields: Map::deserialize(fields)? }))
}

/// What every event has beside its body.
#[derive(Default)]
struct Head {
    seq: Option<Seq>,
    ts: Option<Timestamp>,
    session_id: Option<SessionId>,
    agent_id: Option<AgentId>,
    turn_id: Option<TurnId>,
    needs: Option<u32>,
}

impl Head {
    /// Reads the value of a field, and says whether it is one of these.
    fn read<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error> {
        match name {
            "seq" => self.seq = Some(map.next_value()?),
            "ts" => self.ts = Some(map.next_value()?),
            "session_id" => self.session_id = Some(map.next_value()?),
            "agent_id" => self.agent_id = Some(map.next_value()?),
            "turn_id" => self.turn_id = map.next_value()?,
            "needs" => self.needs = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The fields of a body as they stand between those of the head.
struct Fields<A> {
    head: Head,
    /// Those that stood before the type.
    early: serde_json::map::IntoIter,
    map: A,
    /// The names that the body has; none when it does not tell them, because a part is flattened into it.
    known: Option<&'static [&'static str]>,
    /// The value that comes next, where it was read already.
    value: Option<Value>,
    /// Those that are not known, or all when nobody told which are.
    more: Map<String, Value>,
}

impl<A> Fields<A> {
    fn into_event<E: Error>(mut self, body: EventBody) -> Result<Event, E> {
        if matches!(body, EventBody::Unknown(_)) {
            self.more.clear();
        } else if self.known.is_none() {
            let written = serde_json::to_value(&body).map_err(E::custom)?;
            self.more.retain(|name, _| written.get(name).is_none());
        }
        Ok(Event {
            seq: self.head.seq.ok_or_else(|| E::missing_field("seq"))?,
            ts: self.head.ts.ok_or_else(|| E::missing_field("ts"))?,
            session_id: self.head.session_id.ok_or_else(|| E::missing_field("session_id"))?,
            agent_id: self.head.agent_id.ok_or_else(|| E::missing_field("agent_id"))?,
            turn_id: self.head.turn_id,
            needs: self.head.needs,
            body,
            more: self.more,
        })
    }
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for &mut Fields<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.known = Some(known);
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for &mut Fields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            let name = match self.early.next() {
                Some((name, value)) => {
                    self.value = Some(value);
                    Cow::Owned(name)
                }
                None => match self.map.next_key()? {
                    Some(Text(name)) if self.head.read(&name, &mut self.map)? => continue,
                    Some(Text(name)) => name,
                    None => return Ok(None),
                },
            };
            if !self.known.is_some_and(|known| known.contains(&&*name)) {
                let value = self.value.take().map_or_else(|| self.map.next_value(), Ok)?;
                if self.known.is_some() {
                    self.more.insert(name.into_owned(), value);
                    continue;
                }
                self.more.insert(name.to_string(), value.clone());
                self.value = Some(value);
            }
            return seed.deserialize(name.into_deserializer()).map(Some);
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
            None => self.map.next_value_seed(seed),
        }
    }
}

/// A text that is borrowed where that can be.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
