//! What a single request has to come to: where its last message goes, and what that must look like.

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use neco_tui::line::run::Judge;
use serde_json::Value;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::failure::Failure;

/// What a request has to come to; nothing in particular by default.
#[derive(Default)]
pub struct Ends {
    output: Option<PathBuf>,
    schema: Option<(Value, Validator)>,
}

impl Ends {
    /// As the flags say.
    pub fn of(args: &RunArgs) -> Result<Self, Failure> {
        // On stdout the last message is anyway.
        let output = args.output.clone().filter(|file| file.as_os_str() != "-");
        // Known before a model is asked: what it says would be paid for and lost.
        if let Some(file) = output.as_ref().filter(|file| !has_place(file)) {
            let words = format!("the last message can't be written to {}: there is no such folder", file.display());
            return Err(Failure::usage(words));
        }
        let schema = args.output_schema.as_ref().map(|file| {
            let wrong = |why: String| Failure::usage(format!("the schema {} can't be used: {why}", file.display()));
            let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
            let schema: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            let validator = jsonschema::validator_for(&schema).map_err(|error| wrong(error.to_string()))?;
            Ok::<_, Failure>((schema, validator))
        });
        Ok(Self { output, schema: schema.transpose()? })
    }

    /// The message with what the model has to know of this. It begins with a fence, where the title of a session ends.
    pub fn told(&self, message: String) -> String {
        match &self.schema {
            None => message,
            Some((schema, _)) => format!(
                "{message}\n\n```json\n{schema:#}\n```\n\nWhen you are done, your last message is JSON that fits this \
                 schema, and nothing else: no words around it, no code fence."
            ),
        }
    }

    /// The same as what has the last word about a run.
    pub fn judge(self) -> Judge {
        Box::new(move |exit, last| self.after(exit, last))
    }

    /// How the process ends after its work did so with these last words, and why where that is not the same.
    fn after(&self, exit: Exit, last: &str) -> (Exit, Option<String>) {
        if let Some(file) = &self.output
            && let Err(error) = std::fs::write(file, format!("{}\n", last.trim_end_matches('\n')))
        {
            let words = format!("the last message can't be written to {}: {error}", file.display());
            return (Exit::Failed, Some(words));
        }
        match (&self.schema, exit) {
            (Some((_, validator)), Exit::Done | Exit::Refused) => match misfit(validator, last) {
                Some(why) => {
                    // What was refused is the better reason.
                    let exit = if exit == Exit::Done { Exit::Failed } else { exit };
                    (exit, Some(format!("the answer does not match the schema: {why}")))
                }
                None => (exit, None),
            },
            (_, exit) => (exit, None),
        }
    }
}

/// Whether a file could be there.
fn has_place(file: &Path) -> bool {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.is_dir() && !file.is_dir()
}

fn misfit(validator: &Validator, last: &str) -> Option<String> {
    match serde_json::from_str::<Value>(last.trim()) {
        Err(error) => Some(format!("it is not JSON: {error}")),
        Ok(value) => validator.iter_errors(&value).next().map(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_fits_or_says_why_not() {
        let schema = json!({ "type": "object", "required": ["ok"] });
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert_eq!(misfit(&validator, " {\"ok\": true}\n"), None);
        assert!(misfit(&validator, "{}").unwrap().contains("ok"));
        assert!(misfit(&validator, "Done.").unwrap().contains("not JSON"));
        let ends = Ends { output: None, schema: Some((schema, validator)) };
        for (exit, after) in [(Exit::Done, Exit::Failed), (Exit::Refused, Exit::Refused)] {
            let (exit, why) = ends.after(exit, "Done.");
            assert_eq!((exit, why.is_some_and(|why| why.contains("does not match"))), (after, true));
        }
        assert_eq!(ends.after(Exit::Limit, "Done."), (Exit::Limit, None));
        assert_eq!(neco_session::title::first_words(&ends.told("a b".to_owned())), "a b");
    }
}
