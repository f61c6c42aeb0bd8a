//! The process environment, read once: variables, the home folder, where config and data live.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::ahead::Ahead;

/// What the process was started with. The only place that reads `std::env`.
#[derive(Clone, PartialEq, Eq)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
    home: PathBuf,
    config_dir: PathBuf,
    data_dir: PathBuf,
    pub(crate) ahead: Ahead,
}

impl Env {
    /// Captures the environment of this process.
    ///
    /// Without a home folder (an unknown user in a container) the root folder stands in for it,
    /// as it does for shells.
    pub fn from_process() -> Self {
        let home = etcetera::home_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self::new(std::env::vars_os().collect(), home)
    }

    /// The same, and the user's settings are read from now on, beside what the process begins with.
    #[must_use]
    pub fn reading_ahead(self) -> Self {
        Self { ahead: Ahead::begin(&self), ..self }
    }

    /// An environment written by hand: nothing of the process leaks into it.
    pub fn for_test<'a>(vars: impl IntoIterator<Item = (&'a str, &'a str)>, home: impl Into<PathBuf>) -> Self {
        Self::new(vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect(), home.into())
    }

    fn new(vars: BTreeMap<OsString, OsString>, home: PathBuf) -> Self {
        let set = |name: &str| vars.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(PathBuf::from);
        let (config_dir, data_dir) = match set("NECO_HOME") {
            Some(moved) => {
                // Relative means relative to where the process started, not to where it goes later.
                let moved = std::path::absolute(&moved).unwrap_or(moved);
                (moved.clone(), moved.join("data"))
            }
            None => {
                // The XDG specification: a path that is not absolute is to be ignored.
                let xdg = |name: &str| set(name).filter(|path| path.is_absolute());
                let config = xdg("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
                let data = xdg("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local").join("share"));
                (config.join("neco"), data.join("neco"))
            }
        };
        Self { vars, home, config_dir, data_dir, ahead: Ahead::default() }
    }

    /// The same with configuration and data in `neco_home`, and without settings of the person's variables.
    pub fn moved_to(&self, neco_home: &Path) -> Self {
        let mut vars = self.vars.clone();
        vars.retain(|name, _| !name.to_string_lossy().starts_with("NECO_"));
        vars.insert("NECO_HOME".into(), neco_home.into());
        Self::new(vars, self.home.clone())
    }

    /// The value of a variable; `None` when it is not set or not UTF-8.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.var_os(name)?.to_str()
    }

    /// The value of a variable as the system gave it.
    pub fn var_os(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Whether a variable has a value that is not empty, which is how `NO_COLOR` and its like are meant.
    pub fn is_set(&self, name: &str) -> bool {
        self.var_os(name).is_some_and(|value| !value.is_empty())
    }

    /// Every variable, sorted by name; what a child's environment is built from.
    pub fn vars(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The folder of the user's configuration: `$NECO_HOME`, else `~/.config/neco`.
    pub fn config_dir(&self) -> &Path {
        &self.config_dir
    }

    /// The folder of sessions and everything else that is kept: `$NECO_HOME/data`, else `~/.local/share/neco`.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Finds a program as a shell would: in the folders of `PATH`, or at the path given.
    ///
    /// Relative entries of `PATH` are skipped: a repository must not be able to put a program in
    /// front of the system's.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        if name.is_empty() {
            return None;
        }
        if Path::new(name).components().count() > 1 {
            return self.runnable(Path::new(name));
        }
        std::env::split_paths(self.var_os("PATH")?)
            .filter(|folder| folder.is_absolute())
            .find_map(|folder| self.runnable(&folder.join(name)))
    }

    #[cfg(unix)]
    fn runnable(&self, path: &Path) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let metadata = std::fs::metadata(path).ok()?;
        (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then(|| path.to_owned())
    }

    #[cfg(not(unix))]
    fn runnable(&self, path: &Path) -> Option<PathBuf> {
        let endings = self.var("PATHEXT").unwrap_or(".COM;.EXE;.BAT;.CMD");
        let with_ending = endings.split(';').map(|ending| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        });
        let as_given = path.extension().map(|_| path.to_owned());
        as_given.into_iter().chain(with_ending).find(|candidate| candidate.is_file())
    }

    /// A path as people write it: below the home folder with `~`, without characters that steer a terminal.
    pub fn shown(&self, path: &Path) -> String {
        let text = match path.strip_prefix(&self.home) {
            Ok(rest) if self.home.parent().is_some() => Path::new("~").join(rest).display().to_string(),
            _ => path.display().to_string(),
        };
        crate::trail::visible(&text)
    }
}

