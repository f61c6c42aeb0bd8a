//! The providers of a folder's settings, and the file of keys.

use std::path::Path;

use neco_model::route::{KeysFile, KeysFileError, Providers};
use neco_proto::app::{AppError, Trouble};

use crate::app::StorelessApp;
use crate::error::of_setup;
use crate::workspace::keys;

/// Providers, and where their keys are kept.
pub(super) struct Here {
    pub providers: Providers,
    pub file: KeysFile,
    /// What is to be said of the settings.
    pub warnings: Vec<String>,
}

impl Here {
    pub(super) fn look(app: &StorelessApp, folder: &str) -> Result<Self, AppError> {
        let loaded = app.settings(Path::new(folder))?;
        let warnings: Vec<String> =
            loaded.warnings.iter().map(ToString::to_string).chain(keys::warnings(&loaded)).collect();
        match Providers::new(&loaded.config.model_providers) {
            Ok(providers) => Ok(Self { providers, file: keys::file(&app.env), warnings }),
            Err(error) => Err(of_setup(error).after(&warnings)),
        }
    }

    /// Where the file is.
    pub(super) fn path(&self) -> String {
        self.file.path().display().to_string()
    }
}

/// The file of keys can't be used.
pub(super) fn of_file(error: KeysFileError) -> AppError {
    AppError::new(Trouble::Failed, error.to_string())
}
