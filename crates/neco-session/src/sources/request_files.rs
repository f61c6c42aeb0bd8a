//! Pieces of files that fit what a person says: from the index of the code where there is one, else by the names of
//! files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use neco_agent::ports::{FilePiece, PiecesWish, RequestFiles};
use neco_safety::path::{Access, Located};
use neco_safety::world::Files;
use neco_workspace::index::{IndexError, Indexes, Piece, Watch, fitting, fitting_by_names};

/// How long is looked for pieces. Nobody asked for them, so nobody should have to wait.
const LONGEST: Duration = Duration::from_millis(250);

/// Finds pieces of the files of a folder.
pub(crate) struct PiecesBelow {
    cwd: PathBuf,
    indexes: Arc<Indexes>,
    /// Whether looking through the names of files took too long: it would again.
    is_big: Arc<AtomicBool>,
}

impl PiecesBelow {
    pub(crate) fn new(cwd: &Path, indexes: &Arc<Indexes>) -> Self {
        Self { cwd: cwd.to_path_buf(), indexes: Arc::clone(indexes), is_big: Arc::default() }
    }
}

impl RequestFiles for PiecesBelow {
    fn fitting(&self, wish: PiecesWish) -> BoxFuture<'static, Vec<FilePiece>> {
        let (cwd, indexes, is_big) = (self.cwd.clone(), Arc::clone(&self.indexes), Arc::clone(&self.is_big));
        let look = tokio::task::spawn_blocking(move || {
            look(&cwd, &indexes, &wish, &Soon { until: Instant::now() + LONGEST }, &is_big)
        });
        Box::pin(async move { look.await.unwrap_or_default() })
    }
}

fn look(cwd: &Path, indexes: &Indexes, wish: &PiecesWish, soon: &Soon, is_big: &AtomicBool) -> Vec<FilePiece> {
    let Ok(files) = Files::new(cwd, Vec::new()) else { return Vec::new() };
    let Ok(root) = files.locate(".", Access::Read) else { return Vec::new() };
    let may_be_told = |path: &Path| {
        let is_new = path.to_str().is_some_and(|path| !wish.has.contains(path));
        let located = files.locate(path, Access::Read).ok().filter(|_| is_new);
        located.is_some_and(|located| wish.telling.refuses(&located).is_none())
    };
    let pieces = found(root, indexes, &wish.request, &may_be_told, soon, is_big).unwrap_or_else(|error| {
        tracing::debug!(%error, "no pieces of files are given");
        Vec::new()
    });
    let piece = |Piece { path, first_line, last_line, text }: Piece| {
        Some(FilePiece { path: path.to_str()?.to_owned(), first_line, last_line, text })
    };
    pieces.into_iter().filter_map(piece).collect()
}

