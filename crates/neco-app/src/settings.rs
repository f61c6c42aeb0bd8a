//! Settings, where they come from, and the person's own file of them changed: everything else in it stays as it is written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use neco_config::{
    ConfigFile, Env, Layer, LoadOptions, Meaning, Notice, Setting, meanings, other_names, written_setting,
};
use neco_proto::app::AppError;
use neco_proto::app::settings::{
    CheckSettings, CheckedSettings, FindSettings, HoldsFrom, ListSettings, NewSetting, PreviewSettings, SetSettings,
    SettingFile, SettingFiles, SettingList, SettingRow, SettingsPreview, WrittenSettings,
};
use neco_safety::secrets::Scope;
use serde_json::Value as Json;
use similar::TextDiff;
use toml_edit::{DocumentMut, Item, Key, Table, TomlError, Value};

use crate::app::StorelessApp;
use crate::edits::OF_SESSIONS;
use crate::error::{failed, invalid};

pub(crate) async fn list(app: &StorelessApp, request: ListSettings) -> Result<SettingList, AppError> {
    let (loaded, problems) = app.settings_to_show(Path::new(&request.folder));
    let mut meanings: BTreeMap<String, Meaning> =
        meanings().into_iter().map(|meaning| (meaning.key.clone(), meaning)).collect();
    let row = |setting: &Setting| {
        let told = meanings.remove(&setting.key);
        SettingRow {
            key: setting.key.clone(),
            value: setting.value.clone(),
            layer: setting.origin.layer.name().to_owned(),
            origins: std::iter::once(&setting.origin).chain(&setting.earlier).map(ToString::to_string).collect(),
            ..told.map(unset).unwrap_or_default()
        }
    };
    let settings = loaded.origins.settings().iter().map(row).collect();
    let warnings = loaded.warnings.iter().map(ToString::to_string).collect();
    Ok(SettingList { settings, warnings, problems, unset: meanings.into_values().map(unset).collect() })
}

/// A setting without a value.
fn unset(meaning: Meaning) -> SettingRow {
    let Meaning { key, takes, meaning } = meaning;
    SettingRow { key, takes, meaning, ..SettingRow::default() }
}

pub(crate) async fn find(app: &StorelessApp, request: FindSettings) -> Result<SettingFiles, AppError> {
    let file = |file: &ConfigFile| SettingFile {
        layer: file.layer.to_string(),
        path: file.path.display().to_string(),
        exists: file.exists,
    };
    // Where the files are is worth knowing most when one of them is broken.
    let (loaded, problems) = app.settings_to_show(Path::new(&request.folder));
    let own = own_file(&app.env).display().to_string();
    Ok(SettingFiles { own, files: loaded.files.iter().map(file).collect(), problems })
}

/// What settings mean that somebody wrote. What is wrong elsewhere is no reason to refuse them: one of them may mend it.
pub(crate) async fn check(app: &StorelessApp, request: CheckSettings) -> Result<CheckedSettings, AppError> {
    let folder = Path::new(&request.folder);
    let (loaded, problems) = app.load_around(folder, &request.written);
    refuse(problems)?;
    let frees = LoadOptions { env: &app.env, cwd: folder, overrides: &request.written };
    let loosens = !neco_config::without_freeing(frees).1.is_empty();
    let meant = |written: &String| {
        let (key, named, text) = written_setting(written).unwrap_or((written.as_str(), written.clone(), ""));
        // A secret is not told, not even here.
        let found = loaded.origins.get(&named).filter(|found| !found.value.contains("***"));
        let value = found.and_then(|found| found.value.parse().ok()).map(|value| json_of(&value));
        NewSetting { key: key.to_owned(), value: value.unwrap_or_else(|| value_of(text)) }
    };
    Ok(CheckedSettings { settings: request.written.iter().map(meant).collect(), loosens })
}

/// Refuses what is wrong with settings that were given, and not what is wrong in files.
fn refuse(problems: Vec<Notice>) -> Result<(), AppError> {
    let problems: Vec<Notice> = problems.into_iter().filter(|problem| problem.origin.layer == Layer::Flags).collect();
    match problems.as_slice() {
        [] => Ok(()),
        problems => {
            let words =
                |problem: &Notice| format!("{}: {}", problem.key.as_deref().unwrap_or_default(), problem.message);
            Err(invalid(problems.iter().map(words).collect::<Vec<_>>().join("\n")))
        }
    }
}

/// A value as it is written.
fn value_of(text: &str) -> Json {
    text.parse().map_or_else(|_| Json::from(text), |value| json_of(&value))
}

/// A value or a section as JSON.
pub(crate) fn item_as_json(item: &Item) -> Json {
    match item {
        Item::Value(value) => json_of(value),
        Item::Table(table) => table.iter().map(|(key, item)| (key.to_owned(), item_as_json(item))).collect(),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| item_as_json(&Item::Table(table.clone()))).collect(),
        Item::None => Json::Null,
    }
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::from(text.value().as_str()),
        Value::Integer(number) => Json::from(*number.value()),
        Value::Float(number) => Json::from(*number.value()),
        Value::Boolean(switch) => Json::from(*switch.value()),
        Value::Datetime(date) => Json::from(date.value().to_string()),
        Value::Array(items) => items.iter().map(json_of).collect(),
        Value::InlineTable(table) => table.iter().map(|(key, value)| (key.to_owned(), json_of(value))).collect(),
    }
}

