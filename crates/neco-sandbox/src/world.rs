//! This machine as a world.

use std::sync::Arc;

use crate::net::LocalNet;
use crate::spawn::Spawner;
use neco_safety::policy::Closed;
use neco_safety::world::net::Net;
use neco_safety::world::{Files, Processes, World};

/// This machine.
#[derive(Clone, Debug)]
pub struct LocalWorld {
    /// Files inside the roots.
    pub files: Files,
    /// Processes.
    pub spawn: Spawner,
    /// The network.
    pub net: LocalNet,
}

impl World for LocalWorld {
    fn local(&self) -> &dyn World {
        self
    }

    fn files(&self) -> &Files {
        &self.files
    }

    fn processes(&self) -> &dyn Processes {
        &self.spawn
    }

    fn net(&self) -> &dyn Net {
        &self.net
    }

    fn closing(&self, closed: &Closed) -> Arc<dyn World> {
        let files = self.files.clone().with_closed(closed.clone());
        Arc::new(Self { files, spawn: self.spawn.clone().closing(closed), net: self.net.clone() })
    }
}
