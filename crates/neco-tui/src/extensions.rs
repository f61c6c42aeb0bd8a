//! `/skills` and `/plugins`: what a person has added to Neco, one of it, and a plugin switched on and off.

use neco_proto::app::AppError;
use neco_proto::app::plugins::{ListPlugins, PluginRow, ShowPlugin, SwitchPlugin};
use neco_proto::app::skills::{ListSkills, ShowSkill};
use neco_proto::clean::{clean, clean_line};
use neco_view::figures;
use neco_view::paint::lists::{plugins, skills};
use neco_view::slash::Outside;

use crate::host::{CommandOutcome, Listed};
use crate::outside::{Beyond, print, usage};

/// Every skill, or what one of them says.
pub(crate) async fn skills(beyond: &Beyond<'_>, name: &str) -> Result<CommandOutcome, AppError> {
    let (folder, home) = (beyond.folder(), beyond.home());
    if !name.is_empty() {
        let shown = beyond.ask(&ShowSkill { folder, name: name.to_owned() }).await?;
        return Ok(print(&skills::whole(&shown, &home)));
    }
    let list = beyond.ask(&ListSkills { folder }).await?;
    let text = skills::as_lines(&list, &home);
    let rows: Vec<(String, String)> =
        list.skills.iter().map(|one| (one.name.clone(), skills::in_short(one, &home))).collect();
    Ok(listed(Outside::Skills, "skill", rows, list.warnings, text))
}

/// `/plugins`, `/plugins NAME`, `/plugins enable NAME`, `/plugins disable NAME`.
pub(crate) async fn plugins(beyond: &Beyond<'_>, text: &str) -> Result<CommandOutcome, AppError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let folder = beyond.folder();
    match words.as_slice() {
        [] | ["list"] => {
            let list = beyond.ask(&ListPlugins { folder }).await?;
            let row = |row: &PluginRow| {
                let about = if row.description.is_empty() { &row.source } else { &row.description };
                let about = format!("{} · {}", plugins::standing(row), clean_line(about));
                (row.name.clone(), about)
            };
            let rows = list.plugins.iter().map(row).collect();
            Ok(listed(Outside::Plugins, "plugin", rows, list.warnings.clone(), clean(&plugins::as_lines(&list))))
        }
        [word @ ("enable" | "disable"), name] => {
            let (name, enabled) = ((*name).to_owned(), *word == "enable");
            let row = beyond.ask(&SwitchPlugin { folder, name, enabled, project: false }).await?;
            let off = row.off.as_ref().map(|off| format!(". {}", clean_line(off))).unwrap_or_default();
            Ok(CommandOutcome::Say(format!("{} is {}{off}", row.name, plugins::standing(&row))))
        }
        [word @ ("enable" | "disable" | "show")] => Err(usage(format!("/plugins {word} NAME; /plugins lists them"))),
        [word @ ("add" | "install" | "update" | "remove" | "search" | "marketplace" | "validate" | "new"), ..] => {
            let word = if *word == "install" { "add" } else { word };
            let words = format!(
                "`neco plugin {word} …` in another terminal does that, and shows what a plugin brings before it counts; \
                 `neco plugin {word} --help` says how"
            );
            Ok(CommandOutcome::Say(words))
        }
        [name] | ["show", name] => {
            let shown = beyond.ask(&ShowPlugin { folder, name: (*name).to_owned() }).await?;
            let warnings = lines(&shown.warnings);
            Ok(print(&format!("{warnings}{}", clean(&plugins::described(&shown)))))
        }
        _ => Err(usage("/plugins, /plugins NAME, /plugins enable NAME or /plugins disable NAME")),
    }
}

/// Things to choose from; where there are none, the words that say so.
fn listed(
    shows: Outside,
    thing: &str,
    rows: Vec<(String, String)>,
    warnings: Vec<String>,
    text: String,
) -> CommandOutcome {
    if rows.is_empty() {
        return print(&format!("{}{text}", lines(&warnings)));
    }
    let title = format!("Search {}", figures::count(rows.len() as u64, thing));
    CommandOutcome::List(Listed { title, rows, shows, warnings, text })
}

fn lines(warnings: &[String]) -> String {
    warnings.iter().map(|warning| format!("{}\n", clean_line(warning))).collect()
}
