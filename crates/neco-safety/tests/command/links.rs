//! Links on the disk: a word that lies inside may lead out.

use std::fs;
use std::os::unix::fs::symlink;

use neco_proto::Risk;
use neco_safety::command::{LedOut, Place, examine, led_out};
use tempfile::TempDir;

/// A workspace with links that lead to a file and a folder of the system, and others that stay inside.
fn workspace() -> (TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("src/deep")).unwrap();
    for file in ["a.txt", "src/b.txt"] {
        fs::write(root.join(file), "text\n").unwrap();
    }
    for (target, link) in [
        ("/etc/passwd", "n.txt"),
        ("/etc", "od"),
        ("/etc/passwd", "src/deep/m.md"),
        ("src", "inner"),
        ("a.txt", "same.log"),
        ("/dev/null", "nothing.log"),
        ("/nowhere/at/all", "broken.log"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    (folder, Place::new(root).with_home("/home/me"))
}

fn led(line: &str, place: &Place) -> Option<LedOut> {
    led_out(&examine(line, place), place)
}

#[test]
fn what_leads_out_by_a_link_is_told() {
    let (_folder, place) = workspace();
    for line in [
        "cat n.txt",
        "ls od",
        "ls -la od/",
        "cat od/passwd",
        "cat ./src/../n.txt",
        "cat od/../etc/passwd",
        "cat od/../usr/../etc/passwd",
        "cat < n.txt",
        "cd od && cat passwd",
        "cd od; ls",
        "cd src && cat ../n.txt",
        "cat inner/../n.txt",
        "cat inner/deep/m.md",
        "cat *.txt",
        "cat */passwd",
        "cat src/*/m.md",
        "cat src/d*/*.md",
        "head -n 3 a.txt n.txt",
        "grep -n root n.txt",
        "git -C od status",
        "wc --files0-from=n.txt",
        "echo od/*",
        "bash -c 'cat n.txt'",
        "cat /proc/self/cwd/n.txt",
    ] {
        let found = led(line, &place);
        assert!(found.as_ref().is_some_and(|led| led.because.contains("leads to /")), "{line}: {found:?}");
        assert_eq!(found.map(|led| led.risk), Some(Risk::High), "{line}");
    }
    let absolute = format!("cat {}/n.txt", place.workspace.display());
    assert!(led(&absolute, &place).is_some());
}

#[test]
fn links_that_stay_inside_and_words_that_name_none_are_left_alone() {
    let (_folder, place) = workspace();
    for line in [
        "cat a.txt",
        "cat same.log inner/b.txt",
        "ls inner",
        "cd inner && cat b.txt",
        "cat nothing.log broken.log",
        "cat *.log",
        "cat src/*.txt",
        "cat s*/b.txt",
        "cat missing od2",
        "echo n.txt od",
        "cat /etc/passwd",
        "ls",
        "git status",
    ] {
        assert_eq!(led(line, &place), None, "{line}");
    }
    let opened = Place { roots: vec!["/etc".into()], ..place };
    assert_eq!(led("cat n.txt; ls od", &opened), None);
}

#[test]
fn what_would_be_critical_by_its_own_name_is_critical_by_a_link() {
    let (_folder, place) = workspace();
    for line in ["rm -rf od/x11 od/passwd", "rm od/*"] {
        assert_eq!(led(line, &place).map(|led| led.risk), Some(Risk::Critical), "{line}");
    }
    // It deletes the link, and nothing outside.
    assert_eq!(led("rm n.txt", &place).map(|led| led.risk), Some(Risk::High));
    let Ok(secret) = fs::canonicalize("/etc/shadow") else { return };
    symlink(secret, place.workspace.join("plain")).unwrap();
    let found = led("cat n.txt plain", &place).unwrap();
    assert_eq!(found.risk, Risk::Critical);
    assert!(found.because.starts_with("plain leads to /etc/shadow"), "{}", found.because);
}

#[test]
fn what_is_too_much_to_look_at_is_not_known_to_be_safe() {
    let (_folder, place) = workspace();
    let many = place.workspace.join("many");
    fs::create_dir(&many).unwrap();
    (0..1100).for_each(|number| symlink("../a.txt", many.join(format!("{number}.txt"))).unwrap());
    let found = led("cat many/*.txt", &place);
    let is_told = |led: &LedOut| led.risk == Risk::High && led.because.contains("more files");
    assert!(found.as_ref().is_some_and(is_told), "{found:?} of {:?}", examine("cat many/*.txt", &place).risk);
}
