//! Which files are looked at, and how they are read.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::layer::Lines;
use crate::notice::Notice;
use crate::origin::{Layer, Origin, Source};

/// No configuration is nearly as large; what is larger is something else.
const MOST_BYTES: u64 = 1 << 20;

/// A file that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// The layer it makes.
    pub layer: Layer,
    /// Its path.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
}

/// A file that is there, with its text or what keeps it from being read.
pub(crate) struct Found {
    /// The file.
    pub(crate) origin: Origin,
    pub(crate) text: Result<String, Notice>,
}

/// Looks for all files, in the order of the layers; returns what was looked at and what was found.
pub(crate) fn find(env: &Env, cwd: &Path) -> (Vec<ConfigFile>, Vec<Found>) {
    let mut search = Search { env, files: Vec::new(), found: Vec::new() };
    search.look(Layer::User, user_file(env));
    search.look_for_project(cwd);
    (search.files, search.found)
}

/// The user's settings.
pub(crate) fn user_file(env: &Env) -> PathBuf {
    env.config_dir().join("config.toml")
}

struct Search<'a> {
    env: &'a Env,
    files: Vec<ConfigFile>,
    found: Vec<Found>,
}

impl Search<'_> {
    /// The nearest folder that has any of the files is the project; a git repository is not left.
    /// Outside of one only the folder itself counts: the folders above it may be anybody's.
    fn look_for_project(&mut self, cwd: &Path) {
        let cwd = std::path::absolute(cwd).unwrap_or_else(|_| cwd.to_owned());
        let in_repository = cwd.ancestors().any(|folder| folder.join(".git").exists());
        let folders = cwd.ancestors().take(if in_repository { usize::MAX } else { 1 });
        for folder in folders {
            let found_before = self.found.len();
            let neco = folder.join(".neco");
            // With `NECO_HOME=~/.neco` the user's own file lies where a project's would.
            let is_the_users = same_folder(&neco, self.env.config_dir());
            if !is_the_users {
                self.look(Layer::Project, neco.join("config.toml"));
            }
            self.look(Layer::Agents, folder.join(".agents").join("config.toml"));
            if !is_the_users {
                self.look(Layer::Local, neco.join("config.local.toml"));
            }
            if self.found.len() > found_before || folder.join(".git").exists() {
                return;
            }
        }
    }

    fn look(&mut self, layer: Layer, path: PathBuf) {
        let origin = origin_of(self.env, layer, &path);
        let text = read_text(&path, &origin);
        let exists = text.is_some();
        self.found.extend(text.map(|text| Found { origin, text }));
        self.files.push(ConfigFile { layer, path, exists });
    }
}

/// A file as the place that settings come from.
pub(crate) fn origin_of(env: &Env, layer: Layer, path: &Path) -> Origin {
    Origin::new(layer, Source::File { path: path.to_owned(), shown: env.shown(path) })
}

/// The text of the file that `origin` names, or what keeps it from being read; nothing when there is none.
pub(crate) fn read_text(path: &Path, origin: &Origin) -> Option<Result<String, Notice>> {
    let text = match read(path, origin.layer).transpose()? {
        Ok(bytes) => decode(bytes, origin),
        Err(error) => Err(Notice::about(origin, format!("can't be read: {error}"))),
    };
    Some(text)
}

/// The bytes of a small file, or nothing when there is none; the same care as for our own settings.
/// What lies `in_repository` must belong to the user or the machine.
/// Fails when it can't be read, is no regular file, is too large, or belongs to someone else.
pub fn read_small_file(path: &Path, in_repository: bool) -> io::Result<Option<Vec<u8>>> {
    read(path, if in_repository { Layer::Project } else { Layer::User })
}

/// The bytes of a file, or nothing when there is none.
fn read(path: &Path, layer: Layer) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open_regular(path, layer)? else { return Ok(None) };
    let mut bytes = Vec::with_capacity(usize::try_from(file.metadata()?.len().min(MOST_BYTES)).unwrap_or_default());
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("larger than {MOST_BYTES} bytes")));
    }
    Ok(Some(bytes))
}

/// A file to be read that may be large, or nothing when there is none; the same care as for our own settings.
/// What lies `in_repository` must belong to the user or the machine.
/// Fails when it can't be read, is no regular file, or belongs to someone else.
pub fn open_regular_file(path: &Path, in_repository: bool) -> io::Result<Option<fs::File>> {
    open_regular(path, if in_repository { Layer::Project } else { Layer::User })
}

/// Whether a place that a folder brings lies in it, wherever links on the way to it lead. What is not there does not.
pub fn stays_in(place: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(place).is_some_and(|place| real(folder).is_some_and(|folder| place.starts_with(folder)))
}

