//! Settings, where they come from, and the person's own file of them changed: everything else in it stays as it is written.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use neco_config::{ConfigFile, Env, Setting};
use neco_proto::app::AppError;
use neco_proto::app::settings::{
    FindSettings, ListSettings, NewSetting, SetSettings, SettingFile, SettingFiles, SettingList, SettingRow,
    WrittenSettings,
};
use toml_edit::{DocumentMut, Item, Key, Table, TomlError, Value};

use crate::app::StorelessApp;
use crate::error::failed;

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
        own: own_file(&app.env).display().to_string(),
        files: loaded.map(|loaded| loaded.files.iter().map(file).collect()).unwrap_or_default(),
    })
}

/// The file, whether it exists or not.
pub(crate) fn own_file(env: &Env) -> PathBuf {
    env.config_dir().join("config.toml")
}

pub(crate) async fn set(app: &StorelessApp, request: SetSettings) -> Result<WrittenSettings, AppError> {
    let given: Vec<String> = request.settings.iter().map(|new| format!("{}={}", new.key, new.value)).collect();
    // Nothing is written that the next start could not read: it would not begin at all.
    app.settings_with(Path::new(&request.folder), &given)?;
    let file = own_file(&app.env);
    let shown = app.env.shown(&file);
    let in_file = |error: &dyn Display| failed(format!("{shown}: {error}"));
    let _lock = lock(&app.env).map_err(|error| in_file(&error))?;
    let present = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(in_file(&error)),
    };
    let new = changed(&present, &request.settings).map_err(|error| in_file(&error))?;
    write(&file, &new).map_err(|error| failed(format!("{shown} can't be written: {error}")))?;
    Ok(WrittenSettings { file: shown })
}

/// The settings with the new ones in them.
fn changed(present: &str, settings: &[NewSetting]) -> Result<String, TomlError> {
    let mut document: DocumentMut = present.parse()?;
    for NewSetting { key, value } in settings {
        let keys = Key::parse(key)?;
        let mut value: Value = value.to_string().parse()?;
        value.decor_mut().clear();
        let Some((last, sections)) = keys.split_last() else { continue };
        let mut inside = Some(document.as_item_mut());
        for section in sections {
            let table = inside.and_then(Item::as_table_like_mut);
            inside = table.map(|table| table.entry(section.get()).or_insert_with(section_of_others));
        }
        // Something else than a section was found to be wrong before.
        let Some(table) = inside.and_then(Item::as_table_like_mut) else { continue };
        match table.get_mut(last.get()) {
            // What is written about it stays beside it.
            Some(Item::Value(old)) => {
                let around = old.decor().clone();
                *old = value;
                *old.decor_mut() = around;
            }
            Some(_) | None => drop(table.insert(last.get(), Item::Value(value))),
        }
    }
    Ok(document.to_string())
}

/// A section whose heading is written only when it has values of its own.
fn section_of_others() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// Keeps others who change the file waiting, so that nobody loses what somebody else set. The folder is locked since the
/// file itself is replaced.
fn lock(env: &Env) -> std::io::Result<File> {
    fs::create_dir_all(env.config_dir())?;
    let folder = File::open(env.config_dir())?;
    folder.lock()?;
    Ok(folder)
}

/// Writes the file whole or not at all. One that is a link stays one, and its mode stays as well.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    // Such files are made for their owner alone.
    let beside = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(Path::new(".")));
    // The name of what would have been beside it says nothing to anybody.
    let mut beside = beside.map_err(|error| std::io::Error::from(error.kind()))?;
    if let Ok(present) = fs::metadata(&file) {
        beside.as_file().set_permissions(present.permissions())?;
    }
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist(&file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(key: &str, value: &str) -> NewSetting {
        NewSetting { key: key.to_owned(), value: value.into() }
    }

    #[test]
    fn what_is_set_is_another_one_and_nothing_else_changes() {
        let present = "# mine\napproval = \"auto\"\nmodel = \"old/one\" # the best\n\n[agent]\nmodel = 3\n\n[profiles.x]\nmodel = \"old/one\" # the best\n";
        let base = new("model_providers.mine.base", "http://localhost:8000/v1");
        let written = changed(present, &[new("model", "mine/a\"b"), base.clone()]).unwrap();
        let read: DocumentMut = written.parse().unwrap();
        assert_eq!(read["model"].as_str(), Some("mine/a\"b"));
        assert_eq!(read["approval"].as_str(), Some("auto"));
        assert_eq!(read["agent"]["model"].as_integer(), Some(3));
        assert_eq!(read["profiles"]["x"]["model"].as_str(), Some("old/one"), "{written}");
        assert!(written.ends_with("[model_providers.mine]\nbase = \"http://localhost:8000/v1\"\n"), "{written}");
        assert!(written.contains("# mine") && written.matches("# the best").count() == 2, "{written}");
        assert_eq!(changed("", &[new("model", "a/b")]).unwrap(), "model = \"a/b\"\n");
        let only_sections = changed("[agent]\nmax_turns = 3\n", &[new("model", "a/b")]).unwrap();
        assert!(only_sections.parse::<DocumentMut>().unwrap()["model"].is_str(), "{only_sections}");
        assert!(changed("model = \n", &[new("model", "a/b")]).is_err(), "what can't be read is left alone");
        let two = changed(&written, &[new("model_providers.mine-2.base", "http://localhost:2/v1")]).unwrap();
        let providers = two.parse::<DocumentMut>().unwrap()["model_providers"].clone();
        assert_eq!(providers.as_table_like().map(|table| table.len()), Some(2), "{two}");
    }

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("dotfiles.toml"), folder.path().join("config.toml"));
        fs::write(&real, "a = 1\n").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, "a = 2\n").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "a = 2\n");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