fn found(
    root: Located,
    indexes: &Indexes,
    request: &str,
    may_be_told: &dyn Fn(&Path) -> bool,
    soon: &Soon,
    is_big: &AtomicBool,
) -> Result<Vec<Piece>, IndexError> {
    let index = indexes.of(root.clone());
    if index.exists() {
        return fitting(index.refresh(soon)?.as_ref(), request, may_be_told);
    }
    if is_big.load(Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let found = fitting_by_names(&root, request, may_be_told, soon);
    if matches!(found, Err(IndexError::Cancelled)) {
        is_big.store(true, Ordering::Relaxed);
    }
    found
}

/// Someone who does not wait long.
struct Soon {
    until: Instant,
}

impl Watch for Soon {
    fn is_cancelled(&self) -> bool {
        Instant::now() >= self.until
    }

    fn progress(&self, _: usize, _: usize) {}

    fn waiting(&self) {}
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;

    use neco_safety::Policy;
    use neco_safety::command::Place;
    use neco_safety::policy::{RuleReader, Source as RuleSource};
    use neco_workspace::index::Patient;

    use super::*;

    struct Desk {
        _folder: tempfile::TempDir,
        work: PathBuf,
        indexes: Arc<Indexes>,
        /// How long is looked.
        longest: Cell<Duration>,
        is_big: AtomicBool,
    }

    impl Desk {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let base = folder.path().canonicalize().unwrap();
            let work = base.join("work");
            std::fs::create_dir_all(work.join("src/billing")).unwrap();
            let put = |path: &str, text: &str| std::fs::write(work.join(path), text).unwrap();
            put("src/billing/invoice.rs", "//! Invoices.\n\npub fn round_half_up(cents: i64) -> i64 {\n    cents\n}\n");
            put("src/main.rs", "fn main() {}\n");
            put("src/ignored.rs", "pub fn round_half_up() {}\n");
            put(".ignore", "ignored.rs\n");
            put(".env", "round_half_up=1\n");
            let indexes = Arc::new(Indexes::new(base.join("index")));
            let longest = Cell::new(Duration::from_secs(60));
            Self { _folder: folder, work, indexes, longest, is_big: AtomicBool::new(false) }
        }

        fn index(&self) {
            let files = Files::new(&self.work, Vec::new()).unwrap();
            self.indexes.of(files.locate(".", Access::Read).unwrap()).refresh(&Patient).unwrap();
        }

        fn paths(&self, request: &str, rules: &str, has: &[&str]) -> Vec<String> {
            let place = Place::new(&self.work);
            let rules = RuleReader { place: &place }.file(rules, "rules.toml", RuleSource::User).rules;
            let telling = Policy::new(place, rules).telling_as_read();
            let has: BTreeSet<String> = has.iter().map(|path| (*path).to_owned()).collect();
            let wish = PiecesWish { request: request.to_owned(), telling, has };
            let soon = Soon { until: Instant::now() + self.longest.get() };
            let found = look(&self.work, &self.indexes, &wish, &soon, &self.is_big);
            found.into_iter().map(|piece| piece.path).collect()
        }
    }

    const INVOICE: &str = "src/billing/invoice.rs";

    #[test]
    fn what_is_closed_ignored_secret_or_known_is_not_given() {
        let desk = Desk::new();
        desk.index();
        assert_eq!(desk.paths("why does `round_half_up` round wrongly?", "", &[]), [INVOICE]);
        assert_eq!(desk.paths("look at .env and ignored.rs", "", &[]), [""; 0]);
        assert_eq!(desk.paths("why does `round_half_up` round wrongly?", "", &[INVOICE]), [""; 0]);
        let rule = "[[rule]]\ntool = \"read_file\"\npath = \"src/billing/**\"\ndecision = \"ask\"\n";
        assert_eq!(desk.paths("why does `round_half_up` round wrongly? see invoice.rs", rule, &[]), [""; 0]);
    }

    #[test]
    fn without_an_index_names_of_files_count_and_none_is_made() {
        let desk = Desk::new();
        assert_eq!(desk.paths("the totals in invoice.rs are wrong", "", &[]), [INVOICE]);
        assert_eq!(desk.paths("what is `invoice` for?", "", &[]), [INVOICE]);
        assert_eq!(desk.paths("the billing of an invoice rounds wrongly", "", &[]), [""; 0], "plain words");
        assert_eq!(desk.paths("why does `round_half_up` round wrongly?", "", &[]), [""; 0]);
        assert_eq!(desk.paths("hello", "", &[]), [""; 0]);
        let rule = "[[rule]]\ntool = \"read_file\"\npath = \"src/billing/**\"\ndecision = \"deny\"\n";
        assert_eq!(desk.paths("the totals in invoice.rs are wrong", rule, &[]), [""; 0]);
        let files = Files::new(&desk.work, Vec::new()).unwrap();
        assert!(!desk.indexes.of(files.locate(".", Access::Read).unwrap()).exists());
    }

    #[test]
    fn a_tree_that_takes_too_long_is_not_looked_through_again_without_an_index() {
        let desk = Desk::new();
        let request = "the totals in invoice.rs are wrong";
        desk.longest.set(Duration::ZERO);
        assert_eq!(desk.paths("hello", "", &[]), [""; 0]);
        assert!(!desk.is_big.load(Ordering::Relaxed), "nothing was looked for");
        assert_eq!(desk.paths(request, "", &[]), [""; 0]);
        desk.longest.set(Duration::from_secs(60));
        assert_eq!(desk.paths(request, "", &[]), [""; 0], "there is time now, but it is not taken");
        desk.index();
        assert_eq!(desk.paths(request, "", &[]), [INVOICE]);
    }
}
