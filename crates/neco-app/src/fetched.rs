//! Folders of others: those of this machine, and copies of git repositories, in which nothing is run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use neco_config::Env;
use neco_ext::folder_files::{FolderFiles, Limits as FolderLimits};
use neco_ext::plugins::Source;
use neco_proto::app::AppError;
use neco_workspace::worktree_git::LEADS_ELSEWHERE;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::error::{failed, invalid};
use crate::opening::on_thread;

/// How long a repository may take to come.
const LONGEST: Duration = Duration::from_secs(300);

/// Bytes that git may keep of a repository, with the files that it writes, and how many of these.
const MOST: Room = Room { bytes: 512 * 1024 * 1024, entries: 100_000 };

/// Bytes of what git prints that are kept.
const MOST_PRINTED: u64 = 64 * 1024;

/// How often it is looked how much that is.
const LOOK: Duration = Duration::from_millis(100);

/// A folder that was fetched; a copy of a repository is gone with it.
pub(crate) struct Fetched {
    /// The folder.
    pub folder: PathBuf,
    /// The commit of the repository that it was copied from.
    pub commit: Option<String>,
    copy: Option<Arc<TempDir>>,
}

impl Fetched {
    /// A copy that nobody else has of a folder of it, where this is none: what is looked at is what is taken over,
    /// whatever others write meanwhile.
    pub(crate) fn hold(&self, folder: PathBuf, limits: FolderLimits) -> Result<Held, AppError> {
        if let Some(copy) = &self.copy {
            return Ok(Held { folder, _copy: Arc::clone(copy) });
        }
        let copy = tempfile::tempdir().map_err(failed)?;
        // What says nothing of its name is called like its folder.
        let to = copy.path().join(folder.file_name().unwrap_or("folder".as_ref()));
        let files = FolderFiles::of(&folder, limits).map_err(invalid)?;
        files.copy_to(&to).map_err(|(path, error)| failed(format!("{}: {error}", path.display())))?;
        // What is left out is told, so it has to be seen.
        files.left_out().try_for_each(|name| fs::create_dir_all(to.join(name))).map_err(failed)?;
        Ok(Held { folder: to, _copy: Arc::new(copy) })
    }
}

/// A folder that nobody else writes to; the copy that it lies in is gone with the last that is held of it.
pub(crate) struct Held {
    /// The folder.
    pub folder: PathBuf,
    _copy: Arc<TempDir>,
}

/// Does what may fetch something on a thread of its own. Where nobody waits for it any longer, git is ended.
pub(crate) async fn until_dropped<T: Send + 'static>(
    work: impl FnOnce(&CancellationToken) -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    let gone = CancellationToken::new();
    let seen = gone.clone();
    let _dropped = gone.drop_guard();
    on_thread(move || work(&seen)).await
}

/// Fetches a folder or a repository, unless whoever wants it is `gone`; gives where in it the wanted folder is. It blocks
/// for as long as that takes.
///
/// # Errors
/// When git can't fetch it, or what is wanted is not in it.
pub(crate) fn fetch(env: &Env, source: &Source, gone: &CancellationToken) -> Result<(Fetched, PathBuf), AppError> {
    let (fetched, below) = match source {
        Source::Folder(folder) => (Fetched { folder: folder.clone(), commit: None, copy: None }, None),
        Source::Git { address, reference, below } => {
            let limits = Limits { longest: LONGEST, most: MOST, gone };
            (copy_of(env, address, reference.as_deref(), limits)?, below.as_ref())
        }
        Source::Listed { .. } => {
            return Err(invalid("a marketplace lists plugins alone: name a folder or the address of a git repository"));
        }
    };
    let Some(below) = below else {
        let at = fetched.folder.clone();
        return Ok((fetched, at));
    };
    let at = fetched.folder.join(below).canonicalize().map_err(failed)?;
    if !at.starts_with(fetched.folder.canonicalize().map_err(failed)?) {
        return Err(invalid(format!("{} leads out of the repository", below.display())));
    }
    Ok((fetched, at))
}

