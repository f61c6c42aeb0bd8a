//! What the person is told of files that a call changed and that act later without being called.

use neco_proto::EventBody;
use neco_proto::event::{ActingChange, ActsLater, Notification, NotificationLevel};
use neco_safety::SideEffect;
use neco_safety::path::later::Later;
use neco_safety::secrets::Scope;
use neco_toolkit::ActingFile;

use super::call::Call;
use crate::ports::WayBack;

/// How many of them are named in the line.
const MOST_NAMED: usize = 5;

/// Characters of a state that stand for it.
const SHORT: usize = 10;

/// One line for each kind of file. Who said yes to the change of a file knows of it; of what a command changes on its
/// way nobody was told.
pub(super) fn told_of(call: &Call, acting: &[ActingFile], way_back: Option<&WayBack>) -> Vec<EventBody> {
    if acting.is_empty() || call.approved && call.touch() == Some(SideEffect::Writes) {
        return Vec::new();
    }
    let of = |does: ActsLater| {
        let files = acting.iter().filter(|file| kind_of(file.does) == does);
        let files: Vec<String> =
            files.map(|file| call.redactor.redact(&file.path, Scope::Outside).into_owned()).collect();
        (!files.is_empty()).then(|| EventBody::Notification(line(does, files, way_back)))
    };
    [ActsLater::Runs, ActsLater::RunsElsewhere, ActsLater::Instructs].into_iter().filter_map(of).collect()
}

fn kind_of(does: Later) -> ActsLater {
    match does {
        Later::Runs(_) => ActsLater::Runs,
        Later::RunsElsewhere => ActsLater::RunsElsewhere,
        Later::Instructs => ActsLater::Instructs,
    }
}

fn line(does: ActsLater, files: Vec<String>, way_back: Option<&WayBack>) -> Notification {
    let (level, what) = match does {
        ActsLater::Runs => (NotificationLevel::Warning, "runs without being called"),
        ActsLater::RunsElsewhere => (NotificationLevel::Info, "runs where the project is built"),
        ActsLater::Instructs => (NotificationLevel::Info, "instructs agents"),
    };
    let more = files.len().saturating_sub(MOST_NAMED);
    let mut names = files.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    let back = match way_back {
        Some(WayBack { session, rev }) => {
            let rev: String = rev.chars().take(SHORT).collect();
            format!(
                "/rewind {rev} puts the files back to before it, later changes too (outside of a window: neco session rewind {session} --to {rev})"
            )
        }
        None => "no checkpoint was made, so undo it by hand if you do not want it".to_owned(),
    };
    let text = format!("Changed what {what}: {names}; {back}");
    let checkpoint = way_back.map(|way_back| way_back.rev.clone());
    Notification { changed: Some(ActingChange { does, files, checkpoint }), ..Notification::new(level, text) }
}

#[cfg(test)]
mod tests {
    use neco_proto::SessionId;

    use super::*;

    #[test]
    fn the_line_names_what_was_changed_and_the_way_back() {
        let session = SessionId::new();
        let way_back = WayBack { session, rev: "51e6ceffb0123456".to_owned() };
        let told = line(ActsLater::Instructs, vec!["AGENTS.md".to_owned()], Some(&way_back));
        let expected = format!(
            "Changed what instructs agents: AGENTS.md; /rewind 51e6ceffb0 puts the files back to before it, later changes \
             too (outside of a window: neco session rewind {session} --to 51e6ceffb0)"
        );
        assert_eq!((told.text, told.level), (expected, NotificationLevel::Info));
        assert_eq!(told.changed.unwrap().checkpoint.as_deref(), Some("51e6ceffb0123456"));
        let many = (0..7).map(|number| format!(".github/workflows/{number}.yml")).collect();
        let told = line(ActsLater::RunsElsewhere, many, None);
        assert!(told.text.contains("4.yml and 2 more; no checkpoint was made"), "{}", told.text);
        assert_eq!(told.changed.unwrap().files.len(), 7);
    }
}