/// The file, whether it exists or not.
pub(crate) fn own_file(env: &Env) -> PathBuf {
    env.config_dir().join("config.toml")
}

/// Refuses settings that the next start could not read: it would not begin at all.
fn refuse_unusable(app: &StorelessApp, folder: &str, settings: &[NewSetting]) -> Result<(), AppError> {
    let kept = settings.iter().filter(|new| !new.value.is_null());
    let given: Vec<String> = kept.map(|new| format!("{}={}", new.key, new.value)).collect();
    refuse(app.load_around(Path::new(folder), &given).1)
}

/// What would be written, without secrets, before it is.
pub(crate) async fn preview(app: &StorelessApp, request: PreviewSettings) -> Result<SettingsPreview, AppError> {
    refuse_unusable(app, &request.folder, &request.settings)?;
    let file = own_file(&app.env);
    let shown = app.env.shown(&file);
    let present = own_text(&app.env)?;
    let new = changed(&present, &request.settings).map_err(|error| failed(format!("{shown}: {error}")))?;
    // A file that is no TOML is refused above.
    let masked = |text: &str| neco_config::masked(text).unwrap_or_default();
    let redactor = app.redactor(Path::new(&request.folder));
    let (before, after) = (masked(&present), masked(&new));
    let diff = redactor.redact(&unified(&before, &after), Scope::Said).into_owned();
    let hides_change = present != new && before == after;
    let from = holds_from(&request.settings).into();
    Ok(SettingsPreview { file: shown, exists: file.exists(), diff, hides_change, from })
}

/// What is different in a text, without a head.
fn unified(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).to_string()
}

pub(crate) async fn set(app: &StorelessApp, request: SetSettings) -> Result<WrittenSettings, AppError> {
    refuse_unusable(app, &request.folder, &request.settings)?;
    let shown = app.env.shown(&own_file(&app.env));
    change(&app.env, |present| {
        let new = changed(present, &request.settings);
        new.map(Some).map_err(|error| failed(format!("{shown}: {error}")))
    })?;
    Ok(WrittenSettings { file: shown, from: holds_from(&request.settings).into() })
}

/// From when on settings hold: the last of the moments of each.
fn holds_from(settings: &[NewSetting]) -> HoldsFrom {
    let all = |like: &dyn Fn(&str) -> bool| settings.iter().any(|new| like(&new.key));
    match (all(&|key| key.starts_with("tui.")), all(&|key| OF_SESSIONS.contains(&key))) {
        (true, _) => HoldsFrom::Window,
        (false, true) => HoldsFrom::Session,
        (false, false) => HoldsFrom::Turn,
    }
}

/// The settings with the new ones in them.
pub(crate) fn changed(present: &str, settings: &[NewSetting]) -> Result<String, AppError> {
    let unreadable = |error: TomlError| failed(error.to_string());
    let mut document: DocumentMut = present.parse().map_err(unreadable)?;
    for NewSetting { key, value } in settings {
        let keys = Key::parse(key).map_err(unreadable)?;
        if value.is_null() {
            take_out(&mut document, key, &keys)?;
            continue;
        }
        let mut value = as_toml(value)?;
        value.decor_mut().clear();
        let Some((last, sections)) = keys.split_last() else { continue };
        let mut inside = Some(document.as_item_mut());
        for section in sections {
            let table = inside.and_then(Item::as_table_like_mut);
            inside = table.map(|table| table.entry(section.get()).or_insert_with(section_of_others));
        }
        let Some(table) = inside.and_then(Item::as_table_like_mut) else {
            return Err(failed(format!("a value stands where {key} needs a section; delete it first")));
        };
        // One setting has one name in a file: the one that is there.
        let names: Vec<&str> = keys.iter().map(Key::get).collect();
        let others: Vec<&str> = other_names(&names).into_iter().filter(|other| table.contains_key(other)).collect();
        let name = match others.first().filter(|_| !table.contains_key(last.get())) {
            Some(other) => *other,
            None => {
                others.iter().for_each(|other| drop(table.remove(other)));
                last.get()
            }
        };
        match table.get_mut(name) {
            // What is written about it stays beside it.
            Some(Item::Value(old)) => {
                let around = old.decor().clone();
                *old = value;
                *old.decor_mut() = around;
            }
            Some(_) | None => drop(table.insert(name, Item::Value(value))),
        }
    }
    Ok(document.to_string())
}

/// A value of JSON as TOML has it.
pub(crate) fn as_toml(value: &Json) -> Result<Value, AppError> {
    value.to_string().parse().map_err(|error: TomlError| failed(error.to_string()))
}

