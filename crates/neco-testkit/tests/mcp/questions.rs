//! What a server may ask while it works: the person, the folders.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_ext::mcp::ServerSettings;
use neco_proto::{ItemAnswer, QuestionItem};
use neco_toolkit::{AskPerson, ToolContext};
use serde_json::{Value, json};

use crate::stage::{Stage, call_with};

const ERAS: [&str; 2] = ["legacy", "modern"];

/// A person who answers as it is written down, one entry for each time they are asked; then they say nothing.
#[derive(Default)]
pub struct Person {
    says: Mutex<VecDeque<Vec<ItemAnswer>>>,
    takes: Duration,
    pub asked: Mutex<Vec<Vec<QuestionItem>>>,
}

impl Person {
    pub fn who_says(says: impl IntoIterator<Item = Vec<ItemAnswer>>) -> Self {
        Self { says: Mutex::new(says.into_iter().collect()), ..Self::default() }
    }
}

impl AskPerson for Person {
    fn ask(&self, items: Vec<QuestionItem>) -> BoxFuture<'static, Option<Vec<ItemAnswer>>> {
        self.asked.lock().unwrap().push(items);
        let (takes, says) = (self.takes, self.says.lock().unwrap().pop_front());
        Box::pin(async move {
            tokio::time::sleep(takes).await;
            says
        })
    }
}

fn typed(text: &str) -> ItemAnswer {
    ItemAnswer { text: Some(text.to_owned()), ..ItemAnswer::default() }
}

pub fn chosen(label: &str) -> ItemAnswer {
    ItemAnswer { chosen: vec![label.to_owned()], ..ItemAnswer::default() }
}

/// The form of the fake server, filled in field by field; the last is asked for until it fits.
fn form(counts: &[&str]) -> Vec<Vec<ItemAnswer>> {
    let counts = counts.iter().map(|count| typed(count));
    [typed("Ada"), chosen("red"), chosen("Yes")].into_iter().chain(counts).map(|answer| vec![answer]).collect()
}

/// What a server was answered through a tool that asks: the tool gives that back as text.
async fn answered(era: &str, tool: &str, person: &Arc<Person>) -> Value {
    let stage = Stage::new();
    let settings = ServerSettings { call_timeout: Duration::from_secs(1), ..stage.fake(&["--era", era]) };
    let servers = stage.learnt(settings).await;
    let ctx = ToolContext { person: person.clone(), ..stage.context() };
    let output = call_with(ctx, &servers, tool, json!({})).await.unwrap();
    assert_eq!(output.error_code, None, "{era}: {}", output.model);
    serde_json::from_str(&output.model).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_is_put_to_the_person_and_given_back_filled_in() {
    for era in ERAS {
        let person = Arc::new(Person::who_says(form(&["3"])));
        let content = json!({ "name": "Ada", "color": "red", "sure": true, "count": 3.0 });
        assert_eq!(answered(era, "ask", &person).await, json!({ "action": "accept", "content": content }), "{era}");
        let asked = person.asked.lock().unwrap();
        let asked: Vec<&QuestionItem> = asked.iter().flatten().collect();
        let titles: Vec<&str> = asked.iter().map(|item| item.title.as_str()).collect();
        assert_eq!(titles, ["Name", "Color", "Sure", "Count"], "{era}");
        assert!(asked[0].text.starts_with("The MCP server x asks (1 of 4): What shall be made?"), "{}", asked[0].text);
        assert!(asked[3].text.starts_with("The MCP server x asks (4 of 4):"), "{}", asked[3].text);
        let options: Vec<&str> = asked[1].options.iter().map(|option| option.label.as_str()).collect();
        assert_eq!(options, ["red", "green", "blue"], "{era}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_does_not_fit_is_asked_for_again_and_no_other() {
    for era in ERAS {
        let person = Arc::new(Person::who_says(form(&["11", "4"])));
        assert_eq!(answered(era, "ask", &person).await["content"]["count"], json!(4.0), "{era}");
        let asked = person.asked.lock().unwrap();
        assert_eq!(asked.len(), 5, "{era}");
        assert!(asked[4][0].text.ends_with("it must be a number, 0 to 10"), "{era}: {}", asked[4][0].text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_says_nothing_or_never_what_is_wanted_declines() {
    for era in ERAS {
        for (says, times) in [(Vec::new(), 1), (form(&["a", "b", "c", "5"]), 6)] {
            let person = Arc::new(Person::who_says(says));
            assert_eq!(answered(era, "ask", &person).await, json!({ "action": "decline" }), "{era}");
            assert_eq!(person.asked.lock().unwrap().len(), times, "{era}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_does_not_count_while_the_person_thinks() {
    let thinking = |era| async move {
        let person = Arc::new(Person { takes: Duration::from_millis(1_500), ..Person::who_says(form(&["3"])) });
        answered(era, "ask", &person).await["action"].clone()
    };
    let (legacy, modern) = tokio::join!(thinking("legacy"), thinking("modern"));
    assert_eq!([legacy, modern], ["accept", "accept"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_opened_by_the_person_or_not() {
    for era in ERAS {
        for (says, action) in [("I opened it", "accept"), ("No", "decline")] {
            let person = Arc::new(Person::who_says([vec![chosen(says)]]));
            assert_eq!(answered(era, "ask_url", &person).await["action"], action, "{era}");
            let asked = person.asked.lock().unwrap();
            let text = &asked[0][0].text;
            let page = "https://example.com/sign-in?page=page-1";
            assert!(text.contains(page) && text.contains("Please sign in."), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_folders_are_told() {
    for era in ERAS {
        let stage = Stage::new();
        let servers = stage.learnt(stage.fake(&["--era", era])).await;
        let said: Value = serde_json::from_str(&stage.said(&servers, "roots", json!({})).await).unwrap();
        let root = json!({ "uri": format!("file://{}/", stage.workspace.display()), "name": "work" });
        assert_eq!(said["roots"], json!([root]), "{era}");
    }
}
