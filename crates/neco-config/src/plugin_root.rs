//! The folder of a plugin, where its own texts name it.

use std::path::Path;

/// Variables that stand for a plugin's folder in what it brings.
pub const ROOT_VARIABLES: [&str; 3] = ["NECO_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT", "extensionPath"];

/// A text of a plugin with the plugin's folder in the place of the variables that stand for it.
pub fn with_plugin_root(text: &str, folder: &Path) -> String {
    let shown = folder.display().to_string();
    let text = ROOT_VARIABLES.iter().fold(text.to_owned(), |text, name| text.replace(&format!("${{{name}}}"), &shown));
    text.replace("${/}", "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_folder_is_replaced_and_nothing_else() {
        let text = "${CLAUDE_PLUGIN_ROOT}/a ${NECO_PLUGIN_ROOT}/b ${extensionPath}${/}c ${HOME} $1";
        assert_eq!(with_plugin_root(text, Path::new("/p")), "/p/a /p/b /p/c ${HOME} $1");
    }
}
