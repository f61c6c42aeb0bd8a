//! A thousand turns: every question fits, is paired and has the rules in it.

use std::sync::{Arc, Mutex};

use neco_model::{Entry, Request};
use neco_proto::{EventBody, Message, Role};

use crate::model::{Model, Reply, look, tokens, unpaired, wants_summary};
use crate::stage::{self, say};

const WINDOW: u64 = 64_000;
/// Questions of the person, and turns for each.
const ROUNDS: usize = 100;
const TURNS: usize = 10;

/// Looks at files so many times for each thing that the person says.
fn patient() -> impl Fn(usize, &Request) -> Reply {
    let last: Mutex<(String, usize)> = Mutex::default();
    move |number, request| {
        if wants_summary(request) {
            return Reply::Say(format!("## Goal and requirements\n- go on looking\n## Next steps\n- number {number}"));
        }
        let person = request.history.iter().map(Entry::message).rfind(|message| is_from_person(message));
        let asked = person.map(Message::text).unwrap_or_default();
        let mut last = last.lock().unwrap();
        if last.0 != asked {
            *last = (asked, 0);
        }
        last.1 += 1;
        if last.1 < TURNS { look(number) } else { Reply::Say(format!("That was round {number}.")) }
    }
}

fn is_from_person(message: &Message) -> bool {
    message.role == Role::User && !message.is_neco()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_turns_with_compactions() {
    let model = Model::new(Some(WINDOW), patient());
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let (mut compactions, mut turns) = (0, 0);
    for round in 0..ROUNDS {
        for event in say(&session, &format!("Look once more, for the {round}th time.")).await {
            match event.body {
                EventBody::Compaction(done) => {
                    compactions += 1;
                    assert!(done.after < done.before, "{done:?}");
                }
                EventBody::TurnStart(_) => turns += 1,
                EventBody::Error(error) => panic!("{error:?}"),
                _ => {}
            }
        }
    }
    session.close().await;
    assert_eq!(turns, ROUNDS * TURNS);
    assert!(compactions >= 10, "{compactions}");
    let asked = model.asked();
    for (number, request) in asked.iter().enumerate() {
        assert!(tokens(request) <= WINDOW, "request {number} has {} tokens", tokens(request));
        assert_eq!(unpaired(request), None, "request {number}");
        let ruled = request.system.contains("Always answer in verse.");
        assert!(ruled || wants_summary(request), "request {number} has no rules");
    }
    shares_prefixes(&asked);
}

/// Between two compactions or trims every question begins with the whole of the one before it.
fn shares_prefixes(asked: &[Request]) {
    let questions: Vec<&Request> = asked.iter().filter(|request| !wants_summary(request)).collect();
    let (mut shared, mut broken) = (0, 0);
    for pair in questions.windows(2) {
        assert!(Arc::ptr_eq(&pair[0].system, &pair[1].system), "the prompt is made once");
        let same =
            pair[0].history.shared().zip(pair[1].history.shared()).take_while(|(one, other)| Arc::ptr_eq(one, other));
        if same.count() == pair[0].history.len() { shared += 1 } else { broken += 1 }
    }
    assert!(broken * 4 < shared, "{broken} of {} questions began anew", shared + broken);
}
