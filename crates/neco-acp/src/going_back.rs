//! A step back in a session, or forth again: a person is asked first where it takes what is theirs, as words that they
//! typed in the editor and did not save.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::{Answer, Command, MessageId, Query, RewindKind, RewindPreview};
use neco_view::wording::rewind;
use tokio::runtime::Handle;

use crate::calls::text;
use crate::commands::Wanted;
use crate::failure;
use crate::window::Base;

/// Files that are named before something is changed.
const NAMED: usize = 20;

/// The option that agrees.
const YES: &str = "yes";

/// One step, as `query` looks at it.
pub(crate) async fn step(base: &Base, query: Query) -> Result<Wanted, Error> {
    let Answer::RewindPreview(preview) = base.client.ask(query).await.map_err(failure::of_client)? else {
        return Err(failure::invalid("the session does not tell what would go back"));
    };
    if rewind::is_asked(&preview) && !agrees(base, &preview).await? {
        return Ok(Wanted::Nothing);
    }
    let RewindPreview { kind, message_id, what, rev, .. } = preview;
    Ok(Wanted::Act(match (kind, rev) {
        (RewindKind::Checkpoint, Some(rev)) => Command::RestoreCheckpoint { rev },
        (RewindKind::Message | RewindKind::Checkpoint, _) => Command::Rewind { message_id, what },
        (RewindKind::Undo, _) => Command::UndoRewind,
        (RewindKind::Redo, _) => Command::RedoRewind,
    }))
}

/// Whether the person wants it all the same.
async fn agrees(base: &Base, preview: &RewindPreview) -> Result<bool, Error> {
    let lines: Vec<String> = rewind::preview(preview, NAMED).iter().map(|told| format!("- {told}")).collect();
    let id = acp::ToolCallId::new(format!("going-back-{}", MessageId::new()));
    let fields = acp::ToolCallUpdateFields::new()
        .title("Go back over what others did?")
        .kind(acp::ToolKind::Other)
        .status(acp::ToolCallStatus::Pending)
        .content(vec![text(lines.join("\n"))]);
    // An editor knows a call before it is asked about it.
    let call = acp::ToolCall::new(id.clone(), fields.title.clone().unwrap_or_default())
        .kind(acp::ToolKind::Other)
        .content(fields.content.clone().unwrap_or_default());
    tell(base, acp::SessionUpdate::ToolCall(call)).await;
    let shown = Shown { base: base.clone(), id: id.clone(), is_over: false };
    let options = vec![
        acp::PermissionOption::new(YES, "Yes, go back all the same", acp::PermissionOptionKind::AllowOnce),
        acp::PermissionOption::new("no", "No, leave everything as it is", acp::PermissionOptionKind::RejectOnce),
    ];
    let about = acp::ToolCallUpdate::new(id, fields);
    let asked = acp::RequestPermissionRequest::new(base.id.clone(), about, options);
    let answer = base.editor.send_request(asked).block_task().await;
    let is_agreed = matches!(
        &answer,
        Ok(acp::RequestPermissionResponse { outcome: acp::RequestPermissionOutcome::Selected(one), .. })
            if &*one.option_id.0 == YES
    );
    let status = if is_agreed { acp::ToolCallStatus::Completed } else { acp::ToolCallStatus::Failed };
    shown.ends(status).await;
    answer.map(|_| is_agreed).map_err(|_| {
        let words = "this would also change what others did to files since; `neco session rewind` shows it and asks";
        failure::invalid(words)
    })
}

/// The call that the question is shown with: it has failed where the prompt is stopped before the person answers.
struct Shown {
    base: Base,
    id: acp::ToolCallId,
    is_over: bool,
}

impl Shown {
    async fn ends(mut self, status: acp::ToolCallStatus) {
        let update = self.update(status);
        tell(&self.base, update).await;
        self.is_over = true;
    }

    fn update(&self, status: acp::ToolCallStatus) -> acp::SessionUpdate {
        let fields = acp::ToolCallUpdateFields::new().status(status);
        acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(self.id.clone(), fields))
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let (base, update) = (self.base.clone(), self.update(acp::ToolCallStatus::Failed));
        // Before the prompt is answered, where there is room.
        if base.room.try_take() {
            base.tell(update);
        } else if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { tell(&base, update).await });
        }
    }
}

async fn tell(base: &Base, update: acp::SessionUpdate) {
    base.room.take().await;
    base.tell(update);
}