/// Refuses a whole file that the next start could not read.
pub(crate) fn refuse_text(env: &Env, text: &str) -> Result<(), AppError> {
    let home = tempfile::tempdir().map_err(failed)?;
    let alone = env.moved_to(home.path());
    fs::write(own_file(&alone), text).map_err(failed)?;
    let options = LoadOptions { env: &alone, cwd: home.path(), overrides: &[] };
    match neco_config::load_around(options).1.first() {
        None => Ok(()),
        Some(problem) => Err(invalid(problem.message.clone())),
    }
}

/// The text of the person's own file of settings; an empty one where there is none.
pub(crate) fn own_text(env: &Env) -> Result<String, AppError> {
    let file = own_file(env);
    match fs::read_to_string(&file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(failed(format!("{}: {error}", env.shown(&file)))),
    }
}

/// Changes the person's own file of settings, which nobody else changes meanwhile; where `change` gives no new text it
/// stays as it is. Says whether it was changed.
pub(crate) fn change(
    env: &Env,
    change: impl FnOnce(&str) -> Result<Option<String>, AppError>,
) -> Result<bool, AppError> {
    let file = own_file(env);
    let in_file = |words: &str, error: std::io::Error| failed(format!("{}{words}: {error}", env.shown(&file)));
    let _lock = lock(env).map_err(|error| in_file("", error))?;
    let Some(text) = change(&own_text(env)?)? else { return Ok(false) };
    write(&file, &text).map_err(|error| in_file(" can't be written", error))?;
    Ok(true)
}

/// Takes a setting out, by whichever of its names it is there.
fn take_out(document: &mut DocumentMut, key: &str, keys: &[Key]) -> Result<(), AppError> {
    let not_there = || invalid(format!("{key} is not set there"));
    let (last, sections) = keys.split_last().ok_or_else(not_there)?;
    let mut inside = Some(document.as_item_mut());
    for section in sections {
        let table = inside.and_then(Item::as_table_like_mut);
        inside = table.and_then(|table| table.get_mut(section.get()));
    }
    let table = inside.and_then(Item::as_table_like_mut).ok_or_else(not_there)?;
    let names: Vec<&str> = keys.iter().map(Key::get).collect();
    let mut all: Vec<&str> = other_names(&names);
    all.insert(0, last.get());
    let removed = all.into_iter().find_map(|name| table.remove(name));
    removed.map(drop).ok_or_else(not_there)
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
pub(crate) fn write(file: &Path, text: &str) -> std::io::Result<()> {
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
        let gone = |key: &str| [NewSetting { key: key.to_owned(), value: Json::Null }];
        let without = changed(&written, &gone("model_providers.mine.base_url")).unwrap();
        assert!(!without.contains("localhost") && without.contains("mine/a"), "{without}");
        assert!(
            changed(&without, &gone("agent.max_turns")).unwrap_err().message.contains("agent.max_turns is not set")
        );
        let only_sections = changed("[agent]\nmax_turns = 3\n", &[new("model", "a/b")]).unwrap();
        assert!(only_sections.parse::<DocumentMut>().unwrap()["model"].is_str(), "{only_sections}");
        assert!(changed("model = \n", &[new("model", "a/b")]).is_err(), "what can't be read is left alone");
        let taken = changed("tui = 'dark'\n", &[new("tui.theme", "dark")]).unwrap_err().message;
        assert_eq!(taken, "a value stands where tui.theme needs a section; delete it first");
        let two = changed(&written, &[new("model_providers.mine-2.base", "http://localhost:2/v1")]).unwrap();
        let providers = two.parse::<DocumentMut>().unwrap()["model_providers"].clone();
        assert_eq!(providers.as_table_like().map(|table| table.len()), Some(2), "{two}");
    }

    #[test]
    fn a_setting_stands_under_one_of_its_names() {
        let set = |present: &str, key: &str| changed(present, &[new(key, "B")]).unwrap();
        let theirs = "[model_providers.a]\n# mine\nenv_key = \"A\" # yes\n";
        let changed_theirs = "[model_providers.a]\n# mine\nenv_key = \"B\" # yes\n";
        assert_eq!(set(theirs, "model_providers.a.api_key_env"), changed_theirs);
        assert_eq!(set(theirs, "model_providers.a.env_key"), changed_theirs);
        let ours = "[model_providers.a]\napi_key_env = \"A\"\n";
        assert_eq!(set(ours, "model_providers.a.env_key"), "[model_providers.a]\napi_key_env = \"B\"\n");
        let both = "[model_providers.a]\napi_key_env = \"A\"\nenv_key = \"C\"\n";
        assert_eq!(set(both, "model_providers.a.api_key_env"), "[model_providers.a]\napi_key_env = \"B\"\n");
        let in_one = [new("model_providers.a.env_key", "A"), new("model_providers.a.api_key_env", "B")];
        assert_eq!(changed("", &in_one).unwrap(), "[model_providers.a]\nenv_key = \"B\"\n");
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
