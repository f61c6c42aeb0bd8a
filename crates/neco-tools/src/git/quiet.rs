//! What the settings of a repository would start, and how that is switched off.
//!
//! Settings of the user's own may name programs: they are theirs. Those of the repository came with it.

use std::time::Duration;

use neco_toolkit::{ToolContext, ToolError};

use super::run::start;

/// For runs that only look: nothing is loaded from elsewhere, whatever the repository lacks.
const NO_LOADING: [&str; 2] = ["-c", "protocol.allow=never"];

/// Options before the words of git, so that no program of the repository's own is started by a look.
///
/// # Errors
/// When git can't be asked for its settings, or one of them can't be switched off.
pub(super) async fn quieting(limit: Duration, ctx: &ToolContext) -> Result<Vec<String>, ToolError> {
    let words = ["config", "--list", "--show-scope", "-z"].map(str::to_owned);
    let ran = start(&words, limit, false, ctx).await?;
    options(&ran.raw)
}

fn options(listed: &[u8]) -> Result<Vec<String>, ToolError> {
    let mut options: Vec<String> = NO_LOADING.map(str::to_owned).to_vec();
    let mut set = |key: &str, value: &str| {
        // What stands before the first `=` is the name.
        if key.contains('=') {
            let words = "the settings of this repository name a program in a way that can't be switched off; look at \
                         its .git/config";
            return Err(ToolError::failed(words));
        }
        options.extend(["-c".to_owned(), format!("{key}={value}")]);
        Ok(())
    };
    let listed = String::from_utf8_lossy(listed);
    let mut words = listed.split('\0');
    while let (Some(scope), Some(entry)) = (words.next(), words.next()) {
        let key = entry.split('\n').next().unwrap_or_default();
        let is_own = matches!(scope, "local" | "worktree");
        let lower = key.to_ascii_lowercase();
        match (lower.split('.').next(), lower.rsplit('.').next()) {
            (Some("filter"), Some("clean" | "smudge" | "process")) if is_own => set(key, "")?,
            (Some("filter"), Some("required")) if is_own => set(key, "false")?,
            // A rule for one way outranks the one for all.
            (Some("protocol"), Some("allow")) if lower != "protocol.allow" => set(key, "never")?,
            (_, _) => {}
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_repository_are_switched_off_and_the_users_stay() {
        let listed = b"global\0filter.lfs.clean\ngit-lfs clean\0local\0Filter.My Spy.clean\nspy\0worktree\0filter.p.process\nx\
            \0local\0filter.p.required\ntrue\0local\0user.name\nAda\0local\0protocol.ext.allow\nalways\0local\0core.bare\0";
        let options = options(listed).unwrap();
        let set: Vec<&str> = options.iter().map(String::as_str).filter(|word| *word != "-c").collect();
        assert_eq!(
            set,
            [
                "protocol.allow=never",
                "Filter.My Spy.clean=",
                "filter.p.process=",
                "filter.p.required=false",
                "protocol.ext.allow=never"
            ]
        );
        assert!(super::options(b"local\0filter.a=b.clean\nspy\0").is_err());
        assert!(super::options(b"").is_ok());
    }
}
