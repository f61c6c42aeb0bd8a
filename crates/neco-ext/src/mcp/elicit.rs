//! What a server wants to know, as questions to the person, and their answers as the server wants them.

use neco_proto::{EmptyAnswer, FormField, ItemAnswer, QuestionItem, QuestionOption};
use neco_toolkit::AskPerson;
use serde_json::{Map, Value, json};

use super::answer_kind::{Kind, MOST_NAMED, Unfit, cut, option, said_yes, yes_or_no};

/// Most fields of a form.
const MOST_FIELDS: usize = 20;

/// Characters of what a server says in sentences.
const MOST_SAID: usize = 2000;

/// How often a person is asked for a field again whose answer does not fit.
const MOST_TRIES: usize = 3;

/// What leaves a choice without an answer that needs none.
const LEAVE_EMPTY: &str = "Leave it empty";

/// That a person does not want to answer, or never as the server wants it.
struct Declined;

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

    /// Asks the person, field by field, or to confirm where there is none. Nothing where they said no, or never what the
    /// server takes.
    pub(super) async fn fill(&self, person: &dyn AskPerson) -> Option<Value> {
        if self.fields.is_empty() {
            let answers = person.ask(vec![self.confirmation()]).await?;
            return said_yes(&answers, "Yes").then(|| json!({}));
        }
        let mut content = Map::new();
        for (at, field) in self.fields.iter().enumerate() {
            if let Some(value) = self.ask(at, field, person).await.ok()? {
                content.insert(field.name.clone(), value);
            }
        }
        Some(Value::Object(content))
    }

    /// Asks for a field until its answer fits: what was answered before is not asked again for it.
    async fn ask(&self, at: usize, field: &Field, person: &dyn AskPerson) -> Result<Option<Value>, Declined> {
        let mut problem = None;
        for _ in 0..MOST_TRIES {
            let answers = person.ask(vec![self.question(at, field, problem.as_deref())]).await.ok_or(Declined)?;
            match field.taken(&answers.into_iter().next().unwrap_or_default()) {
                Ok(value) => return Ok(value),
                Err(Problem(wrong)) => problem = Some(wrong),
            }
        }
        Err(Declined)
    }

    fn confirmation(&self) -> QuestionItem {
        QuestionItem {
            title: self.server.clone(),
            text: format!("The MCP server {} asks: {}", self.server, self.message),
            options: yes_or_no(),
            multiple: false,
            empty: EmptyAnswer::Refused,
            field: None,
        }
    }

    /// The question for a field; `problem` is what was wrong with the answer before.
    fn question(&self, at: usize, field: &Field, problem: Option<&str>) -> QuestionItem {
        let of = match self.fields.len() {
            1 => String::new(),
            count => format!(" ({} of {count})", at + 1),
        };
        let message = if at == 0 { format!(" {}", self.message) } else { String::new() };
        let mut text = vec![format!("The MCP server {} asks{of}:{message}", self.server)];
        text.push(match field.description.is_empty() {
            true => field.title.clone(),
            false => format!("{}: {}", field.title, field.description),
        });
        text.extend(field.about());
        text.extend(problem.map(|problem| format!("Your answer does not fit: {problem}")));
        let (options, multiple) = field.options();
        let (title, text, empty) = (field.title.clone(), text.join("\n"), field.empty());
        let default = field.default.as_ref().map(|default| field.kind.shown(default));
        let field = Some(FormField { server: self.server.clone(), default });
        QuestionItem { title, text, options, multiple, empty, field }
    }
}

/// What is wrong with an answer, in words for the person.
#[derive(Debug, PartialEq, Eq)]
struct Problem(String);

impl Field {
    /// An answer as the server wants it; nothing where it may be left out and was; or what is wrong with it.
    fn taken(&self, answer: &ItemAnswer) -> Result<Option<Value>, Problem> {
        let value = self.kind.value(&self.without_leaving(answer)).map_err(|Unfit| Problem(self.kind.must_be()))?;
        match value.or_else(|| self.default.clone()) {
            None if self.required => Err(Problem("an answer is needed".to_owned())),
            value => Ok(value),
        }
    }

