//! What loosens safety holds where it was said: of a command line that goes on in another folder the rest is left.

use std::path::Path;

use neco_config::{Env, LoadOptions, without_freeing};
use neco_proto::ApprovalMode;
use neco_proto::app::AppError;

use crate::opening::{Opening, on_thread};

/// Takes back what loosens, unless it was said of `folder`; gives what the person should know of that.
pub(crate) async fn hold_back(opening: &mut Opening, folder: &Path, env: &Env) -> Result<Option<String>, AppError> {
    let said_of = opening.wanted.loosens_in.clone().filter(|said_of| Path::new(said_of) != folder);
    let Some(said_of) = said_of else { return Ok(None) };
    let loosens = |flag: &str, is_given: bool| is_given.then(|| flag.to_owned());
    let given = &mut opening.wanted.given;
    let mut which: Vec<String> = [
        loosens("--allow", !std::mem::take(&mut given.allow).is_empty()),
        loosens("--add-dir", !std::mem::take(&mut given.add_dir).is_empty()),
        opening.wanted.approval.take_if(|approval| is_loose(*approval)).map(|approval| format!("approval {approval}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let (kept, left_out) = held_back(std::mem::take(&mut opening.overrides), folder, env).await?;
    opening.overrides = kept;
    which.extend(left_out.into_iter().map(|key| format!("-c {key}")));
    let words = || {
        let which = which.join(", ");
        format!("Flags that loosen safety were given for {said_of} and do not apply here: {which}")
    };
    Ok((!which.is_empty()).then(words))
}

/// The settings of a command line without what loosens work in a folder that they were not said of, and the keys of that.
///
/// # Errors
/// When nobody can look.
pub async fn held_back(
    overrides: Vec<String>,
    folder: &Path,
    env: &Env,
) -> Result<(Vec<String>, Vec<String>), AppError> {
    if overrides.is_empty() {
        return Ok((overrides, Vec::new()));
    }
    let (folder, env) = (folder.to_owned(), env.clone());
    on_thread(move || Ok(without_freeing(LoadOptions { env: &env, cwd: &folder, overrides: &overrides }))).await
}

/// Whether something is done without asking that is asked about where nobody says otherwise.
pub(crate) fn is_loose(approval: ApprovalMode) -> bool {
    matches!(approval, ApprovalMode::Auto | ApprovalMode::AcceptEdits)
}

#[cfg(test)]
mod tests {
    use neco_proto::app::opening::OpenSession;
    use neco_proto::app::rules::GivenRules;

    use super::*;

    #[tokio::test]
    async fn what_loosens_holds_where_it_was_said_and_what_narrows_everywhere() {
        let given = GivenRules {
            allow: vec!["bash".to_owned()],
            deny: vec!["web_fetch".to_owned()],
            add_dir: vec!["/x".to_owned()],
            ..GivenRules::default()
        };
        let wanted = OpenSession {
            loosens_in: Some("/a".to_owned()),
            given,
            approval: Some(ApprovalMode::Auto),
            max_turns: Some(3),
            ..OpenSession::default()
        };
        let set = [
            "sandbox.level=full",
            "mode=plan",
            "approval=auto",
            "sandbox={ level = \"full\", hidden = ['~/.ssh', '~/x'] }",
            "roots=['/']",
            "tools={ web_fetch = { timeout = 7, private_hosts = ['h'] }, timeout = 3 }",
        ];
        let overrides = set.map(str::to_owned).to_vec();
        let home = tempfile::tempdir().unwrap();
        let env = Env::for_test([], home.path());
        let mut opening = Opening { wanted: wanted.clone(), overrides, ..Opening::default() };
        assert_eq!(hold_back(&mut opening, Path::new("/a"), &env).await, Ok(None));
        assert_eq!(opening.wanted, wanted);
        let told = hold_back(&mut opening, Path::new("/b"), &env).await.unwrap();
        let which = "--allow, --add-dir, approval auto, -c sandbox.level, -c approval, -c sandbox.level, -c roots, \
                     -c tools.web_fetch.private_hosts";
        let words = format!("Flags that loosen safety were given for /a and do not apply here: {which}");
        assert_eq!(told, Some(words));
        let narrow = GivenRules { deny: vec!["web_fetch".to_owned()], ..GivenRules::default() };
        assert_eq!(opening.wanted, OpenSession { given: narrow, approval: None, ..wanted });
        let harmless =
            ["mode=plan", r#"sandbox.hidden=["~/.ssh", "~/x"]"#, "tools.timeout=3", "tools.web_fetch.timeout=7"];
        assert_eq!(opening.overrides, harmless);
    }
}
