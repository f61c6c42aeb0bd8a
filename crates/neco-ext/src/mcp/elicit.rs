//! What a server wants to know, as questions to the person, and their answers as the server wants them.

use neco_proto::{ItemAnswer, QuestionItem, QuestionOption};
use serde_json::{Map, Value, json};

/// Most fields of a form.
const MOST_FIELDS: usize = 20;

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
}

enum Kind {
    Text,
    Number {
        whole: bool,
    },
    Boolean,
    /// Values and what they are called.
    Choice {
        options: Vec<(String, String)>,
        several: bool,
    },
}

impl Form {
    /// Reads a form; the schema is an object whose fields are plain.
    pub(super) fn read(server: &str, message: &str, schema: &Value) -> Self {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema["properties"].as_object();
        let field = |(name, schema): (&String, &Value)| Field {
            name: name.clone(),
            title: schema["title"].as_str().unwrap_or(name).to_owned(),
            description: schema["description"].as_str().unwrap_or_default().to_owned(),
            required: required.contains(&name.as_str()),
            kind: Kind::read(schema),
        };
        let fields = properties.into_iter().flatten().take(MOST_FIELDS).map(field).collect();
        Self { server: server.to_owned(), message: message.to_owned(), fields }
    }

    /// The questions, one for each field; one to confirm where there is none. `problems` say what was wrong with the
    /// answers before.
    pub(super) fn questions(&self, problems: &[String]) -> Vec<QuestionItem> {
        let head = format!("The MCP server {} asks: {}", self.server, self.message);
        if self.fields.is_empty() {
            let options = ["Yes", "No"].map(|label| option(label, "")).to_vec();
            return vec![QuestionItem { title: self.server.clone(), text: head, options, multiple: false }];
        }
        let mut head = Some(head);
        let item = |field: &Field| {
            let mut text: Vec<String> = head.take().into_iter().collect();
            text.push(match field.description.is_empty() {
                true => field.title.clone(),
                false => format!("{}: {}", field.title, field.description),
            });
            text.extend((!field.required).then(|| "(may be left empty)".to_owned()));
            text.extend(problems.iter().filter(|problem| problem.starts_with(&format!("{}: ", field.title))).cloned());
            let (options, multiple) = match &field.kind {
                Kind::Choice { options, several } => {
                    (options.iter().map(|(value, label)| option(label, value)).collect(), *several)
                }
                Kind::Boolean => (["Yes", "No"].map(|label| option(label, "")).to_vec(), false),
                Kind::Text | Kind::Number { .. } => (Vec::new(), false),
            };
            QuestionItem { title: field.title.clone(), text: text.join("\n"), options, multiple }
        };
        self.fields.iter().map(item).collect()
    }

    /// The answers as the server wants them; nothing where the person said no; or what is wrong with them.
    pub(super) fn content(&self, answers: &[ItemAnswer]) -> Result<Option<Value>, Vec<String>> {
        if self.fields.is_empty() {
            let yes = answers.first().is_some_and(|answer| answer.chosen.iter().any(|choice| choice == "Yes"));
            return Ok(yes.then(|| json!({})));
        }
        let (mut content, mut problems) = (Map::new(), Vec::new());
        for (field, answer) in self.fields.iter().zip(answers) {
            match field.value(answer) {
                Ok(Some(value)) => drop(content.insert(field.name.clone(), value)),
                Ok(None) if !field.required => {}
                Ok(None) => problems.push(format!("{}: an answer is needed", field.title)),
                Err(problem) => problems.push(format!("{}: {problem}", field.title)),
            }
        }
        if problems.is_empty() { Ok(Some(Value::Object(content))) } else { Err(problems) }
    }
}

fn option(label: &str, description: &str) -> QuestionOption {
    let description = if description == label { "" } else { description };
    QuestionOption { label: label.to_owned(), description: description.to_owned() }
}

impl Kind {
    fn read(schema: &Value) -> Self {
        let several = schema["type"] == "array";
        let choices = if several { &schema["items"] } else { schema };
        if let Some(options) = options(choices) {
            return Self::Choice { options, several };
        }
        match schema["type"].as_str() {
            Some("boolean") => Self::Boolean,
            Some("integer") => Self::Number { whole: true },
            Some("number") => Self::Number { whole: false },
            _ => Self::Text,
        }
    }
}

