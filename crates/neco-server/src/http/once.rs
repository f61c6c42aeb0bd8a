//! Writes that are asked twice with the same `Idempotency-Key` are done once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};

use super::problem::{Answer, Problem};

/// How long an answer is kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// How often those are forgotten that are older.
const SWEEP: Duration = Duration::from_secs(60);

/// Answers that are kept at a time; more are not begun.
const MOST: usize = 64 * 1024;

/// Those of one caller.
const MOST_OF_ONE: usize = 16 * 1024;

/// Bytes of all answers of one caller.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of a body that is kept; of what is longer is told that it was done.
const LONGEST: usize = 64 * 1024;

/// Characters of a key.
const LONGEST_KEY: usize = 255;

/// What was done for which key.
#[derive(Default)]
pub(crate) struct Once(Mutex<All>);

/// Whose key it is, and the key.
pub(crate) type Key = (String, String);

#[derive(Default)]
struct All {
    done: HashMap<Key, Done>,
    /// How many there are of each caller, and the bytes of their answers.
    shares: HashMap<String, (usize, usize)>,
    swept: Option<Instant>,
}

struct Done {
    /// What was asked.
    asked: [u8; 32],
    at: Instant,
    /// What was answered; nothing while it is being done.
    answer: Option<Answer>,
}

impl Done {
    fn bytes(&self) -> usize {
        self.answer.as_ref().map_or(0, |answer| answer.body.len())
    }

    fn is_old(&self, now: Instant) -> bool {
        self.answer.is_some() && now.duration_since(self.at) >= KEPT
    }
}

/// What is to be done with a request.
pub(crate) enum Turn {
    /// It is to be done, and the answer kept for the key.
    Do(Option<Key>),
    /// It was done.
    Again(Answer),
}

impl All {
    fn share(&self, who: &str) -> (usize, usize) {
        self.shares.get(who).copied().unwrap_or_default()
    }

    fn remove(&mut self, key: &Key) {
        let Some(done) = self.done.remove(key) else { return };
        if let Some((count, bytes)) = self.shares.get_mut(&key.0) {
            *count -= 1;
            *bytes -= done.bytes();
            if *count == 0 {
                self.shares.remove(&key.0);
            }
        }
    }

    /// Forgets what is too old, now and again.
    fn sweep(&mut self, now: Instant) {
        if self.swept.is_some_and(|swept| now.duration_since(swept) < SWEEP) {
            return;
        }
        self.swept = Some(now);
        let old: Vec<Key> = self.done.iter().filter(|(_, done)| done.is_old(now)).map(|(key, _)| key.clone()).collect();
        old.iter().for_each(|key| self.remove(key));
    }
}

impl Once {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request of somebody is to be done.
    pub fn begin(&self, who: &str, headers: &HeaderMap, what: &str, body: &[u8]) -> Result<Turn, Problem> {
        let Some(key) = headers.get("idempotency-key") else { return Ok(Turn::Do(None)) };
        self.begin_as(who, key.to_str().unwrap_or_default(), what, body)
    }

    /// The same with its key.
    pub fn begin_as(&self, who: &str, key: &str, what: &str, body: &[u8]) -> Result<Turn, Problem> {
        self.begin_at(Instant::now(), who, key, what, body)
    }

    fn begin_at(&self, now: Instant, who: &str, key: &str, what: &str, body: &[u8]) -> Result<Turn, Problem> {
        let key = Some(key).filter(|key| (1..=LONGEST_KEY).contains(&key.len()) && key.is_ascii());
        let key = key.ok_or_else(|| Problem::bad("an Idempotency-Key has 1 to 255 characters of ASCII"))?;
        let asked = Sha256::new().chain_update(what).chain_update([0]).chain_update(body).finalize().into();
        let key = (who.to_owned(), key.to_owned());
        let mut all = self.all();
        all.sweep(now);
        if let Some(done) = all.done.get(&key).filter(|done| !done.is_old(now)) {
            return match &done.answer {
                _ if done.asked != asked => {
                    let words = "this Idempotency-Key was used for something else";
                    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, words))
                }
                Some(answer) => Ok(Turn::Again(answer.clone())),
                None => Err(Problem::new(StatusCode::CONFLICT, "what has this Idempotency-Key is being done")),
            };
        }
        all.remove(&key);
        // What was promised to be known for a day is not forgotten for something new.
        if all.done.len() >= MOST || all.share(who).0 >= MOST_OF_ONE {
            let words = "as many Idempotency-Keys are kept as there is room for; ask without one, or later";
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, words));
        }
        all.shares.entry(key.0.clone()).or_default().0 += 1;
        all.done.insert(key.clone(), Done { asked, at: now, answer: None });
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
        let (_, bytes) = all.share(&key.0);
        let has_room = answer.body.len() <= LONGEST && bytes + answer.body.len() <= MOST_BYTES;
        let words = "this was done; its answer was not kept";
        let too_long = || Problem::new(StatusCode::CONFLICT, words).answer();
        let answer = if has_room { answer } else { too_long() };
        let long = answer.body.len();
        let Some(done) = all.done.get_mut(&key) else { return };
        done.answer = Some(answer);
        if let Some(share) = all.shares.get_mut(&key.0) {
            share.1 += long;
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
        once.end(key, done());
        assert!(matches!(asked(&once, "one"), Turn::Again(answer) if answer.status == StatusCode::OK));
    }

    fn done() -> Answer {
        Answer { status: StatusCode::OK, kind: "application/json", body: "{}".into(), again: None }
    }

    #[test]
    fn one_caller_takes_no_room_of_others_and_nothing_is_forgotten_before_its_day() {
        let (once, now) = (Once::default(), Instant::now());
        let begun = |who: &str, at: usize, now: Instant| once.begin_at(now, who, &at.to_string(), "/", b"");
        for at in 0..MOST_OF_ONE {
            let Ok(Turn::Do(Some(key))) = begun("phone", at, now) else { panic!("{at}") };
            once.end(key, done());
        }
        let refused = begun("phone", MOST_OF_ONE, now).err().map(|problem| problem.status);
        assert_eq!(refused, Some(StatusCode::SERVICE_UNAVAILABLE));
        assert!(matches!(begun("other", 0, now), Ok(Turn::Do(_))), "they have a share of their own");
        assert!(matches!(begun("phone", 0, now), Ok(Turn::Again(_))), "the oldest is known as well");
        let late = now + KEPT + SWEEP;
        assert!(matches!(begun("phone", MOST_OF_ONE, late), Ok(Turn::Do(_))), "what is old makes room");
        assert_eq!(once.all().share("phone"), (1, 0));
        assert!(begun("other", 0, late).is_err(), "what is still being done is not done twice");
        once.end(("phone".to_owned(), MOST_OF_ONE.to_string()), Problem::bad("no").answer());
        assert_eq!(once.all().share("phone"), (0, 0));
    }

    #[test]
    fn an_answer_that_is_too_long_is_not_told_as_if_it_were_empty() {
        let once = Once::default();
        let Turn::Do(Some(key)) = asked(&once, "one") else { panic!() };
        let body = vec![b'x'; LONGEST + 1].into();
        once.end(key, Answer { status: StatusCode::OK, kind: "application/json", body, again: None });
        assert!(matches!(asked(&once, "one"), Turn::Again(answer) if answer.status == StatusCode::CONFLICT));
    }
}