/// Names only: values may be secrets, and what is printed for debugging ends up in logs.
impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env")
            .field("vars", &self.vars.keys())
            .field("home", &self.home)
            .field("config_dir", &self.config_dir)
            .field("data_dir", &self.data_dir)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_follow_neco_home_then_xdg_then_home() {
        for (vars, config, data) in [
            (&[][..], "/h/.config/neco", "/h/.local/share/neco"),
            (&[("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d")], "/c/neco", "/d/neco"),
            (&[("XDG_CONFIG_HOME", "c"), ("XDG_DATA_HOME", "")], "/h/.config/neco", "/h/.local/share/neco"),
            (&[("NECO_HOME", "/n"), ("XDG_CONFIG_HOME", "/c")], "/n", "/n/data"),
            (&[("NECO_HOME", "")], "/h/.config/neco", "/h/.local/share/neco"),
        ] {
            let env = Env::for_test(vars.iter().copied(), "/h");
            assert_eq!((env.config_dir(), env.data_dir()), (Path::new(config), Path::new(data)), "{vars:?}");
        }
        assert!(Env::for_test([("NECO_HOME", "relative")], "/h").config_dir().is_absolute());
    }

    #[test]
    fn an_empty_variable_is_there_but_not_set() {
        let env = Env::for_test([("NO_COLOR", ""), ("TERM", "dumb")], "/h");
        assert_eq!((env.var("NO_COLOR"), env.is_set("NO_COLOR")), (Some(""), false));
        assert_eq!((env.var("TERM"), env.is_set("TERM")), (Some("dumb"), true));
        assert_eq!((env.var("LANG"), env.is_set("LANG")), (None, false));
        assert_eq!(env.vars().map(|(name, _)| name.to_str().unwrap()).collect::<Vec<_>>(), ["NO_COLOR", "TERM"]);
    }

    #[test]
    fn debug_output_holds_no_values() {
        let printed = format!("{:?}", Env::for_test([("OPENAI_API_KEY", "sk-hidden")], "/h"));
        assert!(printed.contains("OPENAI_API_KEY") && !printed.contains("sk-hidden"), "{printed}");
    }

    #[test]
    fn the_process_has_a_home_and_its_variables() {
        let env = Env::from_process();
        assert_eq!(env.var_os("PATH"), std::env::var_os("PATH").as_deref());
        assert!(env.config_dir().is_absolute() && env.data_dir().is_absolute());
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_found_in_absolute_folders_only_and_must_be_executable() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [("run", 0o755), ("data", 0o644)] {
            let path = folder.path().join(name);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let path = format!(".::{}", folder.path().display());
        let env = Env::for_test([("PATH", path.as_str())], "/h");
        assert_eq!(env.find_program("run"), Some(folder.path().join("run")));
        let full = folder.path().join("run");
        assert_eq!(env.find_program(full.to_str().unwrap()), Some(full));
        for missing in ["data", "folder", "nothing", "", "Cargo.toml"] {
            assert_eq!(env.find_program(missing), None, "{missing}");
        }
        assert_eq!(Env::for_test([], "/h").find_program("run"), None);
    }

    #[test]
    fn paths_are_shown_short_and_tame() {
        let env = Env::for_test([], "/h");
        assert_eq!(env.shown(Path::new("/h/a/b")), "~/a/b");
        assert_eq!(env.shown(Path::new("/hh/a")), "/hh/a");
        assert_eq!(env.shown(Path::new("/x\u{1b}[31m")), "/x\u{fffd}[31m");
        assert_eq!(Env::for_test([], "/").shown(Path::new("/etc/x")), "/etc/x");
    }
}
