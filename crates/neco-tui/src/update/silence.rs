//! The keys of the question what now, where no model answers.

use crossterm::event::{KeyCode, KeyEvent};
use neco_view::slash::{Outside, Slash};

use super::effect::Effect;
use super::{commands, stopping};
use crate::app::WindowState;
use crate::ask::{Asked, NoModelMeans};

/// What a key means to it; none when it is for the field.
pub(super) fn no_model_key(window: &mut WindowState, key: KeyEvent) -> Option<Vec<Effect>> {
    let writes = !window.prompt.text.is_empty();
    let Some(Asked::NoModel(asked)) = window.desk.present() else { return None };
    let means = match key.code {
        KeyCode::Up | KeyCode::Down => {
            asked.step(key.code == KeyCode::Down);
            return Some(Vec::new());
        }
        // A draft goes on, and leaves as it does without a question.
        KeyCode::Enter | KeyCode::Char(_) if writes => return None,
        KeyCode::Enter => asked.chosen()?,
        KeyCode::Char('d') => {
            asked.toggle_error();
            return Some(Vec::new());
        }
        KeyCode::Char(digit @ '1'..='9') => asked.numbered(digit.to_digit(10)? as usize)?,
        KeyCode::Char(letter) => asked.lettered(letter)?,
        // While it is waited, Esc stops the work, as it does without a question.
        KeyCode::Esc if !asked.waits() => NoModelMeans::Stop,
        _ => return None,
    };
    let stops = asked.waits() && matches!(means, NoModelMeans::Choose | NoModelMeans::Stop);
    if means == NoModelMeans::Wait {
        window.desk.wait_for_model();
    } else {
        window.desk.drop_no_model();
    }
    let stopped = if stops { stopping::stop_work(window) } else { Vec::new() };
    let next = match means {
        NoModelMeans::Again => stopping::root_goes_on(window),
        NoModelMeans::Choose => commands::run(window, &Slash::Outside(Outside::Models, String::new())),
        NoModelMeans::Wait | NoModelMeans::Stop => Vec::new(),
    };
    Some(stopped.into_iter().chain(next).collect())
}