/// A copy of a git repository at a branch, a tag or a commit, without its history. Links in it become files, and nothing
/// of it is run.
fn copy_of(env: &Env, address: &str, reference: Option<&str>, limits: Limits<'_>) -> Result<Fetched, AppError> {
    let copy = tempfile::tempdir().map_err(failed)?;
    // What says nothing of its name is called like the repository.
    let folder = copy.path().join(name_of(address));
    fs::create_dir(&folder).map_err(failed)?;
    let git = Git { folder: &folder, address, until: Instant::now() + limits.longest, limits, ssh: None };
    git.run(&["init", "--quiet", "--template="])?;
    let info = folder.join(".git/info");
    fs::create_dir_all(&info).and_then(|()| fs::write(info.join("attributes"), AS_COMMITTED)).map_err(failed)?;
    let git = Git { ssh: git.ssh(env), ..git };
    let reference = reference.unwrap_or("HEAD");
    git.run(&["fetch", "--quiet", "--depth", "1", "--no-recurse-submodules", "--", address, reference])?;
    git.refuse_too_much()?;
    git.run(&["checkout", "--quiet", "FETCH_HEAD"])?;
    let commit = git.run(&["rev-parse", "HEAD"])?;
    Ok(Fetched { folder, commit: Some(commit), copy: Some(Arc::new(copy)) })
}

/// What a repository is called.
fn name_of(address: &str) -> &str {
    let last = address.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let name = last.strip_suffix(".git").unwrap_or(last);
    if name.trim_matches('.').is_empty() { "repository" } else { name }
}

/// Without what a repository could have git run, and without links. A connection that brings nothing is given up.
const HELD: [&str; 7] = [
    "protocol.ext.allow=never",
    "core.askPass=",
    "core.hooksPath=/dev/null",
    "core.symlinks=false",
    "core.fsmonitor=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
];

/// Files are written as they were committed: no filter of the person's own, such as git-lfs, runs on what a stranger
/// wrote, whatever the repository says of its files.
const AS_COMMITTED: &str = "* -filter -ident -text !working-tree-encoding\n";

/// How much a repository may be, and who waits for it.
#[derive(Clone, Copy)]
struct Limits<'a> {
    longest: Duration,
    most: Room,
    /// Nobody waits for it any longer.
    gone: &'a CancellationToken,
}

/// Room on a disk.
#[derive(Clone, Copy)]
struct Room {
    bytes: u64,
    entries: usize,
}

impl Room {
    /// Takes the room of a file; says whether there is so much.
    fn takes(&mut self, bytes: u64) -> bool {
        let left = self.bytes.checked_sub(bytes).zip(self.entries.checked_sub(1));
        if let Some(left) = left {
            (self.bytes, self.entries) = left;
        }
        left.is_some()
    }

    /// Whether what a folder holds has room in it.
    fn holds(mut self, folder: &Path) -> bool {
        let mut open = vec![folder.to_owned()];
        while let Some(here) = open.pop() {
            // What is gone by now takes no room.
            for entry in fs::read_dir(here).into_iter().flatten().flatten() {
                let Ok(facts) = entry.metadata() else { continue };
                if !self.takes(facts.len()) {
                    return false;
                }
                open.extend(facts.is_dir().then(|| entry.path()));
            }
        }
        true
    }
}

/// The first of what is printed; the rest is read too, so that it can be printed.
async fn first_of(mut from: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    (&mut from).take(MOST_PRINTED).read_to_end(&mut first).await?;
    tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    Ok(first)
}

/// Git and what it starts to reach a server: none of them outlives the wait for it.
struct Group(Option<Pid>);

impl Group {
    fn of(leader: &Child) -> Self {
        Self(leader.id().and_then(|id| Pid::from_raw(id.try_into().ok()?)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Those of a group that has ended are gone.
        let _ = self.0.map(|leader| kill_process_group(leader, Signal::KILL));
    }
}

/// How git is run in the folder of a copy.
struct Git<'a> {
    folder: &'a Path,
    address: &'a str,
    /// When it has to be over.
    until: Instant,
    limits: Limits<'a>,
    /// What reaches a server, where git does not know by itself.
    ssh: Option<String>,
}

impl Git<'_> {
    /// Runs git to its end and gives what it printed. It asks nobody anything: nobody may be there to answer.
    fn run(&self, words: &[&str]) -> Result<String, AppError> {
        let mut printed = Vec::new();
        self.run_with(words, async |from| {
            printed = first_of(from).await?;
            Ok(true)
        })?;
        Ok(String::from_utf8_lossy(&printed).trim().to_owned())
    }

    /// Refuses what was fetched if there is no room for its files: git makes a list of all before it writes the first.
    fn refuse_too_much(&self) -> Result<(), AppError> {
        self.run_with(&["ls-tree", "-r", "-l", "-z", "FETCH_HEAD"], async |from| {
            let (mut from, mut entry, mut left) = (BufReader::new(from), Vec::new(), self.limits.most);
            while from.read_until(0, &mut entry).await? > 0 {
                // Mode, kind, object, size and, behind a tab, the path.
                let size = entry
                    .split(|byte| *byte == b'\t')
                    .next()
                    .and_then(|facts| str::from_utf8(facts).ok()?.split_ascii_whitespace().nth(3)?.parse::<u64>().ok());
                if !left.takes(size.unwrap_or(0)) {
                    return Ok(false);
                }
                entry.clear();
            }
            Ok(true)
        })
        .map(drop)
    }

