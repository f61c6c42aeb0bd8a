//! What each setting may hold: the table of all settings, and what it is made of.

use crate::known::KNOWN;

/// What a setting may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A table with these names, in the order of the sections.
    Table(&'static [(&'static str, Field)]),
    /// A table with any names.
    Map(&'static Shape),
    List(&'static Shape),
    Text {
        /// Whether `""` is one too.
        may_be_empty: bool,
    },
    OneOf(&'static [Choice]),
    Whole(Range),
    /// A float or an integer.
    Number(Range),
    Switch,
    /// Something the schema says in words this module does not know; reading it decides.
    Any,
}

/// A named setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) shape: Shape,
    pub(crate) doc: &'static str,
    /// Whether it may be absent; what may not has a built-in value.
    pub(crate) optional: bool,
    /// What the type itself takes when nothing is given, as JSON.
    pub(crate) default: Option<&'static str>,
}

/// One string that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
}

/// The numbers that are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Range {
    pub(crate) least: Option<f64>,
    /// What it must be more than.
    pub(crate) above: Option<f64>,
    pub(crate) most: Option<f64>,
}

impl Shape {
    /// What is below this name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        if let Self::Map(inner) = self {
            return Some(inner);
        }
        self.fields().iter().find(|(known, _)| *known == name).map(|(_, field)| &field.shape)
    }

    /// The names that it has of its own.
    pub(crate) fn fields(&self) -> &'static [(&'static str, Field)] {
        if let Self::Table(fields) = self { fields } else { &[] }
    }

    /// Whether it is a table, with names of its own or any.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Map(_))
    }

    /// What is below these names.
    pub(crate) fn at(&self, names: &[String]) -> Option<&Self> {
        names.iter().try_fold(self, |shape, name| shape.child(name))
    }

    /// In words, such as "a whole number of at least 1".
    pub(crate) fn expected(&self) -> String {
        match self {
            Self::Table(_) | Self::Map(_) => "a table".to_owned(),
            Self::List(inner) => format!("a list, each item {}", inner.expected()),
            Self::Text { may_be_empty: true } => "a string".to_owned(),
            Self::Text { may_be_empty: false } => "a string that is not empty".to_owned(),
            Self::OneOf(choices) => format!("one of {}", listed(choices)),
            Self::Whole(range) => format!("a whole number{}", range.in_words()),
            Self::Number(range) => format!("a number{}", range.in_words()),
            Self::Switch => "true or false".to_owned(),
            Self::Any => "a value".to_owned(),
        }
    }
}

impl Range {
    /// Whether the number is finite and within.
    pub(crate) fn holds(&self, number: f64) -> bool {
        number.is_finite()
            && self.least.is_none_or(|least| number >= least)
            && self.above.is_none_or(|above| number > above)
            && self.most.is_none_or(|most| number <= most)
    }

    fn in_words(&self) -> String {
        let low = match (self.above, self.least) {
            (Some(above), _) => Some(format!("more than {above}")),
            (None, Some(least)) => Some(format!("of at least {least}")),
            (None, None) => None,
        };
        let parts: Vec<String> = low.into_iter().chain(self.most.map(|most| format!("at most {most}"))).collect();
        if parts.is_empty() { String::new() } else { format!(" {}", parts.join(" and ")) }
    }
}

/// Every known setting.
pub(crate) fn known() -> &'static Shape {
    &KNOWN
}

fn listed(choices: &[Choice]) -> String {
    choices.iter().map(|choice| format!("`{}`", choice.name)).collect::<Vec<_>>().join(", ")
}
