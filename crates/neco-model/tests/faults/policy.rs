//! What must come of a schedule: the policy once more, as a check of which attempt follows which.

use neco_model::scripted::{Fault, Turn};

use crate::schedule::{MAX_RETRY_AFTER, Plan, RETRIES, Schedule, pieces};

/// What follows an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It answered.
    Answer,
    /// The same again.
    Again,
    /// Someone who is ready, else the one that limits the rate for the shortest time.
    Limited,
    NextKey,
    NextModel,
    GiveUp,
}

/// What follows an attempt that plays `turn`.
pub fn after(turn: &Turn) -> After {
    match &turn.fault {
        None | Some(Fault::Empty) => After::Answer,
        // What breaks after the finish breaks nothing.
        Some(Fault::DropAfter(at) | Fault::StallAfter(at) | Fault::ErrorAfter(at)) if *at >= pieces(turn) => {
            After::Answer
        }
        Some(Fault::DropAfter(_) | Fault::StallAfter(_) | Fault::ErrorAfter(_)) => After::Again,
        Some(Fault::Status { code, retry_after, .. }) => after_status(*code, *retry_after),
    }
}

pub fn after_status(code: u16, retry_after: Option<f64>) -> After {
    match code {
        401..=403 => After::NextKey,
        404 => After::NextModel,
        400 | 413 | 422 => After::GiveUp,
        _ if retry_after.is_some_and(|wait| wait > MAX_RETRY_AFTER) => After::NextKey,
        429 => After::Limited,
        _ => After::Again,
    }
}

/// One key of one model.
pub type Place = (usize, usize);

/// Checks that `attempts` are those that the policy makes, where `outcome` says what an attempt at a
/// place, counted from 0, must come to. Gives the place and the number of the attempt that answered.
pub fn check(
    places: &[Place],
    attempts: &[Place],
    outcome: impl Fn(Place, usize) -> After,
) -> Result<Option<(Place, usize)>, String> {
    let mut state = State { unasked: places.to_vec(), limited: Vec::new(), again: None };
    let mut made: Vec<(Place, usize)> = Vec::new();
    for (at, place) in attempts.iter().enumerate() {
        let allowed = state.next();
        if !allowed.contains(place) {
            return Err(format!("attempt {at} at {place:?}, not at one of {allowed:?}"));
        }
        let number = made.iter().filter(|(known, _)| known == place).count();
        made.push((*place, number));
        state.forget(*place);
        let last = at + 1 == attempts.len();
        match outcome(*place, number) {
            After::Answer if last => return Ok(Some((*place, number))),
            After::GiveUp if last => return Ok(None),
            After::Answer | After::GiveUp => return Err(format!("attempt {at} at {place:?} was the last one")),
            After::Again if number < RETRIES => state.again = Some(*place),
            After::Limited if number < RETRIES => state.limited.push(*place),
            After::Again | After::Limited | After::NextKey => {}
            After::NextModel => state.leave(place.0),
        }
    }
    let left = state.next();
    if left.is_empty() { Ok(None) } else { Err(format!("{left:?} were left to ask")) }
}

struct State {
    unasked: Vec<Place>,
    limited: Vec<Place>,
    again: Option<Place>,
}

impl State {
    /// Who may be asked next; nobody when it is over.
    fn next(&self) -> Vec<Place> {
        match (self.again, self.unasked.first()) {
            (Some(place), _) => vec![place],
            (None, Some(place)) => vec![*place],
            (None, None) => self.limited.clone(),
        }
    }

    fn forget(&mut self, place: Place) {
        self.again = None;
        self.unasked.retain(|known| *known != place);
        self.limited.retain(|known| *known != place);
    }

    fn leave(&mut self, model: usize) {
        self.unasked.retain(|(known, _)| *known != model);
        self.limited.retain(|(known, _)| *known != model);
    }
}

/// All places of a schedule, in the order in which they are asked.
pub fn places(schedule: &Schedule) -> Vec<Place> {
    let keys = |(model, keys): (usize, &Vec<Plan>)| (0..keys.len()).map(move |key| (model, key)).collect::<Vec<_>>();
    schedule.iter().enumerate().flat_map(keys).collect()
}

/// The turn that an attempt plays.
pub fn turn(schedule: &Schedule, (model, key): Place, number: usize) -> &Turn {
    let plan = &schedule[model][key];
    plan.get(number).unwrap_or(plan.last().unwrap())
}
