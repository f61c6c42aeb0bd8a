//! The rules that people make while an agent works, as they are kept in a file.

use std::sync::Arc;

use neco_proto::event::{Notification, NotificationLevel};
use neco_safety::{Grant, Policy};

use super::reports::Reports;
use crate::ports::{RuleBook, SinkError};

/// What keeps rules; nothing where nothing does.
pub(super) struct KeptRules(pub(super) Option<Arc<dyn RuleBook>>);

impl KeptRules {
    /// Has kept what a person allowed, and says what came of it: it holds for this session in any case.
    pub(super) async fn keep(&self, grant: &Grant, policy: &mut Policy, reports: &Reports) -> Result<(), SinkError> {
        let Some(book) = &self.0 else { return Ok(()) };
        let rule = grant.to_toml(&policy.place().workspace);
        let (level, text) = match book.keep(rule).await {
            Ok(()) => (NotificationLevel::Info, format!("Rule added in {}", book.file())),
            Err(error) => {
                // No file has it, so that reading the files anew would take it back.
                policy.grant(grant);
                let text = format!("The rule applies to this session only: {} can't be written: {error}", book.file());
                (NotificationLevel::Warning, text)
            }
        };
        reports.notify(Notification::new(level, text)).await
    }
}
