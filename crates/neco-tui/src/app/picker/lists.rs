//! Lists of sessions and of models: what they tell about each.

use neco_view::short_id::short_id;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

use super::{Column, Entry, Letters, Mark, Picked, Picker};
use crate::host::{ModelEntry, SessionEntry};
use crate::text::wrap::cut;

/// The columns of a list of sessions: when it was used, its branch, its messages, its cost, its id, its folder and what
/// else is to be known of it.
const OF_SESSIONS: &[Column] = &[
    Column { is_right: false, rank: 0 },
    Column { is_right: false, rank: 5 },
    Column { is_right: true, rank: 3 },
    Column { is_right: true, rank: 4 },
    Column { is_right: false, rank: 0 },
    Column { is_right: false, rank: 1 },
    Column { is_right: false, rank: 2 },
];

/// Which of them say how much was said, and the id.
const MESSAGES: usize = 2;
const ID: usize = 4;

/// Columns of a title that are shown at least.
const LEAST_TITLE: usize = 12;

/// A list of sessions; `here` is the one on the screen.
pub fn of_sessions(heading: String, hint: String, sessions: Vec<SessionEntry>, here: &str) -> Picker {
    let entry = |session: SessionEntry| {
        let SessionEntry { id, title, work, when, branch, messages, cost, folder, about } = session;
        let words = [about.as_str(), if id == here { "this one" } else { "" }];
        let about = words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ");
        let short = id.parse().map(short_id).unwrap_or_default();
        let cells = [when, branch, messages, cost, short, folder, about];
        let mark = work.map(|(state, asks)| Mark::Work(state, asks));
        Entry::in_columns(&title, cells, Picked::Session(id)).marked(mark)
    };
    let entries = sessions.into_iter().map(entry).collect();
    Picker::new(heading, hint, Letters::Filter, entries).columns(OF_SESSIONS)
}

/// What an entry of a list of sessions is called by itself, in so many columns: its title, its id and its messages. The
/// title is cut, down to a few letters of it.
pub fn session_name(entry: &Entry, room: usize) -> String {
    let cell = |at: usize| entry.cells.get(at).filter(|cell| !cell.is_empty()).map(|cell| format!(" · {cell}"));
    let about: String = [ID, MESSAGES].into_iter().filter_map(cell).collect();
    let left = room.saturating_sub(about.width()).max(LEAST_TITLE);
    format!("{}{about}", cut(&Line::raw(entry.text.clone()), left))
}

/// The columns of a list of models: what it is, what it can read, what it costs, and whether it is used.
const OF_MODELS: &[Column] = &[
    Column { is_right: false, rank: 3 },
    Column { is_right: true, rank: 2 },
    Column { is_right: true, rank: 1 },
    Column { is_right: false, rank: 0 },
];

/// A list of models and groups, with an entry behind all of them; `here` is what is used.
pub fn of_models(models: Vec<ModelEntry>, here: &str, last: Entry) -> Picker {
    let (groups, models): (Vec<ModelEntry>, Vec<ModelEntry>) = models.into_iter().partition(|model| model.is_group);
    let entry = |ModelEntry { name, about, context, price, .. }: ModelEntry| {
        let (mark, used) = if name == here { (Some(Mark::Used), "used here") } else { (None, "") };
        let cells = [about, context, price, used.to_owned()];
        Entry::in_columns(&name, cells, Picked::Model(name.clone())).marked(mark)
    };
    let mut entries = Vec::new();
    for (name, some) in [("Groups", groups), ("Models", models)].into_iter().filter(|(_, some)| !some.is_empty()) {
        if entries.is_empty() {
            entries.push(Entry::heads(name, ["", "context", "in, out per M", ""].map(str::to_owned)));
        } else {
            entries.extend([Entry::heading(""), Entry::heading(name)]);
        }
        entries.extend(some.into_iter().map(entry));
    }
    entries.push(last);
    let hint = "↑↓ Enter use it here   Ctrl-X make it the default   Esc back";
    let mut picker = Picker::new("Search models", hint, Letters::Filter, entries).columns(OF_MODELS);
    picker.choose(|picked| matches!(picked, Picked::Model(name) if name == here));
    picker
}

