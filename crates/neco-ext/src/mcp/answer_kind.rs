//! What one field of a server's form takes: texts, numbers, yes or no, choices, each within its limits.

use neco_proto::visible::visible;
use neco_proto::{ItemAnswer, QuestionOption};
use serde_json::Value;

/// Most choices of a field.
const MOST_CHOICES: usize = 100;

/// Characters of a name that a server says.
pub(super) const MOST_NAMED: usize = 200;

/// What a field takes.
pub(super) enum Kind {
    Text { length: Range, format: Option<Format> },
    Number { whole: bool, range: Range },
    Boolean,
    Choice { options: Vec<Choice>, several: bool, count: Range },
}

/// A value that can be chosen, and what it is called.
pub(super) struct Choice {
    value: String,
    label: String,
}

/// From where to where something may go, both ends counted.
#[derive(Clone, Copy)]
pub(super) struct Range {
    least: Option<f64>,
    most: Option<f64>,
}

/// A form that a text must have.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Kind {
    pub(super) fn read(schema: &Value) -> Self {
        let several = schema["type"] == "array";
        let choices = if several { &schema["items"] } else { schema };
        if let Some(options) = choices_of(choices) {
            return Self::Choice { options, several, count: Range::read(schema, "minItems", "maxItems") };
        }
        match schema["type"].as_str() {
            Some("boolean") => Self::Boolean,
            Some(kind @ ("integer" | "number")) => {
                Self::Number { whole: kind == "integer", range: Range::read(schema, "minimum", "maximum") }
            }
            _ => Self::Text {
                length: Range::read(schema, "minLength", "maxLength"),
                format: schema["format"].as_str().and_then(Format::read),
            },
        }
    }

    /// What the person can choose, and whether several of it.
    pub(super) fn options(&self) -> (Vec<QuestionOption>, bool) {
        match self {
            Self::Choice { options, several, .. } => {
                (options.iter().map(|choice| option(&choice.label, &choice.value)).collect(), *several)
            }
            Self::Boolean => (yes_or_no(), false),
            Self::Text { .. } | Self::Number { .. } => (Vec::new(), false),
        }
    }

    /// What an answer must be, where that is not seen by the choices.
    pub(super) fn wanted(&self) -> Option<String> {
        match self {
            Self::Text { length, format } => {
                let length = length.words().map(|words| format!("{words} characters"));
                let words: Vec<String> =
                    format.map(|format| format.words().to_owned()).into_iter().chain(length).collect();
                (!words.is_empty()).then(|| words.join(", "))
            }
            Self::Number { whole, range } => {
                let kind = if *whole { "a whole number" } else { "a number" };
                Some(range.words().map_or_else(|| kind.to_owned(), |words| format!("{kind}, {words}")))
            }
            Self::Choice { several: true, count, .. } => count.words().map(|words| format!("{words} of them")),
            Self::Choice { .. } | Self::Boolean => None,
        }
    }

    /// A value as people know it.
    pub(super) fn shown(&self, value: &Value) -> String {
        match (self, value) {
            (Self::Boolean, Value::Bool(is_so)) => if *is_so { "yes" } else { "no" }.to_owned(),
            (_, Value::Array(values)) => values.iter().map(|value| self.shown(value)).collect::<Vec<_>>().join(", "),
            (Self::Choice { options, .. }, Value::String(value)) => {
                let named = options.iter().find(|choice| choice.value == *value);
                named.map_or_else(|| value.clone(), |choice| choice.label.clone())
            }
            (_, Value::String(text)) => cut(text, MOST_NAMED),
            (_, value) => value.to_string(),
        }
    }

    /// Whether it is a value that the server takes.
    pub(super) fn fits(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text { length, format }, Value::String(text)) => {
                length.holds(text.chars().count() as f64) && format.is_none_or(|format| format.holds(text))
            }
            (Self::Number { whole, range }, Value::Number(number)) => {
                (!whole || number.is_i64() || number.is_u64())
                    && number.as_f64().is_some_and(|number| range.holds(number))
            }
            (Self::Boolean, Value::Bool(_)) => true,
            (Self::Choice { several: true, count, .. }, Value::Array(values)) => {
                count.holds(values.len() as f64) && values.iter().all(|value| self.has(value))
            }
            (Self::Choice { several: false, .. }, value) => self.has(value),
            (Self::Text { .. } | Self::Number { .. } | Self::Boolean | Self::Choice { .. }, _) => false,
        }
    }

    /// Whether it can be chosen.
    fn has(&self, value: &Value) -> bool {
        let Self::Choice { options, .. } = self else { return false };
        value.as_str().is_some_and(|value| options.iter().any(|choice| choice.value == value))
    }

    /// An answer as the server wants it; nothing where it is empty.
    pub(super) fn value(&self, answer: &ItemAnswer) -> Result<Option<Value>, Unfit> {
        let typed = answer.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let value = match self {
            Self::Text { .. } => typed.map(Value::from),
            Self::Number { whole, .. } => match typed {
                Some(typed) => Some(number(typed, *whole).ok_or(Unfit)?),
                None => None,
            },
            Self::Boolean => match answer.chosen.first().map(String::as_str).or(typed) {
                Some(word) => Some(yes(word).ok_or(Unfit)?.into()),
                None => None,
            },
            Self::Choice { several, .. } => self.chosen(answer, typed, *several)?,
        };
        match value {
            Some(value) if !self.fits(&value) => Err(Unfit),
            value => Ok(value),
        }
    }

    fn chosen(&self, answer: &ItemAnswer, typed: Option<&str>, several: bool) -> Result<Option<Value>, Unfit> {
        let Self::Choice { options, .. } = self else { return Ok(None) };
        let value = |word: &str| {
            let word = word.trim();
            let exactly = options.iter().find(|choice| choice.label == word || choice.value == word);
            let nearly = || options.iter().find(|choice| choice.value.eq_ignore_ascii_case(word));
            exactly.or_else(nearly).map(|choice| choice.value.clone())
        };
        let mut words: Vec<&str> = answer.chosen.iter().map(String::as_str).collect();
        match typed {
            Some(typed) if several && value(typed).is_none() => words.extend(typed.split(',')),
            typed => words.extend(typed),
        }
        let mut values: Vec<String> = Vec::new();
        for word in words {
            let value = value(word).ok_or(Unfit)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        match (several, values.as_slice()) {
            (_, []) => Ok(None),
            (true, _) => Ok(Some(values.into())),
            (false, [value]) => Ok(Some(value.as_str().into())),
            (false, _) => Err(Unfit),
        }
    }

    /// What is said of an answer that does not fit.
    pub(super) fn must_be(&self) -> String {
        let wanted = match self {
            Self::Boolean => "yes or no".to_owned(),
            Self::Choice { several: false, .. } => "one of the choices".to_owned(),
            Self::Choice { several: true, .. } => self.wanted().unwrap_or_else(|| "some of the choices".to_owned()),
            Self::Text { .. } | Self::Number { .. } => self.wanted().unwrap_or_else(|| "a text".to_owned()),
        };
        format!("it must be {wanted}")
    }
}

