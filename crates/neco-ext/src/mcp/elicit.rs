//! What a server wants to know, as questions to the person, and their answers as the server wants them.

use std::collections::BTreeMap;

use neco_proto::visible::visible;
use neco_proto::{ItemAnswer, QuestionItem, QuestionOption};
use serde_json::{Map, Value, json};

/// Most fields of a form, and choices of a field.
const MOST_FIELDS: usize = 20;
const MOST_CHOICES: usize = 100;

/// Characters of what a server says that are shown: in sentences, and in names.
const MOST_SAID: usize = 2000;
const MOST_NAMED: usize = 200;

/// What leaves a choice without an answer that needs none.
const LEAVE_EMPTY: &str = "Leave it empty";

/// What is wrong with answers, by the place of their field.
pub(super) type Problems = BTreeMap<usize, String>;

/// A form: a message and its fields.
pub(super) struct Form {
    server: String,
    message: String,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    title: String,
    description: String,
    required: bool,
    kind: Kind,
    /// What an empty answer means.
    default: Option<Value>,
}

enum Kind {
    Text { length: Range, format: Option<Format> },
    Number { whole: bool, range: Range },
    Boolean,
    Choice { options: Vec<Choice>, several: bool, count: Range },
}

/// A value that can be chosen, and what it is called.
struct Choice {
    value: String,
    label: String,
}

/// From where to where something may go, both ends counted.
#[derive(Clone, Copy)]
struct Range {
    least: Option<f64>,
    most: Option<f64>,
}

/// A form that a text must have.
#[derive(Clone, Copy)]
enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Form {
    /// Reads a form; the schema is an object whose fields are plain.
    pub(super) fn read(server: &str, message: &str, schema: &Value) -> Self {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object();
        let field = |(name, schema): (&String, &Value)| Field {
            name: name.clone(),
            title: cut(schema["title"].as_str().unwrap_or(name), MOST_NAMED),
            description: cut(schema["description"].as_str().unwrap_or_default(), MOST_SAID),
            required: required.contains(&name.as_str()),
            kind: Kind::read(schema),
            default: schema.get("default").cloned(),
        };
        let mut fields: Vec<Field> = properties.into_iter().flatten().take(MOST_FIELDS).map(field).collect();
        // What does not fit itself is no default.
        for field in &mut fields {
            field.default = field.default.take().filter(|value| field.kind.fits(value));
        }
        Self { server: server.to_owned(), message: cut(message, MOST_SAID), fields }
    }

    /// The questions, one for each field; one to confirm where there is none. `problems` say what was wrong with the
    /// answers before.
    pub(super) fn questions(&self, problems: &Problems) -> Vec<QuestionItem> {
        let head = format!("The MCP server {} asks: {}", self.server, self.message);
        if self.fields.is_empty() {
            return vec![QuestionItem {
                title: self.server.clone(),
                text: head,
                options: yes_or_no(),
                multiple: false,
            }];
        }
        let mut head = Some(head);
        let item = |(at, field): (usize, &Field)| {
            let mut text: Vec<String> = head.take().into_iter().collect();
            text.push(match field.description.is_empty() {
                true => field.title.clone(),
                false => format!("{}: {}", field.title, field.description),
            });
            text.extend(field.about());
            text.extend(problems.get(&at).map(|problem| format!("Your answer does not fit: {problem}")));
            let (options, multiple) = field.options();
            QuestionItem { title: field.title.clone(), text: text.join("\n"), options, multiple }
        };
        self.fields.iter().enumerate().map(item).collect()
    }

    /// The answers as the server wants them; nothing where the person said no; or what is wrong with them.
    pub(super) fn content(&self, answers: &[ItemAnswer]) -> Result<Option<Value>, Problems> {
        if self.fields.is_empty() {
            let yes = answers.first().is_some_and(|answer| answer.chosen.iter().any(|choice| choice == "Yes"));
            return Ok(yes.then(|| json!({})));
        }
        let nothing = ItemAnswer::default();
        let (mut content, mut problems) = (Map::new(), Problems::new());
        for (at, field) in self.fields.iter().enumerate() {
            match field.kind.value(&field.without_leaving(answers.get(at).unwrap_or(&nothing))) {
                Ok(value) => match value.or_else(|| field.default.clone()) {
                    Some(value) => drop(content.insert(field.name.clone(), value)),
                    None if !field.required => {}
                    None => drop(problems.insert(at, "an answer is needed".to_owned())),
                },
                Err(Unfit) => drop(problems.insert(at, field.kind.must_be())),
            }
        }
        if problems.is_empty() { Ok(Some(Value::Object(content))) } else { Err(problems) }
    }
}

