//! The title of a session while it runs.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_model::FinishReason;
use neco_proto::event::{CompleteReason, SessionTitle, SidePurpose, TitleSource, UsageEvent};
use neco_proto::{Event, EventBody, Message, Seq};
use neco_safety::secrets::{Redactor, Scope};
use neco_store::StoreError;
use tokio::sync::Mutex;

use crate::aside::{self, Aside, AsideError};
use crate::fold::{each_event, fold_log};
use crate::hub::SessionCore;
use crate::memory::one_line;

/// What the model is told.
const SYSTEM: &str = include_str!("title.md");

/// Tokens of the conversation that are shown: a title needs few.
const MOST_TOKENS: u64 = 1_500;

/// How a model makes titles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleSettings {
    /// The model or group that is asked; `None` stands for the session's own.
    pub model: Option<String>,
    /// How long that may take.
    pub timeout: Duration,
}

/// Keeps the title of a session. A person's is never replaced by a model's, nor a model's by first words.
pub struct TitleKeeper {
    pub core: SessionCore,
    pub redactor: Redactor,
    /// How a model makes it; `None` when none does.
    pub settings: Option<TitleSettings>,
    /// Who made the present one.
    pub by: Mutex<Option<TitleSource>>,
    /// Held while a model is asked.
    pub asking: Mutex<()>,
    /// Whether one may be asked.
    pub aside: Aside,
}

impl TitleKeeper {
    /// Makes the first words of a session its title.
    pub async fn first_words(&self, text: &str) -> Result<(), StoreError> {
        let mut by = self.by.lock().await;
        if by.is_some() {
            return Ok(());
        }
        // The message itself is in the log, so no event is needed for its first words.
        let title = first_words(&self.redactor.redact(text, Scope::Said));
        self.core.hub.setup.catalog.set_title(self.core.id(), &title, TitleSource::FirstWords).await?;
        *by = Some(TitleSource::FirstWords);
        Ok(())
    }

    /// Takes a person's title; `false` when it says nothing.
    pub async fn rename(&self, title: &str) -> Result<bool, StoreError> {
        let title = tidy(&self.redactor.redact(title, Scope::Said));
        if title.is_empty() {
            return Ok(false);
        }
        let mut by = self.by.lock().await;
        self.put(&title, TitleSource::Person).await?;
        *by = Some(TitleSource::Person);
        Ok(true)
    }

    /// Waits for the first work that is done, then has the model make a title.
    pub async fn after_first_work(self: Arc<Self>, since: Seq) {
        let mut events = self.core.journal.events(since);
        while let Some(Ok(event)) = events.next().await {
            if self.is_done(&event) {
                self.make().await;
                return;
            }
        }
    }

    /// The same for a session that ends right after its first work; ready when nothing is asked any more.
    pub async fn at_end(&self, since: Seq) {
        if self.settings.is_none() {
            return;
        }
        let mut done = false;
        let read =
            each_event(self.core.log().as_ref(), self.core.id(), since, |event| done |= self.is_done(&event)).await;
        if read.is_ok() && done {
            self.make().await;
        }
        let _asking = self.asking.lock().await;
    }

    /// Has the model make a title, if that is wanted and there is no better one. Nothing here fails a session.
    async fn make(&self) {
        let Some(settings) = &self.settings else { return };
        let _asking = self.asking.lock().await;
        {
            let mut by = self.by.lock().await;
            if *by != Some(TitleSource::FirstWords) {
                return;
            }
            // Whatever comes of it, it is tried once.
            *by = Some(TitleSource::Model);
        }
        let made = self.aside.unless_stopped(tokio::time::timeout(settings.timeout, self.made(settings)));
        let Some(made) = aside::told(&self.core, SidePurpose::Title, made).await else { return };
        match made {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the session keeps its first words as its title"),
            Err(_) => tracing::warn!("the session keeps its first words as its title: the model took too long"),
        }
    }

    async fn made(&self, settings: &TitleSettings) -> Result<(), AsideError> {
        let fold = fold_log(self.core.log().as_ref(), self.core.id()).await?;
        let model = settings.model.clone().unwrap_or(fold.standing.model);
        let provider = self.core.model(&model)?;
        let words = (SYSTEM, "The title:");
        let (answer, reason) = aside::ask(provider.as_ref(), fold.messages, MOST_TOKENS, words, None).await?;
        // An answer that was cut off costs as much as a whole one.
        if let Some(usage) = answer.usage {
            let context_window = provider.context_window();
            let aside = Some(SidePurpose::Title);
            let used = UsageEvent::of(&answer.model, usage, provider.scripted());
            let usage = UsageEvent { context_window, aside, ..used };
            self.core.emit(EventBody::Usage(usage)).await?;
        }
        match of_answer(&answer.text).filter(|_| reason == FinishReason::Stop) {
            Some(title) => {
                let title = self.redactor.redact(&title, Scope::Said);
                // A person may have given one meanwhile.
                let by = self.by.lock().await;
                if *by == Some(TitleSource::Person) {
                    return Ok(());
                }
                Ok(self.put(&title, TitleSource::Model).await?)
            }
            None => Err(AsideError::NoTitle),
        }
    }

