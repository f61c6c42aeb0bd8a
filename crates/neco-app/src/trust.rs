//! Which folders may switch something on by themselves.

use std::path::Path;
use std::sync::Arc;

use neco_proto::app::AppError;
use neco_proto::app::trust::{
    DecideTrust, FolderTrust, ForgetTrust, ForgottenTrust, ListTrust, ShowTrust, TrustAnswer, TrustList, TrustRow,
    TrustState,
};
use neco_safety::Trust;
use neco_safety::trust::{DecidedFolder, Standing};

use crate::app::StorelessApp;
use crate::error::failed;
use crate::opening::{Opener, on_thread};
use crate::workspace::Workspace;
use crate::workspace::plugged::{Plugged, Scope};
use crate::workspace::told_before::ToldBefore;
use neco_view::figures;

pub(crate) async fn list(app: &StorelessApp, _: ListTrust) -> Result<TrustList, AppError> {
    let trust = Trust::open(app.env.config_dir()).map_err(failed)?;
    let row = |known: &DecidedFolder| TrustRow {
        path: known.path.clone(),
        // What was decided, unless another folder is there now.
        state: match trust.standing(Path::new(&known.path)) {
            Standing::Trusted => TrustState::Trusted,
            Standing::Declined => TrustState::Declined,
            Standing::Unknown => TrustState::Gone,
        },
    };
    Ok(TrustList { folders: trust.folders().iter().map(row).collect() })
}

pub(crate) async fn show(app: &StorelessApp, request: ShowTrust) -> Result<FolderTrust, AppError> {
    Ok(told(&app.plugged(Path::new(&request.folder))?, Scope::All))
}

pub(crate) async fn decide(app: &StorelessApp, request: DecideTrust) -> Result<FolderTrust, AppError> {
    let mut plugged = app.plugged(Path::new(&request.folder))?;
    if plugged.fingerprint() != request.seen {
        let words = format!("what {} would switch on was changed in the meantime; look at it again", request.folder);
        return Err(failed(words));
    }
    let kept = match request.only.filter(|_| request.trusted) {
        Some(taken) => plugged.decide_parts(Scope::All, &taken),
        None => plugged.decide(Scope::All, request.trusted),
    };
    kept.map_err(failed)?;
    Ok(told(&plugged, Scope::All))
}

pub(crate) async fn forget(app: &StorelessApp, request: ForgetTrust) -> Result<ForgottenTrust, AppError> {
    let mut trust = Trust::open(app.env.config_dir()).map_err(failed)?;
    Ok(ForgottenTrust { known: trust.forget(Path::new(&request.folder)).map_err(failed)? })
}

/// Asks a person about what the folder brings that nobody has decided about; without one it stays off, and that is said.
/// So is what is left out; what was said in an earlier run is only counted where a person sits in front of a window, and
/// not repeated with every request.
pub(crate) async fn ask_about(
    workspace: &Arc<Workspace>,
    opener: &dyn Opener,
    interactive: bool,
    notes: &mut Vec<String>,
) -> Result<(), AppError> {
    let state = workspace.now();
    let mut warnings = state.plugged.notices.clone();
    if opener.asks() && state.plugged.has_news() {
        let looked_at = Arc::clone(workspace);
        let mut plugged = on_thread(move || Ok(looked_at.plugged())).await?;
        if let Some(answer) = opener.trusts(told(&plugged, Scope::News)).await {
            let decided_in = Arc::clone(workspace);
            let kept = on_thread(move || {
                let kept = match answer {
                    TrustAnswer::All => plugged.decide(Scope::News, true),
                    TrustAnswer::Nothing => plugged.decide(Scope::News, false),
                    TrustAnswer::Only(taken) => plugged.decide_parts(Scope::News, &taken),
                };
                // Files may have been edited and read while the person thought: then the answer counts with those.
                let is_old = !Arc::ptr_eq(&decided_in.now(), &state);
                let is_read = kept.is_ok() && is_old && decided_in.read_anew().is_ok();
                if is_read { Ok(kept) } else { decided_in.switch(plugged).map(|()| kept) }
            });
            notes.extend(kept.await?.err().map(|error| format!("The answer could not be saved: {error}")));
        }
    }
    let now = workspace.now();
    warnings.extend(now.plugged.note());
    let (always, warnings): (Vec<String>, Vec<String>) =
        warnings.into_iter().partition(|warning| now.plugged.plugins_off.contains(warning));
    notes.extend(always);
    let all = warnings.len();
    let told = ToldBefore::of(workspace.env().data_dir(), workspace.folder(), "plugged");
    let news = told.news(warnings).await;
    let before = all - news.len();
    notes.extend(news);
    if interactive && before > 0 {
        notes.push(format!("{} as before; /doctor shows what is wrong", figures::count(before as u64, "warning")));
    }
    Ok(())
}

fn told(plugged: &Plugged, scope: Scope) -> FolderTrust {
    FolderTrust {
        described: plugged.describe(scope),
        names: plugged.names(scope),
        seen: plugged.fingerprint(),
        parts: plugged.parts(scope),
        all_on: plugged.is_all_on(),
        warnings: plugged.notices.clone(),
    }
}