/// What a server says, as far as it is shown.
fn cut(text: &str, most: usize) -> String {
    let beginning: String = text.chars().take(most).collect();
    let ending = if beginning.len() < text.len() { "…" } else { "" };
    format!("{}{ending}", visible(&beginning))
}

fn option(label: &str, description: &str) -> QuestionOption {
    let description = if description == label { "" } else { description };
    QuestionOption { label: label.to_owned(), description: description.to_owned() }
}

fn yes_or_no() -> Vec<QuestionOption> {
    ["Yes", "No"].map(|label| option(label, "")).to_vec()
}

impl Field {
    /// What the person can choose, and whether several of it. Where there is anything to choose from, so is to leave it
    /// empty, if it may be.
    fn options(&self) -> (Vec<QuestionOption>, bool) {
        let (mut options, several) = self.kind.options();
        if self.offers_leaving() {
            options.push(option(LEAVE_EMPTY, ""));
        }
        (options, several)
    }

    fn offers_leaving(&self) -> bool {
        let (options, _) = self.kind.options();
        let is_free = options.iter().all(|option| option.label != LEAVE_EMPTY);
        !options.is_empty() && is_free && !self.required && self.default.is_none()
    }

    /// An answer in which to leave it empty is no choice.
    fn without_leaving(&self, answer: &ItemAnswer) -> ItemAnswer {
        let mut answer = answer.clone();
        if self.offers_leaving() {
            answer.chosen.retain(|label| label != LEAVE_EMPTY);
        }
        answer
    }

    /// What there is to know besides its description.
    fn about(&self) -> Option<String> {
        let has_options = !self.kind.options().0.is_empty();
        let empty = match (&self.default, self.required) {
            (Some(default), _) if has_options => Some(format!("the default is {}", self.kind.shown(default))),
            (Some(default), _) => Some(format!("empty means {}", self.kind.shown(default))),
            // The choice says so.
            (None, false) if has_options => None,
            (None, false) => Some("may be left empty".to_owned()),
            (None, true) => None,
        };
        let words: Vec<String> = self.kind.wanted().into_iter().chain(empty).collect();
        (!words.is_empty()).then(|| format!("({})", words.join("; ")))
    }
}