    /// Runs git to its end while somebody reads what it prints, and says whether it is not too much.
    fn run_with(
        &self,
        words: &[&str],
        read: impl AsyncFnOnce(ChildStdout) -> io::Result<bool>,
    ) -> Result<(), AppError> {
        let address = neco_config::without_secrets(self.address);
        let not_run = |error| failed(format!("git could not be run: {error}"));
        let (status, said) = Handle::current().block_on(async {
            let mut child = self.command(words).spawn().map_err(not_run)?;
            let _group = Group::of(&child);
            let (Some(out), Some(told)) = (child.stdout.take(), child.stderr.take()) else {
                return Err(not_run(io::ErrorKind::BrokenPipe.into()));
            };
            let ran = async {
                let read = async { read(out).await?.then_some(()).ok_or_else(|| io::ErrorKind::FileTooLarge.into()) };
                let ((), said) = tokio::try_join!(read, first_of(told))?;
                io::Result::Ok((child.wait().await?, said))
            };
            tokio::select! {
                ran = ran => ran.map_err(|error| match error.kind() {
                    io::ErrorKind::FileTooLarge => self.too_much(&address),
                    _ => not_run(error),
                }),
                () = sleep_until(self.until) => {
                    Err(failed(format!("git could not fetch {address} in time; it was stopped")))
                }
                () = self.outgrown() => Err(self.too_much(&address)),
                () = self.limits.gone.cancelled() => Err(failed("nobody waits for it any longer")),
            }
        })?;
        match status.success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(&said).trim().to_owned();
                Err(failed(format!("git could not fetch {address}: {said}")))
            }
        }
    }

    fn too_much(&self, address: &str) -> AppError {
        failed(format!(
            "git was stopped: {address} is larger than {} MB, or has more than {} files",
            self.limits.most.bytes / 1024 / 1024,
            self.limits.most.entries
        ))
    }

    /// Ready when there is no more room for what git writes.
    async fn outgrown(&self) {
        while self.limits.most.holds(self.folder) {
            sleep(LOOK).await;
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("git");
        for name in LEADS_ELSEWHERE {
            command.env_remove(name);
        }
        command.arg("-C").arg(self.folder).args(HELD.iter().flat_map(|setting| ["-c", setting])).args(words);
        // No program that asks for a password is started either.
        command.env_remove("GIT_ASKPASS").env_remove("SSH_ASKPASS").env("GIT_TERMINAL_PROMPT", "0");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).process_group(0);
        if let Some(ssh) = &self.ssh {
            command.env("GIT_SSH_COMMAND", ssh);
        }
        command
    }

    /// What the person set; else one that asks for no password, and does not wait for a server that is not there.
    fn ssh(&self, env: &Env) -> Option<String> {
        let is_set = || env.is_set("GIT_SSH") || self.run(&["config", "--get", "core.sshCommand"]).is_ok();
        match env.var("GIT_SSH_COMMAND") {
            Some(own) => Some(own.to_owned()),
            None if is_set() => None,
            None => Some("ssh -o BatchMode=yes -o ConnectTimeout=30".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fetches from a server that is reached by a command line.
    fn reached_by(ssh: &str, longest: Duration) -> String {
        let place = tempfile::tempdir().unwrap();
        let env = Env::for_test([("GIT_SSH_COMMAND", ssh)], place.path());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let _entered = runtime.enter();
        let gone = CancellationToken::new();
        let limits = Limits { longest, most: MOST, gone: &gone };
        copy_of(&env, "ssh://h/x", None, limits).err().unwrap().message
    }

    /// A repository with these files; what was committed last.
    fn repository(folder: &Path, files: &[(&str, &str)]) -> String {
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
        let git = |words: &[&str]| {
            let ran = std::process::Command::new("git").arg("-C").arg(folder).args(words).output().unwrap();
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            String::from_utf8_lossy(&ran.stdout).trim().to_owned()
        };
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "x"]);
        git(&["rev-parse", "HEAD"])
    }

    fn fetched(folder: &Path, most: Room, gone: &CancellationToken) -> Result<Fetched, AppError> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let _entered = runtime.enter();
        let env = Env::for_test([], folder);
        copy_of(&env, &format!("file://{}", folder.display()), None, Limits { longest: LONGEST, most, gone })
    }

    #[test]
    fn files_come_as_they_were_committed_whatever_the_repository_says_of_them() {
        let place = tempfile::tempdir().unwrap();
        let says = "*.md text eol=crlf ident\n";
        let commit = repository(place.path(), &[(".gitattributes", says), ("a.md", "$Id$\nb\n")]);
        let copy = fetched(place.path(), MOST, &CancellationToken::new()).unwrap();
        assert_eq!(copy.commit, Some(commit));
        assert_eq!(fs::read_to_string(copy.folder.join("a.md")).unwrap(), "$Id$\nb\n");
    }

    #[test]
    fn a_repository_that_outgrows_its_room_is_given_up() {
        let place = tempfile::tempdir().unwrap();
        repository(place.path(), &[("a", "x")]);
        for most in [Room { bytes: 1, ..MOST }, Room { entries: 2, ..MOST }] {
            let said = fetched(place.path(), most, &CancellationToken::new()).err().unwrap().message;
            assert!(said.contains("git was stopped"), "{said}");
        }
    }

    #[test]
    fn a_repository_of_endless_files_is_refused_before_they_are_listed() {
        let place = tempfile::tempdir().unwrap();
        let git = |words: &[&str], said: &str| {
            let mut git = std::process::Command::new("git");
            git.arg("-C").arg(place.path()).args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut git = git.spawn().unwrap();
            io::Write::write_all(&mut git.stdin.take().unwrap(), said.as_bytes()).unwrap();
            String::from_utf8(git.wait_with_output().unwrap().stdout).unwrap().trim().to_owned()
        };
        git(&["init", "--quiet"], "");
        let mut object = git(&["hash-object", "-w", "--stdin"], "x");
        // Ten folders of ten folders, and so on: a billion files.
        for depth in 0..9 {
            let kind = if depth == 0 { "100644 blob" } else { "040000 tree" };
            let tree: String = (0..10).map(|name| format!("{kind} {object}\t{name}\n")).collect();
            object = git(&["mktree"], &tree);
        }
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "x", &object];
        let commit = git(&who, "");
        git(&["update-ref", "HEAD", &commit], "");
        let said = fetched(place.path(), MOST, &CancellationToken::new()).err().unwrap().message;
        assert!(said.contains("git was stopped") && said.contains("100000 files"), "{said}");
    }

    #[test]
    fn what_git_starts_ends_with_it_and_a_repository_has_its_name() {
        let place = tempfile::tempdir().unwrap();
        let started = place.path().join("pid");
        let ssh = format!("echo $$ > {}; exec cat #", started.display());
        reached_by(&ssh, Duration::from_millis(700));
        let pid = fs::read_to_string(&started).unwrap();
        // What was killed is gone in a moment, or waits for whoever inherits it to take note of it.
        let stat = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let is_gone = || stat().is_empty() || stat().contains(") Z ");
        assert!(
            (0..200).any(|_| is_gone() || {
                std::thread::sleep(Duration::from_millis(50));
                false
            }),
            "{}",
            stat()
        );
        for (address, name) in [
            ("https://h/a/tools.git", "tools"),
            ("git@h:a/b/", "b"),
            ("file:///srv/x", "x"),
            ("ssh://h/..", "repository"),
        ] {
            assert_eq!(name_of(address), name);
        }
    }

    #[test]
    fn nobody_fetches_for_whoever_is_gone() {
        let started = std::time::Instant::now();
        let place = tempfile::tempdir().unwrap();
        let env = Env::for_test([("GIT_SSH_COMMAND", "cat #")], place.path());
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (ended, end) = std::sync::mpsc::channel();
        runtime.block_on(async {
            let source = Source::Git { address: "ssh://h/x".to_owned(), reference: None, below: None };
            let wanted = until_dropped(move |gone| {
                let said = fetch(&env, &source, gone).err().map(|error| error.message);
                ended.send(said).unwrap();
                Ok(())
            });
            assert!(tokio::time::timeout(Duration::from_millis(300), wanted).await.is_err());
        });
        let said = end.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(said.as_deref(), Some("nobody waits for it any longer"));
        assert!(started.elapsed() < LONGEST);
    }

    #[test]
    fn a_server_that_never_answers_is_given_up() {
        let said = reached_by("cat #", Duration::from_millis(500));
        assert!(said.ends_with("in time; it was stopped"), "{said}");
    }

    #[test]
    fn the_persons_own_way_to_a_server_is_taken() {
        let said = reached_by("echo own way >&2; false #", LONGEST);
        assert!(said.contains("own way"), "{said}");
    }
}
