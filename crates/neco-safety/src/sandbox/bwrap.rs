//! The command line of bubblewrap for a box. Pure.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::layout::{Layout, Seen};

/// What a box is made of.
pub(super) struct Construction<'a> {
    /// What is seen of the machine.
    pub(super) layout: &'a Layout,
    /// Things of ours that cover others.
    pub(super) covers: &'a Covers,
    /// What is seen as `/tmp` and `/var/tmp`.
    pub(super) temporary: &'a Path,
    /// Whether the machine's network is the box's.
    pub(super) network: bool,
    /// Files below `/run` that are seen although the rest of it is not.
    pub(super) from_run: &'a [PathBuf],
    /// The folder that the command starts in.
    pub(super) folder: &'a Path,
    /// Our own program, which starts the command inside.
    pub(super) launcher: &'a Path,
}

/// Where the launcher is seen inside.
pub(super) const LAUNCHER_INSIDE: &str = "/run/neco/launcher";

/// Empty things that cover others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Covers {
    /// A folder that can't be looked into.
    pub(super) closed_folder: PathBuf,
    /// A file that can't be read.
    pub(super) closed_file: PathBuf,
    /// A folder with nothing in it.
    pub(super) empty_folder: PathBuf,
}

/// The arguments of bubblewrap up to the program that it starts.
pub(super) fn arguments(construction: &Construction<'_>) -> Vec<OsString> {
    let mut line = Line::default();
    line.words(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
    if !construction.network {
        line.words(&["--unshare-net"]);
    }
    line.words(&["--hostname", "neco", "--cap-drop", "ALL", "--as-pid-1"]);
    line.words(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]);
    for file in construction.from_run {
        line.bind("--ro-bind", file, file);
    }
    line.bind("--bind", construction.temporary, "/tmp");
    line.bind("--bind", construction.temporary, "/var/tmp");
    for (path, seen) in &construction.layout.places {
        line.place(path, *seen, construction.covers);
    }
    let emptied = construction.layout.seen_as(&[Seen::Emptied]);
    emptied.for_each(|path| line.one("--remount-ro", path));
    line.bind("--ro-bind", construction.launcher, LAUNCHER_INSIDE);
    line.words(&["--remount-ro", "/run"]);
    line.one("--chdir", construction.folder);
    line.words(&["--"]);
    line.0
}

#[derive(Default)]
struct Line(Vec<OsString>);

impl Line {
    fn words(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn one(&mut self, option: &str, path: impl AsRef<OsStr>) {
        self.0.extend([option.into(), path.as_ref().to_owned()]);
    }

    fn bind(&mut self, option: &str, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) {
        self.0.extend([option.into(), from.as_ref().to_owned(), to.as_ref().to_owned()]);
    }

    fn place(&mut self, path: &Path, seen: Seen, covers: &Covers) {
        match seen {
            Seen::Root | Seen::Writable => self.bind("--bind", path, path),
            Seen::ReadOnly | Seen::StandInFile => self.bind("--ro-bind", path, path),
            Seen::StandIn => self.bind("--ro-bind", &covers.empty_folder, path),
            Seen::HiddenFile => self.bind("--ro-bind", &covers.closed_file, path),
            Seen::HiddenFolder => self.bind("--ro-bind", &covers.closed_folder, path),
            Seen::Emptied => {
                self.words(&["--perms", "0700"]);
                self.one("--tmpfs", path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_is_built_from_the_outside_in() {
        let layout = Layout {
            places: vec![
                ("/h/d".into(), Seen::Emptied),
                ("/h/w".into(), Seen::Root),
                ("/h/w/.env".into(), Seen::HiddenFile),
                ("/h/w/.vscode".into(), Seen::StandIn),
            ],
            ..Layout::default()
        };
        let covers = Covers {
            closed_folder: "/c/closed".into(),
            closed_file: "/c/closed-file".into(),
            empty_folder: "/c/empty".into(),
        };
        let construction = Construction {
            layout: &layout,
            covers: &covers,
            temporary: Path::new("/t"),
            network: false,
            from_run: &["/run/r".into()],
            folder: Path::new("/h/w"),
            launcher: Path::new("/bin/neco"),
        };
        let line: Vec<String> =
            arguments(&construction).iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let expected = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net \
            --hostname neco --cap-drop ALL --as-pid-1 --ro-bind / / --dev /dev --proc /proc --tmpfs /run \
            --ro-bind /run/r /run/r --bind /t /tmp --bind /t /var/tmp --perms 0700 --tmpfs /h/d --bind /h/w /h/w \
            --ro-bind /c/closed-file /h/w/.env --ro-bind /c/empty /h/w/.vscode --remount-ro /h/d \
            --ro-bind /bin/neco /run/neco/launcher --remount-ro /run --chdir /h/w --";
        assert_eq!(line.join(" "), expected);
        let open = arguments(&Construction { network: true, ..construction });
        assert!(!open.contains(&OsString::from("--unshare-net")));
    }
}
