//! This machine as a world.

use std::sync::Arc;

use super::local_net::LocalNet;
use super::spawn::Spawner;
use crate::policy::Closed;
use crate::world::net::Net;
use crate::world::{Files, Processes, World};

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