/// An answer that is not what the server wants; the field says what that is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfit;

fn number(typed: &str, whole: bool) -> Option<Value> {
    match whole {
        true => typed.parse::<i64>().ok().map(Value::from),
        // What is no number of JSON is none.
        false => typed.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
    }
}

fn yes(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "yes" | "y" | "true" | "1" => Some(true),
        "no" | "n" | "false" | "2" => Some(false),
        _ => None,
    }
}

/// Whether a person said yes, whose option is called `label`: they chose it, or wrote its name, yes or its number.
pub(super) fn said_yes(answers: &[ItemAnswer], label: &str) -> bool {
    let is_yes = |word: &str| word.eq_ignore_ascii_case(label) || yes(word) == Some(true);
    let says = |answer: &ItemAnswer| {
        let chosen = answer.chosen.iter().any(|chosen| chosen == label);
        chosen || answer.chosen.is_empty() && answer.text.as_deref().is_some_and(|text| is_yes(text.trim()))
    };
    answers.iter().any(says)
}

/// The values that can be chosen, with what they are called: `enum`, with `enumNames` or not, or `oneOf` and `anyOf`
/// with titles. Two that are called the same are told apart by their values.
fn choices_of(schema: &Value) -> Option<Vec<Choice>> {
    let pairs: Vec<(&str, &str)> = if let Some(values) = schema["enum"].as_array() {
        let names = schema["enumNames"].as_array();
        let name = |at: usize| names.and_then(|names| names.get(at)?.as_str());
        let values = values.iter().map(Value::as_str).enumerate();
        values.filter_map(|(at, value)| Some((value?, name(at).or(value)?))).collect()
    } else {
        let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())?;
        let pairs = titled.iter().map(|one| (one["const"].as_str(), one["title"].as_str()));
        pairs.filter_map(|(value, title)| Some((value?, title.or(value)?))).collect()
    };
    let is_alone = |label: &str| pairs.iter().filter(|(_, other)| *other == label).count() == 1;
    let choice = |(value, label): &(&str, &str)| Choice {
        value: (*value).to_owned(),
        label: if is_alone(label) { cut(label, MOST_NAMED) } else { cut(&format!("{label} ({value})"), MOST_NAMED) },
    };
    let choices: Vec<Choice> = pairs.iter().take(MOST_CHOICES).map(choice).collect();
    (!choices.is_empty()).then_some(choices)
}