    /// What an answer without words or choices means.
    fn empty(&self) -> EmptyAnswer {
        match (&self.default, self.required) {
            (Some(_), _) => EmptyAnswer::Default,
            (None, true) => EmptyAnswer::Refused,
            (None, false) => EmptyAnswer::Allowed,
        }
    }

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

    /// What there is to know besides its description. What an empty answer means is told with the keys.
    fn about(&self) -> Option<String> {
        let default = self.default.as_ref().map(|default| format!("the default is {}", self.kind.shown(default)));
        let words: Vec<String> = self.kind.wanted().into_iter().chain(default).collect();
        (!words.is_empty()).then(|| format!("({})", words.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use futures::FutureExt;
    use futures::future::BoxFuture;
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
        one(schema).fields[0].taken(&answer).map(Option::unwrap_or_default).map_err(|Problem(words)| words)
    }

    /// The questions, as they are asked first.
    fn questions(form: &Form) -> Vec<QuestionItem> {
        form.fields.iter().enumerate().map(|(at, field)| form.question(at, field, None)).collect()
    }

    /// Somebody who gives these answers, one after the other, and remembers what was asked.
    struct Person {
        says: Mutex<VecDeque<ItemAnswer>>,
        asked: Mutex<Vec<QuestionItem>>,
    }

    impl AskPerson for Person {
        fn ask(&self, items: Vec<QuestionItem>) -> BoxFuture<'static, Option<Vec<ItemAnswer>>> {
            assert_eq!(items.len(), 1, "each answer is looked at before the next question");
            self.asked.lock().unwrap().extend(items);
            let answer = self.says.lock().unwrap().pop_front();
            std::future::ready(answer.map(|answer| vec![answer])).boxed()
        }
    }

    /// What the server is given when these are the answers, and what was asked.
    async fn filled(form: &Form, says: &[ItemAnswer]) -> (Option<Value>, Vec<String>) {
        let person = Person { says: Mutex::new(says.to_vec().into()), asked: Mutex::default() };
        let content = form.fill(&person).await;
        (content, person.asked.into_inner().unwrap().into_iter().map(|item| item.text).collect())
    }

    #[tokio::test]
    async fn a_form_is_asked_field_by_field_and_answered_as_the_server_wants_it() {
        let answers = [typed("Ada"), typed("36"), chosen(&["Green"]), chosen(&["Yes"])];
        let (content, asked) = filled(&form(), &answers).await;
        assert_eq!(content, Some(json!({ "name": "Ada", "age": 36, "colour": "g", "sure": true })));
        assert_eq!(asked[0], "The MCP server shop asks (1 of 4): Who are you?\nName");
        assert_eq!(asked[1], "The MCP server shop asks (2 of 4):\nage\n(a whole number)", "each names who asks");
        assert_eq!(questions(&form())[2].options[1].label, "Green");
    }

    #[tokio::test]
    async fn only_what_does_not_fit_is_asked_again_with_the_reason() {
        let answers = [typed("Ada"), typed("zero"), typed(""), typed("36"), typed(""), typed("")];
        let (content, asked) = filled(&form(), &answers).await;
        assert_eq!(content, Some(json!({ "name": "Ada", "age": 36 })), "what is optional may be left out");
        let places: Vec<&str> = asked.iter().map(|text| &text["The MCP server shop asks (".len()..][..1]).collect();
        assert_eq!(places, ["1", "2", "2", "2", "3", "4"]);
        assert!(asked[2].ends_with("Your answer does not fit: it must be a whole number"), "{}", asked[2]);
        assert!(asked[3].ends_with("Your answer does not fit: an answer is needed"), "{}", asked[3]);
        let wrong = [typed("Ada"), typed("a"), typed("b"), typed("c"), typed("1")];
        assert_eq!(filled(&form(), &wrong).await.0, None, "somebody who never says what is wanted");
        assert_eq!(filled(&form(), &[typed("Ada")]).await.0, None, "somebody who does not want to go on");
    }

    #[tokio::test]
    async fn a_form_without_fields_is_confirmed() {
        let form = Form::read("shop", "Go on?", &json!({ "type": "object" }));
        for (says, content) in [("Yes", Some(json!({}))), ("No", None)] {
            let (given, asked) = filled(&form, &[chosen(&[says])]).await;
            assert_eq!((given, asked), (content, vec!["The MCP server shop asks: Go on?".to_owned()]));
        }
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
        assert!(questions(&one(&whole))[0].text.ends_with("(a whole number, 1 to 10)"));
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
                questions(&one(&schema))[0].options.iter().map(|option| option.label.clone()).collect();
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
        assert!(questions(&one(&schema))[0].multiple);
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
            (json!({ "type": "string", "default": "x" }), json!("x"), "the default is x"),
            (json!({ "type": "integer", "default": 7 }), json!(7), "the default is 7"),
            (json!({ "type": "boolean", "default": false }), json!(false), "the default is no"),
            (json!({ "enum": ["r"], "enumNames": ["Red"], "default": "r" }), json!("r"), "the default is Red"),
            (
                json!({ "type": "array", "items": { "enum": ["r", "g"] }, "default": ["r"] }),
                json!(["r"]),
                "the default is r",
            ),
        ] {
            assert_eq!(taken(&schema, typed(" ")), Ok(default), "{schema}");
            let item = questions(&one(&schema)).remove(0);
            assert!(item.text.ends_with(&format!("{shown})")), "{}", item.text);
            assert_eq!(item.empty, EmptyAnswer::Default);
            let default = item.field.and_then(|field| field.default);
            assert_eq!(default.as_deref(), shown.strip_prefix("the default is "));
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
                let item = questions(form).remove(0);
                item.options.into_iter().map(|option| option.label).collect()
            };
            assert_eq!(labels(&optional).last().map(String::as_str), Some(LEAVE_EMPTY));
            for answer in [chosen(&[LEAVE_EMPTY]), typed(""), ItemAnswer::default()] {
                assert_eq!(optional.fields[0].taken(&answer), Ok(None), "{schema}");
            }
            assert!(!labels(&one(&schema)).contains(&LEAVE_EMPTY.to_owned()), "an answer is needed");
        }
        let own = json!({ "properties": { "x": { "enum": [LEAVE_EMPTY] } } });
        let own = Form::read("shop", "?", &own);
        assert_eq!(own.fields[0].taken(&chosen(&[LEAVE_EMPTY])), Ok(Some(json!(LEAVE_EMPTY))), "it is a choice");
        let text = Form::read("shop", "?", &json!({ "properties": { "x": { "type": "string" } } }));
        assert_eq!(questions(&text)[0].empty, EmptyAnswer::Allowed);
        assert_eq!(questions(&one(&json!({ "type": "string" })))[0].empty, EmptyAnswer::Refused);
    }

    #[test]
    fn a_server_can_not_fill_the_screen() {
        let long = "x".repeat(100_000);
        let schema = json!({ "type": "string", "title": long, "description": format!("\u{1b}[2J{long}") });
        let properties: Map<String, Value> = (0..100).map(|at| (format!("f{at}"), schema.clone())).collect();
        let items = questions(&Form::read("shop", &long, &json!({ "properties": properties })));
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
            if let Ok(value) = Form::read("shop", "?", &whole).fields[0].taken(&answer) {
                let content = json!({ "x": value.unwrap() });
                prop_assert!(jsonschema::is_valid(&whole, &content), "{whole}: {content}");
            }
        }
    }
}