/// Only regular files: a repository could hold a pipe that never ends, or a link to a device. What
/// was opened is judged, as the name could lead elsewhere a moment later.
fn open_regular(path: &Path, layer: Layer) -> io::Result<Option<fs::File>> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a file"));
    }
    if layer.is_from_repository() && !is_ours(&metadata) {
        return Err(io::Error::other("it belongs to another user"));
    }
    Ok(Some(file))
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// Whether a file is the user's own or the machine's: in a shared folder anybody could leave one.
#[cfg(unix)]
fn is_ours(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == 0 || metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_ours(_metadata: &fs::Metadata) -> bool {
    true
}

fn decode(bytes: Vec<u8>, origin: &Origin) -> Result<String, Notice> {
    String::from_utf8(bytes).map_err(|error| {
        let end = error.utf8_error().valid_up_to();
        let valid = String::from_utf8_lossy(error.as_bytes().get(..end).unwrap_or_default());
        let position = Lines::of(&valid).position(end);
        Notice::about(&origin.at(Some(position)), "not UTF-8 text")
    })
}

pub(crate) fn same_folder(one: &Path, other: &Path) -> bool {
    let same = |one: PathBuf| other.canonicalize().is_ok_and(|other| one == other);
    one == other || one.canonicalize().is_ok_and(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    fn found(env: &Env, root: &Path, cwd: &str) -> Vec<String> {
        let cwd = root.join(cwd);
        fs::create_dir_all(&cwd).unwrap();
        let (files, found) = find(env, &cwd);
        assert_eq!(files.iter().filter(|file| file.exists).count(), found.len());
        let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
        found.iter().map(|file| format!("{} {}", file.origin.layer, name(file.origin.file().unwrap()))).collect()
    }

    #[test]
    fn the_nearest_folder_counts_and_git_is_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in [
            "home/.config/neco/config.toml",
            "repo/.git/HEAD",
            "repo/.neco/config.local.toml",
            "repo/.agents/config.toml",
            "repo/.neco/config.toml",
            "repo/part/.neco/config.toml",
            "repo/inner/.git",
            "repo/only-agents/.agents/config.toml",
        ] {
            write(root, file);
        }
        let env = Env::for_test([], root.join("home"));
        let user = "user home/.config/neco/config.toml";
        let cases: &[(&str, &[&str])] = &[
            (
                "repo/deep/er",
                &[
                    user,
                    "project repo/.neco/config.toml",
                    "agents repo/.agents/config.toml",
                    "local repo/.neco/config.local.toml",
                ],
            ),
            ("repo/part/x", &[user, "project repo/part/.neco/config.toml"]),
            ("repo/inner/x", &[user]),
            ("repo/only-agents", &[user, "agents repo/only-agents/.agents/config.toml"]),
        ];
        for (cwd, expected) in cases {
            assert_eq!(&found(&env, root, cwd), expected, "{cwd}");
        }
    }

    #[test]
    fn the_users_own_folder_is_not_a_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in [".git", ".neco/config.toml", ".neco/config.local.toml", "work/.git"] {
            write(root, file);
        }
        let home = root.join(".neco");
        let env = Env::for_test([("NECO_HOME", home.to_str().unwrap())], root);
        assert_eq!(found(&env, root, "elsewhere"), ["user .neco/config.toml"]);
        assert_eq!(found(&env, root, "work"), ["user .neco/config.toml"]);
    }

    #[test]
    fn outside_a_repository_only_the_folder_itself_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "shared/.neco/config.toml");
        write(root, "shared/mine/.agents/config.toml");
        let env = Env::for_test([], root.join("home"));
        assert_eq!(found(&env, root, "shared"), ["project shared/.neco/config.toml"]);
        assert_eq!(found(&env, root, "shared/mine"), ["agents shared/mine/.agents/config.toml"]);
        assert!(found(&env, root, "shared/other").is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_another_user_is_not_a_projects() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".neco/config.toml");
        write(folder.path(), ".neco/config.toml");
        if std::os::unix::fs::chown(&path, Some(12345), None).is_err() {
            // Only root can give files away; everyone else sees that their own are read.
            assert!(read(&path, Layer::Project).unwrap().is_some());
            return;
        }
        assert!(read(&path, Layer::Project).unwrap_err().to_string().contains("another user"));
        assert!(read(&path, Layer::User).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert_eq!(read(&path, Layer::Project).unwrap_err().to_string(), "not a file");
    }

    #[test]
    fn what_is_no_text_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let env = Env::for_test([], root.join("home"));
        write(root, "repo/.git");
        let path = root.join("repo/.neco/config.toml");
        let said = |env: &Env| match find(env, &root.join("repo")).1.pop().unwrap().text {
            Ok(text) => panic!("read: {text}"),
            Err(notice) => notice.to_string(),
        };
        fs::create_dir_all(&path).unwrap();
        assert!(said(&env).ends_with("config.toml: can't be read: not a file"));
        fs::remove_dir(&path).unwrap();
        fs::write(&path, vec![b'#'; 1 << 21]).unwrap();
        assert!(said(&env).ends_with("can't be read: larger than 1048576 bytes"));
        fs::write(&path, b"a = 1\nb = \"\xff\"").unwrap();
        assert!(said(&env).ends_with("config.toml:2:6: not UTF-8 text"));
        fs::remove_dir_all(root.join("repo/.neco")).unwrap();
        fs::write(root.join("repo/.neco"), "a file").unwrap();
        assert!(find(&env, &root.join("repo")).1.is_empty());
    }
}