impl Range {
    fn read(schema: &Value, least: &str, most: &str) -> Self {
        Self { least: schema[least].as_f64(), most: schema[most].as_f64() }
    }

    fn holds(self, number: f64) -> bool {
        self.least.is_none_or(|least| number >= least) && self.most.is_none_or(|most| number <= most)
    }

    fn words(self) -> Option<String> {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least == most => Some(format!("exactly {least}")),
            (Some(least), Some(most)) => Some(format!("{least} to {most}")),
            (Some(least), None) => Some(format!("at least {least}")),
            (None, Some(most)) => Some(format!("at most {most}")),
            (None, None) => None,
        }
    }
}

impl Format {
    fn read(name: &str) -> Option<Self> {
        match name {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Email => "an e-mail address",
            Self::Uri => "a whole address such as https://example.com",
            Self::Date => "a date such as 2026-03-31",
            Self::DateTime => "a date and time such as 2026-03-31T12:00:00Z",
        }
    }

    fn holds(self, text: &str) -> bool {
        match self {
            Self::Email => text.split_once('@').is_some_and(|(name, host)| is_word(name) && is_word(host)),
            Self::Uri => !text.contains(char::is_whitespace) && url::Url::parse(text).is_ok(),
            Self::Date => text.len() == "2026-03-31".len() && text.parse::<jiff::civil::Date>().is_ok(),
            Self::DateTime => text.contains(['T', 't']) && text.parse::<jiff::Timestamp>().is_ok(),
        }
    }
}

/// Whether it can be one half of an e-mail address.
fn is_word(text: &str) -> bool {
    let dots = text.starts_with('.') || text.ends_with('.') || text.contains("..");
    !text.is_empty() && !dots && !text.contains(|char: char| char == '@' || char.is_whitespace() || char.is_control())
}

/// What a server says, as far as it is shown.
pub(super) fn cut(text: &str, most: usize) -> String {
    let beginning: String = text.chars().take(most).collect();
    let ending = if beginning.len() < text.len() { "…" } else { "" };
    format!("{}{ending}", visible(&beginning))
}

pub(super) fn option(label: &str, description: &str) -> QuestionOption {
    let description = if description == label { "" } else { description };
    QuestionOption { label: label.to_owned(), description: description.to_owned() }
}

pub(super) fn yes_or_no() -> Vec<QuestionOption> {
    ["Yes", "No"].map(|label| option(label, "")).to_vec()
}
