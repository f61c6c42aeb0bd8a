//! Where a run happens: a home, a workspace and nothing of the user's own.

use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where a run happens. Gone when dropped.
pub struct Stage {
    folder: TempDir,
    more: String,
}

impl Stage {
    /// A new one below `parent`: an empty home, and a workspace under git.
    pub fn new(parent: &Path) -> anyhow::Result<Self> {
        let stage = Self { folder: TempDir::with_prefix_in("neco-bench-", parent)?, more: String::new() };
        fs::create_dir(stage.home())?;
        stage.write(".git/HEAD", "ref: refs/heads/main\n")?;
        stage.write(".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")?;
        fs::create_dir_all(stage.workspace().join(".git/objects"))?;
        fs::create_dir_all(stage.workspace().join(".git/refs/heads"))?;
        Ok(stage)
    }

    /// Neco's own folder.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder it works in.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// A place for what the benchmark itself keeps, out of sight of the program under test.
    pub fn notes(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a file into the workspace.
    pub fn write(&self, name: &str, content: &str) -> anyhow::Result<()> {
        write(&self.workspace().join(name), content)
    }

    /// Puts a file into the home.
    pub fn write_home(&self, name: &str, content: &str) -> anyhow::Result<()> {
        write(&self.home().join(name), content)
    }

    /// The environment of whatever runs here: as a login gives it, and nothing of the user's own.
    pub fn environment(&self) -> [(&'static str, OsString); 6] {
        [
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("HOME", self.home().into()),
            ("NECO_HOME", self.home().into()),
            ("SHELL", "/bin/bash".into()),
            ("USER", "bench".into()),
            ("LANG", "C.UTF-8".into()),
        ]
    }

    /// These settings hold in every run from now on.
    pub fn also_configure(&mut self, settings: String) {
        self.more = settings;
    }

    /// Makes the server at `address` the model that is asked. Its window is large enough for the
    /// longest run, so that nothing is left out of a request.
    pub fn configure(&self, address: SocketAddr) -> anyhow::Result<()> {
        let config = format!(
            "model = \"bench/scripted\"\n\n\
             [model_providers.bench]\ntype = \"openai\"\nbase = \"http://{address}/v1\"\n\n\
             [models.\"bench/scripted\"]\ncontext_window = 10000000\n\n\
             [agent]\nmax_turns = 1000\n{}",
            self.more
        );
        self.write_home("config.toml", &config)
    }
}

fn write(path: &Path, content: &str) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(path, content)?)
}
