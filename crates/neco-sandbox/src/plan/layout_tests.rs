//! Plans for a home with a workspace in it.

use rustix::fs::FileType;

use super::*;
use crate::survey::unreadable::Entry;
use neco_config::section::SandboxSection;
use neco_safety::path::later::guard_skills;

struct Stage {
    _folder: tempfile::TempDir,
    home: PathBuf,
    workspace: PathBuf,
}

fn stage() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(folder.path()).unwrap().join("home");
    let workspace = home.join("project");
    for path in [
        ".ssh",
        ".aws",
        ".claude",
        ".config/neco",
        ".local/share/neco/outputs",
        "project/.git/hooks",
        "project/.vscode",
    ] {
        fs::create_dir_all(home.join(path)).unwrap();
    }
    for path in ["project/.git/config", "project/.env", ".netrc"] {
        fs::write(home.join(path), "x").unwrap();
    }
    Stage { _folder: folder, home, workspace }
}

fn draw(stage: &Stage, section: &SandboxSection, workspace: &Path) -> Layout {
    let settings = Settings::of(section, Some(&stage.home));
    let machine = Machine {
        other_homes: Vec::new(),
        home: Some(stage.home.clone()),
        own: vec![stage.home.join(".config/neco"), stage.home.join(".local/share/neco")],
        given: Vec::new(),
        shown: Vec::new(),
        stand_ins: BTreeSet::new(),
        opened: Named::default(),
        shut: ShutPlaces::default(),
        missing: Missing::PutAside,
    };
    let roots =
        Roots { writable: vec![workspace.to_path_buf()], readable: vec![stage.home.join(".local/share/neco/outputs")] };
    let found = Found {
        secrets: vec![(stage.workspace.join(".env"), (0, 0))],
        repositories: vec![(stage.workspace.join(".git"), (0, 0))],
        ..Found::default()
    };
    Layout::new(&settings, &machine, &roots, &found, &Facts::default())
}

fn seen(layout: &Layout, path: &Path) -> Option<Seen> {
    layout.places.iter().find(|(own, _)| own == path).map(|(_, seen)| *seen)
}

#[test]
fn the_workspace_is_writable_and_what_matters_in_it_is_not() {
    let stage = stage();
    let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
    let at = |path: &str| seen(&layout, &stage.workspace.join(path));
    assert_eq!(at(""), Some(Seen::Root));
    assert_eq!(at(".git"), Some(Seen::Writable));
    assert_eq!((at(".git/hooks"), at(".git/config")), (Some(Seen::ReadOnly), Some(Seen::ReadOnly)));
    assert_eq!((at(".vscode"), at(".claude")), (Some(Seen::ReadOnly), Some(Seen::StandIn)));
    assert_eq!((at(".neco"), at(".env")), (Some(Seen::StandIn), Some(Seen::HiddenFile)));
    assert_eq!((at(".mcp.json"), at(".gemini")), (None, None), "nothing is seen where nobody would follow it");
    let missing = |name: &str| layout.missing.contains(&stage.workspace.join(name));
    assert!(missing(".mcp.json") && missing(".gemini") && !missing(".claude") && !missing(".vscode"));
    assert_eq!((at(".git/commondir"), at(".git/config.worktree")), (Some(Seen::StandInFile), Some(Seen::StandInFile)));
    assert_eq!((at("refs"), &layout.never_bare), (None, &vec![stage.workspace.clone()]));
    fs::write(stage.workspace.join("HEAD"), "x").unwrap();
    let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
    assert_eq!(seen(&layout, &stage.workspace.join("refs")), Some(Seen::StandIn), "half a repository");
    assert_eq!(layout.unwanted, [stage.workspace.join(".git/gitdir")]);
    let depth = |place: &(PathBuf, Seen)| place.0.components().count();
    assert!(layout.places.is_sorted_by_key(depth));
}

#[test]
fn skills_of_the_person_are_kept_in_a_workspace_and_around_it() {
    let stage = stage();
    fs::create_dir_all(stage.workspace.join("src/evil")).unwrap();
    guard_skills(stage.workspace.join("src"));
    guard_skills(stage.workspace.join("later"));
    let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
    let at = |path: &str| seen(&layout, &stage.workspace.join(path));
    assert_eq!((at(""), at("src")), (Some(Seen::Root), Some(Seen::ReadOnly)));
    assert!(layout.missing.contains(&stage.workspace.join("later")));
    let inside = draw(&stage, &SandboxSection::default(), &stage.workspace.join("src/evil"));
    assert_eq!(seen(&inside, &stage.workspace.join("src/evil")), Some(Seen::ReadOnly));
}

