//! Pictures that go with a message.

use std::fs;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::server;
use crate::support::{House, say};

/// The smallest picture there is: one pixel.
pub const PIXEL: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\
\xf8\xff\xff?\0\x05\xfe\x02\xfe\xa75\x81\x84\0\0\0\0IEND\xaeB`\x82";
/// The beginning of it, as it is sent.
const SENT: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg";

const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a pixel\"}}]}\n\n\
data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn put_pictures(house: &House) {
    fs::write(house.project().join("a.png"), PIXEL).unwrap();
    fs::write(house.project().join("b.gif"), b"GIF89a\x01\0\x01\0\0\0\0;").unwrap();
}

#[test]
fn pictures_go_with_the_message_and_stay_in_the_session() {
    let house = House::playing(json!([{ "say": "seen", "expect": { "last_user_pictures": 2 } }]));
    put_pictures(&house);
    let ran = house.run(&["-m", "look", "--image", "a.png", "--image", "b.gif", "--output-format", "json"]);
    let id = ran.ended_with(0).json()["session_id"].as_str().unwrap().to_owned();
    house.run(&["session", "show", &id]).ended_with(0).says("> look").says("with 2 pictures");
    let log = house.run(&["session", "show", &id, "--json"]).ended_with(0).events();
    let message = log.iter().find(|event| event["type"] == "message").unwrap();
    assert_eq!(message["parts"][1]["media_type"], "image/png", "{message}");
    assert_eq!(message["parts"][2]["media_type"], "image/gif", "{message}");
}

/// A model behind a server that keeps what it was sent.
fn house(vision: bool) -> (House, Arc<Mutex<Vec<Value>>>) {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bodies);
    let base = server::start(move |asked| {
        // It says nothing of itself.
        if asked.body.is_empty() {
            return (404, String::new());
        }
        kept.lock().unwrap().push(serde_json::from_str(&asked.body).unwrap());
        (200, ANSWER.to_owned())
    });
    let house = House::empty();
    house.configure(&format!(
        "model = \"mine/m\"\n[model_providers.mine]\ntype = \"openai\"\nbase = \"{base}\"\napi_key = \"k-1\"\n\
         text_tool_calls = \"never\"\n[models.\"mine/m\"]\nvision = {vision}\n"
    ));
    put_pictures(&house);
    (house, bodies)
}

#[test]
fn the_server_is_sent_the_picture_now_and_when_the_session_goes_on() {
    let (house, bodies) = house(true);
    house.run(&["-m", "what is it?", "--image", "a.png"]).ended_with(0).says("a pixel");
    house.run(&["--continue", "-m", "are you sure?"]).ended_with(0);
    let bodies = bodies.lock().unwrap();
    assert_eq!(bodies.len(), 2);
    for body in bodies.iter() {
        let content = body["messages"].as_array().unwrap().iter().find(|message| message["role"] == "user").unwrap();
        assert_eq!(content["content"][0], json!({ "type": "text", "text": "what is it?" }));
        let url = content["content"][1]["image_url"]["url"].as_str().unwrap();
        assert!(url.starts_with(SENT), "{url}");
    }
}

#[test]
fn a_model_that_sees_nothing_is_not_asked() {
    let (house, bodies) = house(false);
    house
        .run(&["-m", "what is it?", "--image", "a.png"])
        .ended_with(2)
        .says("mine/m does not see pictures")
        .says("vision = true in [models.\"mine/m\"]");
    assert!(bodies.lock().unwrap().is_empty());
}

#[test]
fn what_is_no_picture_is_refused_before_anything_begins() {
    let house = House::playing(json!([say("never")]));
    fs::write(house.project().join("a.png"), "hello").unwrap();
    let refused = |file: &str| house.run(&["-m", "look", "--image", file]).ended_with(2);
    refused("a.png").says("a.png is no picture that models take: PNG, JPEG, WebP or GIF");
    refused("missing.png").says("the picture missing.png can't be read");
    refused(".").says("is not a file");
    house.run(&["session", "list"]).says("no sessions");
}
