//! The command line of bubblewrap for a box. Pure.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::boxed::walls::Walls;
use crate::plan::layout::Seen;

/// Where the launcher is seen inside.
pub(crate) const LAUNCHER_INSIDE: &str = "/run/neco/launcher";

/// The arguments of bubblewrap up to the program that it starts; `launcher` is our own, which starts the
/// command inside.
pub(crate) fn arguments(walls: &Walls, launcher: &Path) -> Vec<OsString> {
    let mut line = Line::default();
    line.words(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
    if !walls.network {
        line.words(&["--unshare-net"]);
    }
    line.words(&["--hostname", "neco", "--cap-drop", "ALL", "--as-pid-1"]);
    line.words(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]);
    for file in &walls.from_run {
        line.bind("--ro-bind", file, file);
    }
    line.bind("--bind", &walls.temporary, "/tmp");
    line.bind("--bind", &walls.temporary, "/var/tmp");
    for (path, seen) in &walls.places {
        line.place(path, *seen, walls);
    }
    let emptied = walls.places.iter().filter(|(_, seen)| *seen == Seen::Emptied);
    emptied.for_each(|(path, _)| line.one("--remount-ro", &**path));
    line.bind("--ro-bind", launcher, LAUNCHER_INSIDE);
    line.words(&["--remount-ro", "/run"]);
    line.one("--chdir", &walls.folder);
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

    fn place(&mut self, path: &Path, seen: Seen, walls: &Walls) {
        let covers = &walls.covers;
        match seen {
            Seen::Root | Seen::Writable => self.bind("--bind", path, path),
            Seen::ReadOnly | Seen::StandInFile => self.bind("--ro-bind", path, path),
            Seen::StandIn => self.bind("--ro-bind", &covers.empty_folder, path),
            Seen::HiddenFile => self.bind("--ro-bind", walls.cover_of_file(path), path),
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
        let covers = crate::boxed::walls::Covers {
            closed_folder: "/c/closed".into(),
            closed_file: "/c/closed-file".into(),
            empty_folder: "/c/empty".into(),
        };
        let walls = Walls {
            places: vec![
                ("/h/d".into(), Seen::Emptied),
                ("/h/w".into(), Seen::Root),
                ("/h/w/.env".into(), Seen::HiddenFile),
                ("/h/w/.vscode".into(), Seen::StandIn),
            ],
            identities: Vec::new(),
            covers,
            instead: vec![("/h/w/.env".into(), "/c/added".into())],
            temporary: "/t".into(),
            network: false,
            from_run: vec!["/run/r".into()],
            folder: "/h/w".into(),
        };
        let neco = Path::new("/bin/neco");
        let line: Vec<String> =
            arguments(&walls, neco).iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let expected = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net \
            --hostname neco --cap-drop ALL --as-pid-1 --ro-bind / / --dev /dev --proc /proc --tmpfs /run \
            --ro-bind /run/r /run/r --bind /t /tmp --bind /t /var/tmp --perms 0700 --tmpfs /h/d --bind /h/w /h/w \
            --ro-bind /c/added /h/w/.env --ro-bind /c/empty /h/w/.vscode --remount-ro /h/d \
            --ro-bind /bin/neco /run/neco/launcher --remount-ro /run --chdir /h/w --";
        assert_eq!(line.join(" "), expected);
        let open = arguments(&Walls { network: true, ..walls }, neco);
        assert!(!open.contains(&OsString::from("--unshare-net")));
    }
}
