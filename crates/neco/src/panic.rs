//! What a person sees when Neco itself is broken.

use std::io::Write;
use std::panic::PanicHookInfo;
use std::path::PathBuf;

use crate::ask::tty::restore_terminal;

/// From now on a panic leaves the terminal as it was found and says a few plain words.
pub fn install(log: PathBuf) {
    std::panic::set_hook(Box::new(move |panic| {
        restore_terminal();
        tracing::error!(panic = %words(panic), "panic");
        let _ = writeln!(
            std::io::stderr(),
            "\nneco: a defect in Neco: {}\nYour session is kept; `neco -m \"…\" --continue` goes on with it. \
             Please report this, with the log of a run with --debug ({}).",
            words(panic),
            log.display()
        );
    }));
}

fn words(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let message =
        payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    format!("{}{}", message.unwrap_or("no message"), place.unwrap_or_default())
}
