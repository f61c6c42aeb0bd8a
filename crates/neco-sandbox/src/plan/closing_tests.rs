//! What rules close in a folder.

use super::*;
use neco_safety::command::Place;
use neco_safety::policy::{Policy, RuleReader, Ruling};

struct Stage {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

fn stage(files: &[&str]) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    Stage { _folder: folder, root }
}

fn closing(root: &Path, rules: &[(Ruling, &str)]) -> Closing {
    let place = Place::new(root);
    let reader = RuleReader { place: &place };
    let rules = rules.iter().flat_map(|(ruling, text)| reader.flag(*ruling, text).rules).collect();
    Closing::new(&Policy::new(place.clone(), rules).closed(), &[root.to_path_buf()]).unwrap()
}

fn told(root: &Path, places: &ShutPlaces) -> Vec<String> {
    let name = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let word = |shut: &Shut| match (shut.reading, shut.changing) {
        (true, true) => "gone",
        (true, false) => "hidden",
        (false, true) => "kept",
        (false, false) => "open",
    };
    let there = places.places.iter().map(|(path, shut)| format!("{} {}", name(path), word(shut)));
    there.chain(places.missing.iter().map(|path| format!("{} missing", name(path)))).collect()
}

#[test]
fn places_are_named_or_found() {
    let stage = stage(&["secrets/a", "secrets/open/b", "x.key", "d/y.key", "d/z", "vendor/c", "node_modules/p/q.key"]);
    let found = |rules: &[(Ruling, &str)]| told(&stage.root, &closing(&stage.root, rules).places().unwrap());
    assert_eq!(found(&[(Ruling::Deny, "Read(secrets/)")]), ["secrets hidden"]);
    assert_eq!(found(&[(Ruling::Deny, "{ tool = '*', path = 'vendor' }")]), ["vendor gone"]);
    assert_eq!(found(&[(Ruling::Deny, "{ tool = 'bash', path = 'vendor/**' }")]), ["vendor gone"]);
    assert_eq!(found(&[(Ruling::Deny, "Edit(vendor/c)")]), ["vendor/c kept"]);
    assert_eq!(found(&[(Ruling::Deny, "Edit(later/on)")]), ["later/on missing"]);
    assert!(found(&[(Ruling::Deny, "Read(later)")]).is_empty(), "what is not there can't be read");
    let keys = ["d/y.key hidden", "node_modules/p/q.key hidden", "x.key hidden"];
    assert_eq!(found(&[(Ruling::Deny, "Read(**/*.key)")]), keys);
    assert_eq!(found(&[(Ruling::Deny, "Read({d,x}/*.key)")]), ["d/y.key hidden"]);
    let aside = stage.root.join("d/w.key.refused-1");
    fs::write(&aside, "x").unwrap();
    let hidden = ["d/w.key.refused-1 hidden", "d/y.key gone", "node_modules/p/q.key gone", "x.key gone"];
    assert_eq!(found(&[(Ruling::Deny, "{ tool = '*', path = '**/*.key' }")]), hidden, "it is not put aside again");
    fs::remove_file(&aside).unwrap();
    let opened = [
        (Ruling::Deny, "Read(secrets/)"),
        (Ruling::Allow, "{ tool = 'read_file', path = 'secrets/open', priority = 1 }"),
    ];
    assert_eq!(found(&opened), ["secrets hidden", "secrets/open open"]);
    let opened =
        [(Ruling::Deny, "Read(secrets/)"), (Ruling::Allow, "{ tool = 'read_file', path = '**/b', priority = 1 }")];
    assert_eq!(found(&opened), ["secrets hidden", "secrets/open/b open"]);
}

#[test]
fn links_are_followed_and_other_names_are_known() {
    let stage = stage(&["real/a", "real/b", "other/c"]);
    std::os::unix::fs::symlink("real", stage.root.join("vendor")).unwrap();
    fs::hard_link(stage.root.join("real/a"), stage.root.join("other/a2")).unwrap();
    let closing = closing(&stage.root, &[(Ruling::Deny, "{ tool = '*', path = 'vendor' }")]);
    assert_eq!(told(&stage.root, &closing.places().unwrap()), ["other/a2 gone", "real gone"]);
}