impl Kind {
    fn read(schema: &Value) -> Self {
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
    fn options(&self) -> (Vec<QuestionOption>, bool) {
        match self {
            Self::Choice { options, several, .. } => {
                (options.iter().map(|choice| option(&choice.label, &choice.value)).collect(), *several)
            }
            Self::Boolean => (yes_or_no(), false),
            Self::Text { .. } | Self::Number { .. } => (Vec::new(), false),
        }
    }

    /// What an answer must be, where that is not seen by the choices.
    fn wanted(&self) -> Option<String> {
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
    fn shown(&self, value: &Value) -> String {
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
    fn fits(&self, value: &Value) -> bool {
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
    fn value(&self, answer: &ItemAnswer) -> Result<Option<Value>, Unfit> {
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
    fn must_be(&self) -> String {
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
struct Unfit;

fn number(typed: &str, whole: bool) -> Option<Value> {
    match whole {
        true => typed.parse::<i64>().ok().map(Value::from),
        // What is no number of JSON is none.
        false => typed.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
    }
}

fn yes(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "yes" | "y" | "true" => Some(true),
        "no" | "n" | "false" => Some(false),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn form() -> Form {
        let schema = json!({ "type": "object", "required": ["name", "age"], "properties": {
            "name": { "type": "string", "title": "Name" },
            "age": { "type": "integer" },
            "colour": { "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"] },
            "sure": { "type": "boolean" },
        } });
        Form::read("shop", "Who are you?", &schema)
    }

    /// A form of one field that must be answered.
    fn one(schema: &Value) -> Form {
        Form::read("shop", "?", &json!({ "type": "object", "required": ["x"], "properties": { "x": schema } }))
    }

    fn typed(text: &str) -> ItemAnswer {
        ItemAnswer { text: Some(text.to_owned()), ..ItemAnswer::default() }
    }

    fn chosen(labels: &[&str]) -> ItemAnswer {
        ItemAnswer { chosen: labels.iter().map(|label| (*label).to_owned()).collect(), ..ItemAnswer::default() }
    }

    /// What becomes of an answer to a field.
    fn taken(schema: &Value, answer: ItemAnswer) -> Result<Value, String> {
        let content = one(schema).content(&[answer]);
        content.map(|content| content.unwrap()["x"].clone()).map_err(|mut problems| problems.remove(&0).unwrap())
    }

    #[test]
    fn a_form_is_asked_field_by_field_and_answered_as_the_server_wants_it() {
        let items = form().questions(&Problems::new());
        assert_eq!(items.len(), 4);
        assert!(items[0].text.starts_with("The MCP server shop asks: Who are you?\nName"), "{}", items[0].text);
        assert_eq!(items[2].options[1].label, "Green");
        let answers = [typed("Ada"), typed("36"), chosen(&["Green"]), chosen(&["Yes"])];
        let content = form().content(&answers).unwrap().unwrap();
        assert_eq!(content, json!({ "name": "Ada", "age": 36, "colour": "g", "sure": true }));
    }

    #[test]
    fn what_does_not_fit_is_told_by_field_and_what_is_optional_may_be_left_out() {
        let problems = form().content(&[typed(""), typed("old"), typed(""), typed("")]).unwrap_err();
        let told: Vec<(usize, &str)> = problems.iter().map(|(at, problem)| (*at, problem.as_str())).collect();
        assert_eq!(told, [(0, "an answer is needed"), (1, "it must be a whole number")]);
        let asked = form().questions(&problems);
        assert!(asked[1].text.ends_with("Your answer does not fit: it must be a whole number"), "{}", asked[1].text);
        let content = form().content(&[typed("Ada"), typed("1"), typed(""), typed("")]).unwrap().unwrap();
        assert_eq!(content, json!({ "name": "Ada", "age": 1 }));
        assert!(form().content(&[]).is_err(), "nothing was answered");
    }

    #[test]
    fn numbers_and_texts_keep_to_their_limits() {
        let whole = json!({ "type": "integer", "minimum": 1, "maximum": 10 });
        assert_eq!(taken(&whole, typed(" 10 ")), Ok(json!(10)));
        for wrong in ["0", "11", "1.5", "many", "99999999999999999999"] {
            assert_eq!(taken(&whole, typed(wrong)), Err("it must be a whole number, 1 to 10".to_owned()), "{wrong}");
        }
        let number = json!({ "type": "number", "minimum": 0.5 });
        assert_eq!(taken(&number, typed("0.5")), Ok(json!(0.5)));
        for wrong in ["0.4", "NaN", "inf", "-inf", "1e999"] {
            assert_eq!(taken(&number, typed(wrong)), Err("it must be a number, at least 0.5".to_owned()), "{wrong}");
        }
        let text = json!({ "type": "string", "minLength": 2, "maxLength": 3 });
        assert_eq!(taken(&text, typed("äöü")), Ok(json!("äöü")));
        for wrong in ["a", "abcd"] {
            assert_eq!(taken(&text, typed(wrong)), Err("it must be 2 to 3 characters".to_owned()), "{wrong}");
        }
        assert!(one(&whole).questions(&Problems::new())[0].text.ends_with("(a whole number, 1 to 10)"));
    }

    #[test]
    fn texts_have_the_form_that_is_wanted() {
        for (format, right, wrong) in [
            ("email", &["a@b.example", "a.b+c@d"][..], &["a", "@b", "a@", "a b@c", "a@b@c", ".a@b"][..]),
            ("uri", &["https://example.com/x", "mailto:a@b", "urn:a:b"], &["example.com", "/x", "https://a b"]),
            ("date", &["2026-02-28"], &["2026-02-29", "28.2.2026", "2026-02-28T00:00:00Z", "20260228"]),
            (
                "date-time",
                &["2026-02-28T12:00:00Z", "2026-02-28T12:00:00.5+02:00"],
                &["2026-02-28", "2026-02-28T12:00:00"],
            ),
        ] {
            let schema = json!({ "type": "string", "format": format });
            right.iter().for_each(|text| assert_eq!(taken(&schema, typed(text)), Ok(json!(text)), "{format}"));
            wrong.iter().for_each(|text| assert!(taken(&schema, typed(text)).is_err(), "{format}: {text}"));
        }
        assert_eq!(taken(&json!({ "type": "string", "format": "unheard-of" }), typed("x")), Ok(json!("x")));
    }

    #[test]
    fn choices_have_titles_in_every_way_that_servers_write_them() {
        let titled = json!([{ "const": "r", "title": "Red" }, { "const": "g", "title": "Green" }]);
        for schema in [
            json!({ "type": "string", "oneOf": titled }),
            json!({ "type": "string", "anyOf": titled }),
            json!({ "type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"] }),
        ] {
            let labels: Vec<String> =
                one(&schema).questions(&Problems::new())[0].options.iter().map(|option| option.label.clone()).collect();
            assert_eq!(labels, ["Red", "Green"]);
            for answer in [chosen(&["Green"]), typed("g"), typed("G")] {
                assert_eq!(taken(&schema, answer), Ok(json!("g")));
            }
            for answer in [typed("blue"), chosen(&["Red", "Green"])] {
                assert_eq!(taken(&schema, answer), Err("it must be one of the choices".to_owned()));
            }
        }
        let twins = json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["Same", "Same"] });
        assert_eq!(taken(&twins, chosen(&["Same (b)"])), Ok(json!("b")));
        assert_eq!(taken(&json!({ "type": "string", "enum": [] }), typed("free")), Ok(json!("free")));
    }

    #[test]
    fn several_can_be_chosen_and_as_many_as_may_be() {
        let titled = json!([{ "const": "r", "title": "Red" }, { "const": "g", "title": "Green" }, { "const": "b" }]);
        let items = json!({ "anyOf": titled });
        let schema = json!({ "type": "array", "items": items, "minItems": 2, "maxItems": 2 });
        assert!(one(&schema).questions(&Problems::new())[0].multiple);
        assert_eq!(taken(&schema, chosen(&["Green", "Red"])), Ok(json!(["g", "r"])));
        assert_eq!(taken(&schema, typed("r, b")), Ok(json!(["r", "b"])));
        for answer in [chosen(&["Red"]), chosen(&["Red", "Green", "b"]), chosen(&["Red", "Red"])] {
            assert_eq!(taken(&schema, answer), Err("it must be exactly 2 of them".to_owned()));
        }
        assert_eq!(taken(&schema, typed("")), Err("an answer is needed".to_owned()));
    }

    #[test]
    fn an_empty_answer_means_the_default() {
        for (schema, default, shown) in [
            (json!({ "type": "string", "default": "x" }), json!("x"), "empty means x"),
            (json!({ "type": "integer", "default": 7 }), json!(7), "empty means 7"),
            (json!({ "type": "boolean", "default": false }), json!(false), "the default is no"),
            (json!({ "enum": ["r"], "enumNames": ["Red"], "default": "r" }), json!("r"), "the default is Red"),
            (
                json!({ "type": "array", "items": { "enum": ["r", "g"] }, "default": ["r"] }),
                json!(["r"]),
                "the default is r",
            ),
        ] {
            assert_eq!(taken(&schema, typed(" ")), Ok(default), "{schema}");
            let text = one(&schema).questions(&Problems::new()).remove(0).text;
            assert!(text.ends_with(&format!("{shown})")), "{text}");
        }
        let wrong = json!({ "type": "integer", "maximum": 3, "default": 7 });
        assert_eq!(taken(&wrong, typed("")), Err("an answer is needed".to_owned()), "it is no default");
    }

    #[test]
    fn what_needs_no_answer_can_be_left_empty_also_where_there_are_choices() {
        for schema in [
            json!({ "type": "boolean" }),
            json!({ "type": "string", "enum": ["r", "g"] }),
            json!({ "type": "array", "items": { "enum": ["r", "g"] } }),
        ] {
            let optional = Form::read("shop", "?", &json!({ "properties": { "x": schema } }));
            let labels = |form: &Form| -> Vec<String> {
                let item = form.questions(&Problems::new()).remove(0);
                item.options.into_iter().map(|option| option.label).collect()
            };
            assert_eq!(labels(&optional).last().map(String::as_str), Some(LEAVE_EMPTY));
            for answer in [chosen(&[LEAVE_EMPTY]), typed(""), ItemAnswer::default()] {
                assert_eq!(optional.content(&[answer]), Ok(Some(json!({}))), "{schema}");
            }
            assert!(!labels(&one(&schema)).contains(&LEAVE_EMPTY.to_owned()), "an answer is needed");
        }
        let own = json!({ "properties": { "x": { "enum": [LEAVE_EMPTY] } } });
        let own = Form::read("shop", "?", &own);
        assert_eq!(own.content(&[chosen(&[LEAVE_EMPTY])]), Ok(Some(json!({ "x": LEAVE_EMPTY }))), "it is a choice");
        let text = Form::read("shop", "?", &json!({ "properties": { "x": { "type": "string" } } }));
        let item = text.questions(&Problems::new()).remove(0);
        assert!(item.options.is_empty() && item.text.ends_with("(may be left empty)"), "{}", item.text);
    }

    #[test]
    fn a_server_can_not_fill_the_screen() {
        let long = "x".repeat(100_000);
        let schema = json!({ "type": "string", "title": long, "description": format!("\u{1b}[2J{long}") });
        let properties: Map<String, Value> = (0..100).map(|at| (format!("f{at}"), schema.clone())).collect();
        let items = Form::read("shop", &long, &json!({ "properties": properties })).questions(&Problems::new());
        assert_eq!(items.len(), MOST_FIELDS);
        for item in items {
            assert!(item.text.chars().count() < 3 * MOST_SAID && !item.text.contains('\u{1b}'));
        }
    }

    fn schemas() -> impl Strategy<Value = Value> {
        let limits = || (prop::option::of(0_u8..5), prop::option::of(0_u8..5));
        let with = |mut schema: Value, (least, most): (Option<u8>, Option<u8>), names: [&str; 2]| {
            for (name, limit) in names.into_iter().zip([least, most]) {
                if let Some(limit) = limit {
                    schema[name] = json!(limit);
                }
            }
            schema
        };
        let numbers = move |kind: &'static str| {
            limits().prop_map(move |limits| with(json!({ "type": kind }), limits, ["minimum", "maximum"]))
        };
        prop_oneof![
            limits().prop_map(move |limits| with(json!({ "type": "string" }), limits, ["minLength", "maxLength"])),
            numbers("integer"),
            numbers("number"),
            Just(json!({ "type": "boolean" })),
            Just(json!({ "type": "string", "enum": ["1", "a", "b"] })),
            limits().prop_map(move |limits| {
                let schema = json!({ "type": "array", "items": { "type": "string", "enum": ["1", "a", "b"] } });
                with(schema, limits, ["minItems", "maxItems"])
            }),
        ]
    }

    fn answers() -> impl Strategy<Value = ItemAnswer> {
        let words = || prop_oneof!["[0-9]{1,2}", "-?[0-9]\\.[0-9]", "yes|no|a|b|1|Yes|No", "a, ?b", ".{0,6}"];
        (prop::option::of(words()), prop::collection::vec(words(), 0..3))
            .prop_map(|(text, chosen)| ItemAnswer { text, chosen })
    }

    proptest! {
        #[test]
        fn what_is_given_to_a_server_is_what_it_asked_for(
            schema in schemas(),
            default in prop::option::of(prop_oneof![
                any::<i8>().prop_map(Value::from),
                any::<bool>().prop_map(Value::from),
                "[ab1]{0,3}".prop_map(Value::from),
            ]),
            answer in answers(),
        ) {
            let mut schema = schema;
            if let Some(default) = default {
                schema["default"] = default;
            }
            let whole = json!({ "type": "object", "required": ["x"], "properties": { "x": schema } });
            if let Ok(content) = Form::read("shop", "?", &whole).content(&[answer]) {
                let content = content.unwrap();
                prop_assert!(jsonschema::is_valid(&whole, &content), "{whole}: {content}");
            }
        }
    }
}