#[test]
fn the_repository_at_the_top_is_kept_whatever_a_search_found() {
    let stage = stage();
    for path in ["modules/group/m/hooks", "worktrees/w"] {
        fs::create_dir_all(stage.workspace.join(".git").join(path)).unwrap();
    }
    for path in ["HEAD", "modules/group/m/HEAD", "worktrees/w/commondir", "worktrees/w/gitdir"] {
        fs::write(stage.workspace.join(".git").join(path), "x").unwrap();
    }
    let roots = Roots { writable: vec![stage.workspace.clone()], readable: Vec::new() };
    let settings = Settings::of(&SandboxSection::default(), None);
    let layout = Layout::new(&settings, &Machine::default(), &roots, &Found::default(), &Facts::default());
    let at = |path: &str| seen(&layout, &stage.workspace.join(".git").join(path));
    for pinned in ["", "modules", "modules/group", "modules/group/m", "worktrees", "worktrees/w"] {
        assert_eq!(at(pinned), Some(Seen::Writable), "{pinned}");
    }
    for kept in ["hooks", "config", "modules/group/m/hooks", "worktrees/w/commondir", "worktrees/w/gitdir"] {
        assert_eq!(at(kept), Some(Seen::ReadOnly), "{kept}");
    }
    for file in ["commondir", "modules/group/m/commondir", "worktrees/w/config.worktree"] {
        assert_eq!(at(file), Some(Seen::StandInFile), "{file}");
    }
}

#[test]
fn settings_that_are_links_are_known_and_what_they_lead_to_is_kept() {
    let stage = stage();
    fs::create_dir(stage.workspace.join("shared")).unwrap();
    for (text, name) in [("shared", ".zed"), ("nowhere", ".idea"), ("/nowhere/at/all", ".envrc")] {
        std::os::unix::fs::symlink(text, stage.workspace.join(name)).unwrap();
    }
    let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
    let at = |path: &str| seen(&layout, &stage.workspace.join(path));
    assert_eq!((at("shared"), at("nowhere")), (Some(Seen::ReadOnly), Some(Seen::StandIn)));
    let mut links: Vec<_> = layout.links.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap()).collect();
    links.sort_unstable();
    assert_eq!(links, [".envrc", ".idea", ".zed"]);
}

#[test]
fn secrets_at_home_are_hidden_and_what_the_box_needs_there_is_not() {
    let stage = stage();
    let layout = draw(&stage, &SandboxSection::default(), &stage.workspace);
    let at = |path: &str| seen(&layout, &stage.home.join(path));
    assert_eq!((at(".ssh"), at(".netrc")), (Some(Seen::HiddenFolder), Some(Seen::HiddenFile)));
    assert_eq!((at(".config/neco"), at(".kube")), (Some(Seen::HiddenFolder), None));
    assert_eq!((at(".local/share/neco"), at(".local/share/neco/outputs")), (Some(Seen::Emptied), Some(Seen::ReadOnly)));
    let allowed = SandboxSection { readable: vec!["~/.ssh".into(), ".env".into()], ..SandboxSection::default() };
    let layout = draw(&stage, &allowed, &stage.workspace);
    assert_eq!((seen(&layout, &stage.home.join(".ssh")), seen(&layout, &stage.workspace.join(".env"))), (None, None));
}

#[test]
fn a_home_that_is_worked_in_keeps_what_starts_and_hides_what_is_secret() {
    let stage = stage();
    let layout = draw(&stage, &SandboxSection::default(), &stage.home);
    let at = |path: &str| seen(&layout, &stage.home.join(path));
    assert_eq!((at(""), at(".ssh")), (Some(Seen::Root), Some(Seen::HiddenFolder)));
    assert_eq!((at(".bashrc"), at(".config")), (Some(Seen::StandInFile), Some(Seen::ReadOnly)));
    assert_eq!(at(".aws"), Some(Seen::HiddenFolder));
}

#[test]
fn reading_only_leaves_nothing_to_change() {
    let stage = stage();
    let section = SandboxSection { level: Level::ReadOnly, writable: vec!["/tmp".into()], ..SandboxSection::default() };
    let layout = draw(&stage, &section, &stage.workspace);
    assert_eq!(layout.seen_as(&[Seen::Root, Seen::Writable]).count(), 0);
    assert_eq!(seen(&layout, &stage.workspace), Some(Seen::ReadOnly), "it may lie below a covered folder");
    assert_eq!(seen(&layout, &stage.workspace.join(".env")), Some(Seen::HiddenFile));
}

#[test]
fn what_was_listed_and_is_gone_by_now_stays_away() {
    let stage = stage();
    let (settings, machine) = (Settings::of(&SandboxSection::default(), None), Machine::default());
    let (facts, places, layout) = (Facts::default(), BTreeMap::new(), Layout::default());
    let mut drawing = Drawing { settings: &settings, machine: &machine, facts: &facts, places, layout };
    std::os::unix::fs::symlink("/nowhere/at/all", stage.workspace.join(".envrc")).unwrap();
    let names = [".mcp.json", ".vscode", ".envrc"];
    let entry = |name: &str| Entry { name: name.into(), kind: FileType::RegularFile };
    facts.listed.take(&stage.workspace, names.map(entry).into());
    names.iter().for_each(|name| drawing.keep_if_there(stage.workspace.join(name)));
    let at = |name: &str| drawing.places.get(&stage.workspace.join(name)).copied();
    assert_eq!(names.map(at), [Some(Seen::StandIn), Some(Seen::ReadOnly), None], "a link is no place");
    assert!(drawing.layout.missing.is_empty() && drawing.layout.links.len() == 1);
}
