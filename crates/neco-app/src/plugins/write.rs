//! A new plugin to begin with: a manifest, a skill and a command.

use std::fs;
use std::path::Path;

use neco_ext::plugins::is_name;
use neco_ext::skills::{is_name as is_skill_name, new_in};
use neco_proto::app::AppError;
use neco_proto::app::plugins::{NewPlugin, WrittenPlugin};
use serde_json::json;

use crate::app::StorelessApp;
use crate::error::{failed, invalid};
use crate::opening::on_thread;

/// What the skill is called where the plugin's name can't be that of one.
const SKILL: &str = "guide";

pub(crate) async fn new(_: &StorelessApp, request: NewPlugin) -> Result<WrittenPlugin, AppError> {
    on_thread(move || written(&request)).await
}

fn written(request: &NewPlugin) -> Result<WrittenPlugin, AppError> {
    let name = &request.name;
    if !is_name(name) {
        let words = "letters, digits, `-`, `_` and `.`, at most 64, the first no sign";
        return Err(invalid(format!("{name:?} is no name for a plugin: {words}")));
    }
    let folder = Path::new(&request.folder).join(name);
    if folder.symlink_metadata().is_ok() {
        return Err(invalid(format!("{} is there already", folder.display())));
    }
    let usual = format!("What {name} is for, in one sentence");
    let description = request.description.clone().unwrap_or(usual);
    let manifest = json!({ "name": name, "version": "0.1.0", "description": description });
    let command = "---\ndescription: Says what this command does\nargument-hint: WHAT\n---\n\
                   Do this with $ARGUMENTS.\n";
    let mut files = Vec::new();
    for (place, text) in
        [(".neco-plugin/plugin.json", format!("{manifest:#}\n")), ("commands/run.md", command.to_owned())]
    {
        let file = folder.join(place);
        let write = || fs::create_dir_all(file.parent().unwrap_or(&folder)).and_then(|()| fs::write(&file, text));
        write().map_err(|error| failed(format!("{}: {error}", file.display())))?;
        files.push(file);
    }
    let skill = name.to_lowercase().replace(['_', '.'], "-");
    let skill = if is_skill_name(&skill) { skill.as_str() } else { SKILL };
    files.push(new_in(&folder.join("skills"), skill, None).map_err(failed)?);
    Ok(WrittenPlugin { files: files.iter().map(|file| file.display().to_string()).collect() })
}