/// The values that can be chosen, with what they are called: `enum`, with `enumNames` or not, or `oneOf` and `anyOf`
/// with titles.
fn options(schema: &Value) -> Option<Vec<(String, String)>> {
    if let Some(values) = schema["enum"].as_array() {
        let names = schema["enumNames"].as_array();
        let name = |at: usize| names.and_then(|names| names.get(at)?.as_str());
        let option = |(at, value): (usize, &Value)| {
            let value = value.as_str()?;
            Some((value.to_owned(), name(at).unwrap_or(value).to_owned()))
        };
        return Some(values.iter().enumerate().filter_map(option).collect());
    }
    let titled = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())?;
    let option = |one: &Value| {
        let value = one["const"].as_str()?;
        Some((value.to_owned(), one["title"].as_str().unwrap_or(value).to_owned()))
    };
    Some(titled.iter().filter_map(option).collect())
}

impl Field {
    fn value(&self, answer: &ItemAnswer) -> Result<Option<Value>, String> {
        let typed = answer.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        match &self.kind {
            Kind::Text => Ok(typed.map(Value::from)),
            Kind::Number { whole } => {
                let Some(typed) = typed else { return Ok(None) };
                match whole {
                    true => {
                        typed.parse::<i64>().map(|number| Some(number.into())).map_err(|_| "a whole number".to_owned())
                    }
                    false => typed.parse::<f64>().map(|number| Some(number.into())).map_err(|_| "a number".to_owned()),
                }
            }
            Kind::Boolean => match answer.chosen.first().map(String::as_str).or(typed) {
                Some(word) if ["yes", "y", "true"].contains(&word.to_lowercase().as_str()) => Ok(Some(true.into())),
                Some(word) if ["no", "n", "false"].contains(&word.to_lowercase().as_str()) => Ok(Some(false.into())),
                Some(_) => Err("yes or no".to_owned()),
                None => Ok(None),
            },
            Kind::Choice { options, several } => {
                let chosen = answer.chosen.iter().map(String::as_str).chain(typed);
                let value = |word: &str| {
                    let is = |(value, label): &&(String, String)| value.eq_ignore_ascii_case(word) || label == word;
                    options.iter().find(is).map(|(value, _)| Value::from(value.clone()))
                };
                let values: Option<Vec<Value>> = chosen.map(value).collect();
                let Some(values) = values else { return Err("one of the choices".to_owned()) };
                match (several, values.as_slice()) {
                    (_, []) => Ok(None),
                    (true, _) => Ok(Some(values.into())),
                    (false, [value, ..]) => Ok(Some(value.clone())),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
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

    fn typed(text: &str) -> ItemAnswer {
        ItemAnswer { text: Some(text.to_owned()), ..ItemAnswer::default() }
    }

    fn chosen(label: &str) -> ItemAnswer {
        ItemAnswer { chosen: vec![label.to_owned()], ..ItemAnswer::default() }
    }

    #[test]
    fn a_form_is_asked_field_by_field_and_answered_as_the_server_wants_it() {
        let items = form().questions(&[]);
        assert_eq!(items.len(), 4);
        assert!(items[0].text.starts_with("The MCP server shop asks: Who are you?\nName"), "{}", items[0].text);
        assert_eq!(items[2].options[1].label, "Green");
        let answers = [typed("Ada"), typed("36"), chosen("Green"), chosen("Yes")];
        let content = form().content(&answers).unwrap().unwrap();
        assert_eq!(content, json!({ "name": "Ada", "age": 36, "colour": "g", "sure": true }));
    }

    #[test]
    fn what_does_not_fit_is_told_by_field_and_what_is_optional_may_be_left_out() {
        let problems = form().content(&[typed(""), typed("old"), typed(""), typed("")]).unwrap_err();
        assert_eq!(problems, ["Name: an answer is needed", "age: a whole number"]);
        assert!(form().questions(&problems)[1].text.ends_with("age: a whole number"));
        let content = form().content(&[typed("Ada"), typed("1"), typed(""), typed("")]).unwrap().unwrap();
        assert_eq!(content, json!({ "name": "Ada", "age": 1 }));
    }
}
