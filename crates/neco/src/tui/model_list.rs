//! The models and groups that a person can choose from.

use neco_proto::app::models::{ModelList, ModelRow};
use neco_tui::host::ModelEntry;

use crate::print::figures;

/// Groups first, then the models of every provider that can be asked.
pub fn entries(list: ModelList) -> Vec<ModelEntry> {
    let groups = list.groups.into_iter();
    let groups = groups.map(|(name, group)| ModelEntry { name, about: format!("group: {}", group.models.join(", ")) });
    groups.chain(list.models.into_iter().map(entry)).collect()
}

fn entry(model: ModelRow) -> ModelEntry {
    let facts = &model.facts;
    let about = if facts.known { "" } else { "~" };
    let price = facts.input_price.zip(facts.output_price);
    let price = price.map(|(input, output)| format!(", ${input} in, ${output} out per M")).unwrap_or_default();
    let about = format!("{about}{} tokens{price}", figures::tokens(facts.context_window));
    ModelEntry { name: model.name, about }
}