#[test]
fn a_look_again_costs_little_and_sees_what_changed() {
    let files: Vec<String> = (0..10_000).map(|number| format!("d{}/f{number}", number % 400)).collect();
    let stage = stage(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let closing = closing(&stage.root, &[(Ruling::Deny, "Read(**/*.key)")]);
    assert!(closing.places().unwrap().places.is_empty());
    std::thread::sleep(Duration::from_millis(150));
    closing.places().unwrap();
    let begun = Instant::now();
    closing.places().unwrap();
    let took = begun.elapsed();
    assert!(took < Duration::from_millis(100), "{took:?}, a few in a build for use");
    fs::write(stage.root.join("d7/new.key"), "x").unwrap();
    assert_eq!(told(&stage.root, &closing.places().unwrap()), ["d7/new.key hidden"]);
    fs::remove_file(stage.root.join("d7/new.key")).unwrap();
    assert!(closing.places().unwrap().places.is_empty());
}

#[test]
fn more_than_a_box_can_hold_is_told() {
    let files: Vec<String> = (0..=MOST_PLACES).map(|number| format!("d/{number}.key")).collect();
    let stage = stage(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let refused = closing(&stage.root, &[(Ruling::Deny, "Read(**/*.key)")]).places().unwrap_err().to_string();
    assert!(refused.contains("name the folders"), "{refused}");
    assert_eq!(told(&stage.root, &closing(&stage.root, &[(Ruling::Deny, "Read(d)")]).places().unwrap()), ["d hidden"]);
}

#[test]
fn what_was_made_meanwhile_is_known() {
    let stage = stage(&["a.lock", "secrets/x"]);
    let rules = [(Ruling::Deny, "Edit(**/*.lock)"), (Ruling::Deny, "Edit(later)"), (Ruling::Deny, "Read(secrets)")];
    let closing = closing(&stage.root, &rules);
    let before = closing.places().unwrap();
    fs::write(stage.root.join("b.lock"), "x").unwrap();
    fs::write(stage.root.join("secrets/y"), "x").unwrap();
    fs::create_dir(stage.root.join("later")).unwrap();
    assert_eq!(closing.made_since(&before).unwrap(), [stage.root.join("b.lock"), stage.root.join("later")]);
}

fn set(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_that_its_owner_may_not_read_hides_nothing() {
    let stage = stage(&["sub/a.key", "sub/b.lock"]);
    let sub = stage.root.join("sub");
    let closing = closing(&stage.root, &[(Ruling::Deny, "Read(**/*.key)"), (Ruling::Deny, "Edit(**/*.lock)")]);
    let before = closing.places().unwrap();
    for mode in [0o311, 0o000, 0o400] {
        set(&sub, mode);
        let now = closing.places();
        set(&sub, 0o755);
        assert_eq!(told(&stage.root, &now.unwrap()), told(&stage.root, &before), "{mode:o}");
    }
    fs::write(sub.join("c.lock"), "x").unwrap();
    set(&sub, 0o311);
    let made = closing.made_since(&before);
    set(&sub, 0o755);
    assert_eq!(made.unwrap(), [sub.join("c.lock")]);
}

#[test]
fn nothing_is_run_where_a_folder_cant_be_looked_at() {
    let stage = stage(&["sub/deep/a.key"]);
    let closing = closing(&stage.root, &[(Ruling::Deny, "Read(**/*.key)")]);
    set(&stage.root.join("sub"), 0o000);
    let (found, made) = (closing.places(), closing.made_since(&ShutPlaces::default()));
    set(&stage.root.join("sub"), 0o755);
    // Nothing is closed to root.
    match rustix::process::geteuid().is_root() {
        true => assert_eq!(told(&stage.root, &found.unwrap()), ["sub/deep/a.key hidden"]),
        false => {
            let refused = found.unwrap_err().to_string();
            assert!(refused.contains("nothing is run") && made.is_err(), "{refused}");
        }
    }
    assert_eq!(told(&stage.root, &closing.places().unwrap()), ["sub/deep/a.key hidden"]);
}

#[test]
fn what_git_keeps_is_gits_own_in_letters_of_any_size() {
    let stage = stage(&[".git/a.key", "sub/.GIT/b.key", "c.key"]);
    let found = closing(&stage.root, &[(Ruling::Deny, "Read(**/*.key)")]).places().unwrap();
    assert_eq!(told(&stage.root, &found), ["c.key hidden"]);
}