#[cfg(test)]
mod tests {
    use neco_proto::event::NodeState;

    use super::*;
    use crate::theme::{Theme, ThemeName};

    fn session(title: &str, work: Option<(NodeState, bool)>, branch: &str, cost: &str) -> SessionEntry {
        SessionEntry {
            id: "019a8000-0000-7000-8000-000000c41f00".to_owned(),
            title: title.to_owned(),
            work,
            when: "2 min ago".to_owned(),
            branch: branch.to_owned(),
            messages: "14 messages".to_owned(),
            cost: cost.to_owned(),
            ..SessionEntry::default()
        }
    }

    fn rows(sessions: Vec<SessionEntry>, width: usize) -> Vec<String> {
        let mut list = of_sessions("Search".to_owned(), "Esc".to_owned(), sessions, "");
        list.rows(width, 20, &Theme::new(ThemeName::Plain)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_session_shows_how_it_stands_its_branch_and_its_cost() {
        let shown = rows(
            vec![
                session("Retry uploads", Some((NodeState::Running, true)), "retry-uploads", "$0.45"),
                session("Port CI", Some((NodeState::Paused, false)), "", "$12.30"),
                session("Nothing yet", None, "", ""),
            ],
            120,
        );
        assert_eq!(shown[0], " ❯ ◆ Retry uploads   2 min ago   retry-uploads   14 messages    $0.45   c41f00");
        assert_eq!(shown[1], "   ‖ Port CI         2 min ago                   14 messages   $12.30   c41f00");
        assert_eq!(shown[2], "     Nothing yet     2 min ago                   14 messages            c41f00");
    }

    #[test]
    fn groups_and_models_stand_below_their_names_and_those_are_passed_over() {
        let model = |name: &str, about: &str, context: &str, price: &str, is_group| ModelEntry {
            name: name.to_owned(),
            about: about.to_owned(),
            context: context.to_owned(),
            price: price.to_owned(),
            is_group,
        };
        let models = vec![
            model("think", "glm-4.7, then qwen3", "200k", "$0.28, $0.42", true),
            model("zhipu/glm-4.7", "thinks", "128k", "$0.60, $2.20", false),
            model("ollama/qwen3", "on this machine", "32k", "free", false),
        ];
        let add = Entry::new("Add a provider or a key …", "/login", Picked::Nothing);
        let mut list = of_models(models, "zhipu/glm-4.7", add);
        let shown = list.rows(120, 20, &Theme::new(ThemeName::Plain));
        let shown: Vec<String> = shown.iter().map(|row| row.to_string().trim_end().to_owned()).collect();
        let expected = [
            "   Groups                                              context   in, out per M",
            "     think                       glm-4.7, then qwen3      200k    $0.28, $0.42",
            "",
            "   Models",
            " ❯ • zhipu/glm-4.7               thinks                   128k    $0.60, $2.20   used here",
            "     ollama/qwen3                on this machine           32k            free",
            "     Add a provider or a key …  /login",
        ];
        assert_eq!(shown[..7], expected);
        list.step(-1);
        assert_eq!(list.chosen().map(|entry| entry.text.as_str()), Some("think"));
        list.step(-1);
        assert_eq!(list.chosen().map(|entry| entry.text.as_str()), Some("Add a provider or a key …"));
        list.step(isize::MIN);
        assert_eq!(list.chosen().map(|entry| entry.text.as_str()), Some("think"));
    }

    #[test]
    fn a_column_that_nobody_knows_takes_no_room_and_the_least_needed_go_first() {
        let long = "Uploads die when the bucket throttles us, and nobody retries them";
        let known = |cost: &str| vec![session(long, Some((NodeState::Completed, false)), "main", cost)];
        let wide = rows(known(""), 120);
        assert!(wide[0].ends_with("them   2 min ago   main   14 messages   c41f00"), "{wide:?}");
        let narrow: String = rows(known("$0.45"), 80).concat();
        assert!(!narrow.contains("main") && !narrow.contains("$0.45"), "{narrow}");
        assert!(narrow.contains("14 messages") && narrow.contains("c41f00"), "{narrow}");
    }
}
