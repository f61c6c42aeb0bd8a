//! The processes of one call, which the person can end in their editor.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use neco_proto::CallId;
use neco_safety::World;
use neco_safety::world::denial::Closed;
use neco_safety::world::{Allowance, BoxFuture, Freedom, Launch, Process, Processes, SpawnError, Stop};

use crate::open_texts::OpenTexts;

/// The processes of this machine, for one call.
#[derive(Clone)]
pub(crate) struct CallProcesses {
    /// This machine.
    pub local: Arc<dyn World>,
    /// The editor.
    pub texts: Arc<OpenTexts>,
    /// The call.
    pub call: CallId,
}

impl fmt::Debug for CallProcesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallProcesses").field("call", &self.call).finish_non_exhaustive()
    }
}

impl CallProcesses {
    fn all(&self) -> &dyn Processes {
        self.local.processes()
    }
}

impl Processes for CallProcesses {
    fn run(&self, launch: Launch, allowance: Allowance) -> BoxFuture<'_, Result<Box<dyn Process>, SpawnError>> {
        Box::pin(async move {
            let process = self.all().run(launch, allowance).await?;
            let handle = process.handle();
            self.texts.editor().runs(&self.call, Arc::new(move || handle.stop(Stop::Kill)));
            Ok(process)
        })
    }

    fn find_program(&self, name: &OsStr) -> Option<PathBuf> {
        self.all().find_program(name)
    }

    fn temporary_folder(&self) -> PathBuf {
        self.all().temporary_folder()
    }

    fn is_boxed(&self) -> bool {
        self.all().is_boxed()
    }

    fn has_own_tmp(&self) -> bool {
        self.all().has_own_tmp()
    }

    fn closed(&self, freedom: Freedom) -> Option<Closed> {
        self.all().closed(freedom)
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.all().variable(name)
    }
}
