//! The map of the repository: what its most used definitions are, and where.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use neco_model::tokens::{Family, estimate};
use neco_safety::path::Access;
use neco_safety::policy::Telling;
use neco_safety::world::Files;
use neco_safety::{invisible, untrusted};
use neco_workspace::index::{IndexError, Indexes, Patient};

/// How long a session waits for its map. What is not ready by then is ready for the next one.
const LONGEST: Duration = Duration::from_secs(2);

const HEAD: &str = "Map of the repository, when the session began: the definitions that the rest of the code uses \
                    most, with their lines. Look things up with code_index and code_search.";

/// The map of the repository in `folder` in about `tokens` tokens; nothing when none is wanted, when
/// there is no code, or when its index is not ready soon. The index is one of `indexes`; it is
/// finished even when nobody waits for it any more. What a rule closes to reading is not on it.
pub async fn map_of_repository(
    folder: &Path,
    indexes: &Arc<Indexes>,
    tokens: usize,
    telling: Telling,
) -> Option<String> {
    if tokens == 0 {
        return None;
    }
    let (folder, indexes) = (folder.to_path_buf(), Arc::clone(indexes));
    let drawn = tokio::task::spawn_blocking(move || draw(&folder, &indexes, tokens, &telling));
    match tokio::time::timeout(LONGEST, drawn).await {
        Ok(Ok(Ok(map))) => map,
        Ok(Ok(Err(error))) => {
            tracing::warn!(%error, "there is no map of the repository");
            None
        }
        Ok(Err(_)) => None,
        Err(_) => {
            tracing::info!("the map of the repository is not ready; the next session has it");
            None
        }
    }
}

fn draw(folder: &Path, indexes: &Indexes, tokens: usize, telling: &Telling) -> Result<Option<String>, IndexError> {
    let files = Files::new(folder, Vec::new())?;
    let Ok(root) = files.locate(".", Access::Read) else { return Ok(None) };
    let room = tokens.saturating_sub(estimate(&told(""), Family::Other) as usize);
    let may_be_told = |path: &Path| telling.refuses_path(&files.workspace().join(path)).is_none();
    let map = indexes.of(root).ask(&Patient, |snapshot| snapshot.map(room, &may_be_told))?;
    Ok((map.definitions > 0).then(|| told(&map.text)))
}

/// It is made of what stands in files, which may say anything.
fn told(map: &str) -> String {
    format!("{HEAD}\n{}", untrusted::wrap("repo_map", "the repository", &invisible::seen(map).text))
}

#[cfg(test)]
mod tests {
    use neco_safety::Policy;
    use neco_safety::command::Place;
    use neco_safety::policy::{RuleReader, Source as RuleSource};

    use super::*;

    #[tokio::test]
    async fn the_map_names_what_is_used_and_nothing_that_a_rule_closes() {
        let folder = tempfile::tempdir().unwrap();
        let (work, indexes) = (folder.path().join("work"), Arc::new(Indexes::new(folder.path().join("index"))));
        std::fs::create_dir(&work).unwrap();
        let work = work.canonicalize().unwrap();
        let open = || Policy::default().telling();
        assert_eq!(map_of_repository(&work, &indexes, 500, open()).await, None, "no code");
        std::fs::write(work.join("a.py"), "def helper():\n    pass\n").unwrap();
        std::fs::write(work.join("b.py"), "from a import helper\nhelper()\n").unwrap();
        let map = map_of_repository(&work, &indexes, 500, open()).await.unwrap();
        assert!(map.contains("a.py\n  1: def helper():"), "{map}");
        assert_eq!(map_of_repository(&work, &indexes, 500, open()).await, Some(map), "the same again");
        assert_eq!(map_of_repository(&work, &indexes, 0, open()).await, None, "not wanted");
        let place = Place::new(&work);
        let rule = "[[rule]]\ntool = \"read_file\"\npath = \"a.py\"\ndecision = \"deny\"\n";
        let rules = RuleReader { place: &place }.file(rule, "rules.toml", RuleSource::User).rules;
        let closed = Policy::new(place, rules).telling();
        let map = map_of_repository(&work, &indexes, 500, closed).await;
        assert!(map.is_none_or(|map| !map.contains("helper")), "a rule closes it");
    }
}
