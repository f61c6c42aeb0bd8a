//! Files that git can't see in its box because they are sensitive: a tree with one of them looks clean and is not.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use neco_safety::path::sensitive::is_sensitive_file;
use neco_toolkit::{ToolContext, ToolError, counted};
use neco_workspace::walk::{Scope, walker};

use super::order::Order;
use super::run::run;
use super::tool::LOOKING;

/// Files that are named.
const NAMED: usize = 5;
/// Files that are counted.
const MOST: usize = 200;

/// What is said of sensitive files that are not ignored and that git does not see; nothing when there are none.
pub(super) async fn note(ctx: &ToolContext) -> Result<Option<String>, ToolError> {
    if !ctx.world.processes().is_boxed() {
        return Ok(None);
    }
    let world = Arc::clone(&ctx.world);
    let found = tokio::task::spawn_blocking(move || sensitive(world.files().workspace())).await;
    let mut names = found.map_err(|error| ToolError::failed(error.to_string()))?;
    if names.is_empty() {
        return Ok(None);
    }
    let seen = run(&Order::seen(&names), LOOKING, ctx).await?;
    let seen = String::from_utf8_lossy(&seen.raw);
    let seen: HashSet<&str> = seen.split('\0').collect();
    names.retain(|name| !seen.contains(name.as_str()));
    Ok(words(&names))
}

/// Sensitive files of a folder that git does not ignore.
fn sensitive(workspace: &Path) -> Vec<String> {
    let entries = walker(workspace, workspace, Scope::Hidden).build().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let sensitive = files.filter(|entry| is_sensitive_file(entry.path()).is_some());
    let names = sensitive.filter_map(|entry| Some(entry.path().strip_prefix(workspace).ok()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.take(MOST).collect();
    names.sort();
    names
}

fn words(names: &[String]) -> Option<String> {
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| {
        format!(
            "({}: {named}{more}. Sensitive files are closed to git here, so they are neither listed nor staged)",
            counted(names.len(), "untracked file is left out", "untracked files are left out"),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sensitive_files_that_git_would_take_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".env", "src/id_rsa", "a.txt", "kept/.env"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::write(folder.path().join(".gitignore"), "kept/\n").unwrap();
        let names = sensitive(folder.path());
        assert_eq!(names, [".env", "src/id_rsa"]);
        assert!(words(&names).unwrap().starts_with("(2 untracked files are left out: .env, src/id_rsa. "));
        assert_eq!(words(&[]), None);
        let many: Vec<String> = (0..7).map(|number| format!("{number}.pem")).collect();
        assert!(words(&many).unwrap().contains("4.pem and 2 more. "));
    }
}
