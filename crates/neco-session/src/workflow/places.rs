//! Where workflows are, and which is meant by a name.

use std::fs;
use std::path::{Path, PathBuf};

use neco_proto::app::Origin;
use neco_safety::policy::Telling;
use neco_safety::world::Files;
use neco_safety::{Policy, invisible};
use neco_workspace::GitFacts;

use super::definition::{Form, WorkflowFile};
use super::error::WorkflowError;
use crate::sources::reader::{Reader, Whose, files_in};

/// Where a folder keeps its workflows.
const FOLDER: &str = ".neco/workflows";
/// The biggest file.
const BIGGEST: u64 = 4 * 1024 * 1024;
/// Those that come with the program.
const BUILT_IN: [&str; 1] = [include_str!("builtin/delivery.toml")];

/// Where the person's own workflows are.
#[derive(Clone, Debug)]
pub struct WorkflowPlaces {
    /// Folders; the first one counts.
    pub own: Vec<PathBuf>,
    /// Folders of plugins: what stands in them takes the place of nothing that the person had before.
    pub plugins: Vec<PathBuf>,
    /// Judges which files of a folder may be told.
    pub telling: Telling,
}

impl Default for WorkflowPlaces {
    fn default() -> Self {
        Self { own: Vec::new(), plugins: Vec::new(), telling: Policy::default().telling() }
    }
}

/// A workflow that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundWorkflow {
    /// The name it is found by.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Where its file is; nothing for what comes with the program.
    pub path: Option<PathBuf>,
    /// What it says, or what is wrong with it.
    pub file: Result<WorkflowFile, WorkflowError>,
}

impl WorkflowPlaces {
    /// All workflows for work in `cwd`; the first one of a name counts. What plugins and then a folder bring stands
    /// behind what the person has and what comes with the program, so that a name means what it meant elsewhere.
    pub fn list(&self, cwd: &Path) -> Vec<FoundWorkflow> {
        let of = |folders: &[PathBuf]| -> Vec<FoundWorkflow> {
            folders.iter().flat_map(|folder| workflows_in(folder)).map(|path| read(path, Origin::Person)).collect()
        };
        let mut all = of(&self.own);
        all.extend(BUILT_IN.iter().map(|text| {
            let file = WorkflowFile::read(text, Form::Toml);
            let name = file.as_ref().map(|file| file.name.clone()).unwrap_or_default();
            FoundWorkflow { name, origin: Origin::BuiltIn, path: None, file }
        }));
        all.extend(of(&self.plugins));
        let root = GitFacts::of(cwd).map_or_else(|| cwd.to_path_buf(), |facts| facts.root);
        let folders = cwd.ancestors().take_while(|folder| folder.starts_with(&root));
        // What leads out of the folder, or to what may not be told, is not the folder's.
        if let Ok(files) = Files::new(&root, Vec::new()) {
            let reader = Reader::new(&files, &self.telling, Whose::Project);
            let paths = folders.flat_map(|folder| workflows_in(&folder.join(FOLDER)));
            let paths = paths.filter(|path| reader.locate(path).is_ok());
            all.extend(paths.map(|path| read(path, Origin::Folder)));
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|found| seen.insert(found.name.clone()));
        all
    }

    /// The workflow of a name, or in a file that is named by its path.
    pub fn find(&self, name: &str, cwd: &Path) -> Result<FoundWorkflow, WorkflowError> {
        let path = cwd.join(name);
        if Form::of(&path).is_some() || name.contains('/') {
            return Ok(read(path, Origin::Named));
        }
        self.named(name, cwd)
    }

    /// The workflow of a name.
    pub fn named(&self, name: &str, cwd: &Path) -> Result<FoundWorkflow, WorkflowError> {
        let all = self.list(cwd);
        let known = || all.iter().map(|found| found.name.clone()).collect();
        let found = all.iter().find(|found| found.name == name).cloned();
        found.ok_or_else(|| WorkflowError::Unknown { name: name.to_owned(), known: known() })
    }
}

fn read(path: PathBuf, origin: Origin) -> FoundWorkflow {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let file = text(&path).and_then(|(text, form)| WorkflowFile::read(&text, form));
    let name = file.as_ref().map_or(stem, |file| file.name.clone());
    FoundWorkflow { name, origin, path: Some(path), file }
}

fn text(path: &Path) -> Result<(String, Form), WorkflowError> {
    let unreadable = |words: String| WorkflowError::Unreadable(format!("{}: {words}", path.display()));
    let form = Form::of(path).ok_or_else(|| unreadable("a workflow is a .toml, .yaml or .json file".to_owned()))?;
    let facts = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !facts.is_file() || facts.len() > BIGGEST {
        return Err(unreadable("it is no file, or too big for a workflow".to_owned()));
    }
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    Ok((invisible::seen(&text).text.into_owned(), form))
}

fn workflows_in(folder: &Path) -> Vec<PathBuf> {
    files_in(folder, usize::MAX, |path| Form::of(path).is_some() && path.is_file())
}
