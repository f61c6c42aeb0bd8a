//! Writes that are asked twice with the same `Idempotency-Key` are done once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};

use super::problem::{Answer, Problem};

/// How long an answer is kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Answers that are kept at a time; the oldest go.
const MOST: usize = 4096;

/// Bytes of all of them.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of a body that is kept; of what is longer is told that it was done.
const LONGEST: usize = 64 * 1024;

/// Characters of a key.
const LONGEST_KEY: usize = 255;

/// What was done for which key.
#[derive(Default)]
pub(crate) struct Once(Mutex<HashMap<Key, Done>>);

/// Whose key it is, and the key.
pub(crate) type Key = (String, String);

struct Done {
    /// What was asked.
    asked: [u8; 32],
    at: Instant,
    /// What was answered; nothing while it is being done.
    answer: Option<Answer>,
}

/// What is to be done with a request.
pub(crate) enum Turn {
    /// It is to be done, and the answer kept for the key.
    Do(Option<Key>),
    /// It was done.
    Again(Answer),
}

impl Once {
    fn all(&self) -> MutexGuard<'_, HashMap<Key, Done>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request of somebody is to be done.
    pub fn begin(&self, who: &str, headers: &HeaderMap, what: &str, body: &[u8]) -> Result<Turn, Problem> {
        let Some(key) = headers.get("idempotency-key") else { return Ok(Turn::Do(None)) };
        self.begin_as(who, key.to_str().unwrap_or_default(), what, body)
    }

    /// The same with its key.
    pub fn begin_as(&self, who: &str, key: &str, what: &str, body: &[u8]) -> Result<Turn, Problem> {
        let key = Some(key).filter(|key| (1..=LONGEST_KEY).contains(&key.len()) && key.is_ascii());
        let key = key.ok_or_else(|| Problem::bad("an Idempotency-Key has 1 to 255 characters of ASCII"))?;
        let asked = Sha256::new().chain_update(what).chain_update([0]).chain_update(body).finalize().into();
        let key = (who.to_owned(), key.to_owned());
        let mut all = self.all();
        if let Some(done) = all.get(&key).filter(|done| done.at.elapsed() < KEPT) {
            return match &done.answer {
                _ if done.asked != asked => {
                    let words = "this Idempotency-Key was used for something else";
                    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, words))
                }
                Some(answer) => Ok(Turn::Again(answer.clone())),
                None => Err(Problem::new(StatusCode::CONFLICT, "what has this Idempotency-Key is being done")),
            };
        }
        if all.len() >= MOST {
            all.retain(|_, done| done.at.elapsed() < KEPT);
        }
        if all.len() >= MOST {
            let oldest = all.iter().filter(|(_, done)| done.answer.is_some()).min_by_key(|(_, done)| done.at);
            let too_many = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too much is being done at a time");
            let oldest = oldest.map(|(key, _)| key.clone()).ok_or_else(too_many)?;
            all.remove(&oldest);
        }
        all.insert(key.clone(), Done { asked, at: Instant::now(), answer: None });
        Ok(Turn::Do(Some(key)))
    }

    /// Keeps what a request was answered when it was done. What was not may be tried again.
    pub fn end(&self, key: Key, answer: Answer) {
        if answer.status.is_success() {
            self.keep(key, answer);
        } else {
            self.all().remove(&key);
        }
    }

    fn keep(&self, key: Key, answer: Answer) {
        let mut all = self.all();
        let size = |done: &Done| done.answer.as_ref().map_or(0, |answer| answer.body.len());
        let bytes: usize = all.values().map(size).sum();
        let has_room = answer.body.len() <= LONGEST && bytes + answer.body.len() <= MOST_BYTES;
        if let Some(done) = all.get_mut(&key) {
            let words = "this was done; its answer was not kept";
            let too_long = || Problem::new(StatusCode::CONFLICT, words).answer();
            done.answer = Some(if has_room { answer } else { too_long() });
        }
    }

    /// There is no answer: whether it was done is not known, so it is not done again under this key.
    pub fn lost(&self, key: Key) {
        let words = "the server failed at this by a mistake of its own; look before you ask again";
        self.keep(key, Problem::new(StatusCode::CONFLICT, words).answer());
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn asked(once: &Once, key: &'static str) -> Turn {
        let mut headers = HeaderMap::new();
        headers.insert("idempotency-key", HeaderValue::from_static(key));
        once.begin("me", &headers, "POST /", b"").unwrap()
    }

    #[test]
    fn what_was_done_is_answered_again_and_what_was_refused_is_tried_again() {
        let once = Once::default();
        let Turn::Do(Some(key)) = asked(&once, "one") else { panic!() };
        once.end(key, Problem::new(StatusCode::CONFLICT, "somebody else has it").answer());
        let Turn::Do(Some(key)) = asked(&once, "one") else { panic!("it is refused for ever") };
        once.end(key, Answer { status: StatusCode::OK, kind: "application/json", body: "{}".into() });
        assert!(matches!(asked(&once, "one"), Turn::Again(answer) if answer.status == StatusCode::OK));
    }

    #[test]
    fn what_has_no_answer_yet_does_not_grow_without_bound() {
        let once = Once::default();
        let begun = |at: usize| once.begin_as("me", &at.to_string(), "/", b"").is_ok();
        assert!((0..MOST).all(begun) && !begun(MOST));
        once.end(("me".to_owned(), "0".to_owned()), Problem::bad("no").answer());
        assert!(begun(MOST));
    }

    #[test]
    fn an_answer_that_is_too_long_is_not_told_as_if_it_were_empty() {
        let once = Once::default();
        let Turn::Do(Some(key)) = asked(&once, "one") else { panic!() };
        let body = vec![b'x'; LONGEST + 1].into();
        once.end(key, Answer { status: StatusCode::OK, kind: "application/json", body });
        assert!(matches!(asked(&once, "one"), Turn::Again(answer) if answer.status == StatusCode::CONFLICT));
    }
}