    /// Whether the root has done its work to its end.
    fn is_done(&self, event: &Event) -> bool {
        let ended =
            matches!(&event.body, EventBody::AgentComplete(complete) if complete.reason == CompleteReason::Natural);
        ended && event.agent_id == self.core.root
    }

    async fn put(&self, title: &str, by: TitleSource) -> Result<(), StoreError> {
        self.core.commit(title_event(title, by)).await?;
        self.core.hub.setup.catalog.set_title(self.core.id(), title, by).await
    }
}

/// Characters of a title.
const MOST: usize = 60;

/// Characters of a title that a person gives.
const MOST_GIVEN: usize = 120;

/// The first words of a message, in one line.
pub fn first_words(text: &str) -> String {
    // What a person ran and the files that they named are sent along in Neco's words.
    let text = Some(Message::written(text)).filter(|written| !written.trim().is_empty()).unwrap_or(text);
    // What is piped in stands in a fence behind what was said.
    let said = text.split_once("\n```").map_or(text, |(said, _)| if said.trim().is_empty() { text } else { said });
    one_line(&without_bold(said), MOST)
}

/// The text without the marks of words in bold; `**` in a pattern of files stays.
fn without_bold(text: &str) -> String {
    let parts: Vec<&str> = text.split("**").collect();
    let is_bold = |part: &&str| {
        let at_edge = |char: char| char.is_whitespace() || char == '/';
        !part.is_empty() && !part.starts_with(at_edge) && !part.ends_with(at_edge)
    };
    let is_paired = parts.len() % 2 == 1 && parts.iter().skip(1).step_by(2).all(is_bold);
    if is_paired { parts.concat() } else { text.to_owned() }
}

/// A title as a person gives it, in one line.
pub fn tidy(title: &str) -> String {
    one_line(title, MOST_GIVEN)
}

/// A title as a model gives it: the first line that says something, without what models put around it.
pub(super) fn of_answer(answer: &str) -> Option<String> {
    let line = answer.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = without_bold(line.trim_start_matches('#').trim());
    let around = |char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '`' | '“' | '”' | '*' | '.');
    let bare = one_line(line.trim_start_matches("Title:").trim_matches(around), usize::MAX);
    // Whole sentences are an answer to something else.
    (!bare.is_empty() && bare.chars().count() <= 2 * MOST).then(|| one_line(&bare, MOST))
}

pub fn title_event(title: &str, by: TitleSource) -> EventBody {
    EventBody::Title(SessionTitle { title: title.to_owned(), by })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(first_words("  fix\nthe\tbuild "), "fix the build");
        assert_eq!(first_words("review this\n```\nfn main() {}\n```"), "review this");
        assert_eq!(first_words(&format!("go{}```\n$ sleep 30\n```", Message::RAN)), "go");
        assert_eq!(first_words(&format!("read @a.txt{}a.txt:\n```\nx\n```", Message::ATTACHED)), "read @a.txt");
        assert_eq!(first_words("\n```\nall there is\n```"), "``` all there is ```");
        assert_eq!(first_words(&"word ".repeat(40)).chars().count(), 60);
        assert_eq!(first_words("make it **bold** now"), "make it bold now");
        for pattern in ["list src/**/*.rs", "from a/**/b to c/**/d", "2 ** 3 ** 4"] {
            assert_eq!(first_words(pattern), pattern);
        }
        assert_eq!(tidy("a\u{1b}[31m b\0"), "a [31m b");
    }

    #[test]
    fn what_models_put_around_a_title_goes() {
        for (answer, title) in [
            ("\"Fix the login test\"", Some("Fix the login test")),
            ("Title: **Fix the login test**.", Some("Fix the login test")),
            ("all **done**", Some("all done")),
            ("**Title:** Fix the login test", Some("Fix the login test")),
            ("\n# Anmeldung reparieren\nmore", Some("Anmeldung reparieren")),
            ("", None),
            ("...", None),
        ] {
            assert_eq!(of_answer(answer).as_deref(), title, "{answer}");
        }
        assert_eq!(of_answer(&"I can not do that because ".repeat(9)), None);
    }
}
