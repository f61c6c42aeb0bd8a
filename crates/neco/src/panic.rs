//! What a person sees when Neco itself is broken.

use std::io::Write;
use std::panic::PanicHookInfo;
use std::path::PathBuf;

use crate::ask::tty::restore_terminal;

/// From now on a panic leaves the terminal as it was found and says a few plain words.
pub fn install(log: PathBuf) {
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!(panic = %words(panic), "panic");
        // A task that is broken ends alone, and its session or the window tells of it; the window goes on.
        if neco_tui::term::guard::is_taken() && std::thread::current().name() != Some("main") {
            return;
        }
        if neco_tui::term::guard::is_taken() {
            neco_tui::give_back();
            // The rows that were alive are of no use any more.
            let _ = write!(std::io::stdout(), "\r\u{1b}[J").and_then(|()| std::io::stdout().flush());
        }
        restore_terminal();
        let _ = writeln!(
            std::io::stderr(),
            "\nerror: this is a bug in Neco: {}\nYour session is saved. Resume it with  neco --continue\n\
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
