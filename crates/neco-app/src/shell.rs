//! Command lines of the person, run where a session works.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures::TryStreamExt;
use futures::stream::BoxStream;
use neco_proto::app::shell::{RanShell, RunShell, ShellEnd, ShellNews};
use neco_proto::app::{AppError, Trouble};
use tokio::sync::Notify;

use crate::app::StorelessApp;
use crate::persons_shell::Printed;
use crate::watching::{Told, told};

/// Bytes of output that wait for whoever listens, and that are answered in one piece; the last ones of more.
const MOST: usize = 256 * 1024;

/// Runs a command line to its end.
pub(crate) async fn run(app: &StorelessApp, request: RunShell) -> Result<RanShell, AppError> {
    let (printed, mut end) = (Pending::default(), ShellEnd::default());
    let mut news = watch(app, request);
    while let Some(news) = news.try_next().await? {
        match news {
            ShellNews::Printed { text, .. } => printed.push(&text),
            ShellNews::Ended(ended) => end = ended,
            ShellNews::Other(_) => {}
        }
    }
    Ok(RanShell { output: printed.take().0, end })
}

/// Runs a command line and tells what it prints as it does.
pub(crate) fn watch(app: &StorelessApp, request: RunShell) -> BoxStream<'_, Result<ShellNews, AppError>> {
    told(|told| tell(app, request, told))
}

async fn tell(app: &StorelessApp, request: RunShell, mut told: Told<ShellNews>) -> Result<(), AppError> {
    let elsewhere =
        || AppError::new(Trouble::InUse, "the session is not open here, and only where it is it has a shell");
    let shell = app.open.find(&request.session).ok_or_else(elsewhere)?.shell()?;
    let pending = Arc::new(Pending::default());
    let prints = Arc::clone(&pending);
    let printed: Printed = Arc::new(move |text: String| prints.push(&text));
    let mut running = pin!(shell.run(&request.command, printed));
    let ran = loop {
        tokio::select! {
            ran = &mut running => break ran?,
            () = pending.more.notified() => pending.tell(&mut told).await,
        }
    };
    pending.tell(&mut told).await;
    let folder = ran.folder.map(|folder| folder.display().to_string());
    told.tell(ShellNews::Ended(ShellEnd { code: ran.code, folder, masked: ran.masked })).await;
    Ok(())
}

/// What was printed and not told yet. A command does not wait for whoever reads slowly: they get the last of it.
#[derive(Default)]
struct Pending {
    printed: Mutex<(String, u64)>,
    more: Notify,
}

impl Pending {
    fn push(&self, text: &str) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        let (waits, left_out) = &mut *printed;
        waits.push_str(text);
        // Not for every piece: what is moved is moved for half of it at once.
        if waits.len() > 2 * MOST {
            let from = waits.ceil_char_boundary(waits.len() - MOST);
            waits.drain(..from);
            *left_out += from as u64;
        }
        self.more.notify_one();
    }

    fn take(&self) -> (String, u64) {
        std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn tell(&self, told: &mut Told<ShellNews>) {
        let (text, left_out) = self.take();
        if !text.is_empty() {
            told.tell(ShellNews::Printed { text, left_out }).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_flood_is_kept_and_what_is_missing_is_counted() {
        let pending = Pending::default();
        let line = "ä line\n".repeat(1000);
        (0..1000).for_each(|_| pending.push(&line));
        let (kept, left_out) = pending.take();
        assert!((MOST / 2..=2 * MOST).contains(&kept.len()) && kept.ends_with("ä line\n"), "{}", kept.len());
        assert_eq!(kept.len() as u64 + left_out, 1000 * line.len() as u64);
        assert_eq!(pending.take(), (String::new(), 0));
    }
}
