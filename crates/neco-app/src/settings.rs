//! Settings, and where they come from.

use std::path::Path;

use neco_config::{ConfigFile, Setting};
use neco_proto::app::AppError;
use neco_proto::app::settings::{FindSettings, ListSettings, SettingFile, SettingFiles, SettingList, SettingRow};

use crate::app::StorelessApp;
use crate::own_settings;

pub(crate) async fn list(app: &StorelessApp, request: ListSettings) -> Result<SettingList, AppError> {
    let loaded = app.settings(Path::new(&request.folder))?;
    let row = |setting: &Setting| SettingRow {
        key: setting.key.clone(),
        value: setting.value.clone(),
        layer: setting.origin.layer.name().to_owned(),
        origins: std::iter::once(&setting.origin).chain(&setting.earlier).map(ToString::to_string).collect(),
    };
    Ok(SettingList {
        settings: loaded.origins.settings().iter().map(row).collect(),
        warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
    })
}

pub(crate) async fn find(app: &StorelessApp, request: FindSettings) -> Result<SettingFiles, AppError> {
    let file = |file: &ConfigFile| SettingFile {
        layer: file.layer.to_string(),
        path: file.path.display().to_string(),
        exists: file.exists,
    };
    // Where the files are is worth knowing most when one of them is broken.
    let loaded = app.settings(Path::new(&request.folder));
    Ok(SettingFiles {
        own: own_settings::file(&app.env).display().to_string(),
        files: loaded.map(|loaded| loaded.files.iter().map(file).collect()).unwrap_or_default(),
    })
}
