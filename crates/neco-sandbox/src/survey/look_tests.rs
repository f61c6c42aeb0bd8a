//! Tests of [`Look`].

use std::os::unix::fs::symlink;

use super::*;

const ALL: Limits = Limits { time: Duration::from_secs(20), entries: usize::MAX, everywhere: false };

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn secrets_and_repositories_are_found_and_the_rest_is_not() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        (".env", "A=1"),
        ("app/.env.local", "A=1"),
        ("app/.env.example", "A="),
        ("app/prodvars", "A=1"),
        ("node_modules/x/.env", "A=1"),
        ("certs/ca.pem", "-----BEGIN CERTIFICATE-----"),
        ("certs/server.pem", "-----BEGIN RSA PRIVATE KEY-----"),
        ("sub/.git/config", ""),
        ("lib.git/HEAD", ""),
        ("lib.git/objects/x", ""),
        ("lib.git/refs/x", ""),
        ("half/HEAD", ""),
        ("apart/HEAD", ""),
        ("apart/commondir", ""),
        (".vscode/at-the-top", ""),
        ("app/.vscode/tasks.json", ""),
        ("app/a.code-workspace", ""),
    ] {
        write(folder.path(), path, text);
    }
    let at = |path: &str| folder.path().join(path);
    symlink("/etc/passwd", at(".env.system")).unwrap();
    symlink("app/prodvars", at(".env.link")).unwrap();
    let mut look = Look::new(folder.path().to_path_buf());
    assert!(look.again(ALL));
    let sights = look.sights();
    assert_eq!(sights.secrets, [at(".env"), at(".env.link"), at("app/.env.local"), at("certs/server.pem")]);
    assert_eq!(sights.repositories, [at("sub/.git")]);
    assert_eq!(sights.bare, [at("apart"), at("lib.git")]);
    assert_eq!(sights.settings, [at("app/.vscode"), at("app/a.code-workspace")]);
    assert!(look.again(Limits { everywhere: true, ..ALL }));
    assert!(look.sights().secrets.contains(&at("node_modules/x/.env")));
}

#[test]
fn a_name_as_of_something_put_aside_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in [".env.refused-1", "a.refused-1/.env", "a.refused-1/.git/HEAD", "b.replaced-2/c/.vscode/tasks.json"] {
        write(folder.path(), path, "A=1");
    }
    write(folder.path(), "b.replaced-2/server.pem.refused-1", "-----BEGIN PRIVATE KEY-----");
    write(folder.path(), "prod.env.refused-2", "A=1");
    let mut look = Look::new(folder.path().to_path_buf());
    assert!(look.again(ALL));
    let sights = look.sights();
    assert!(sights.put_aside);
    let secrets =
        [".env.refused-1", "a.refused-1/.env", "b.replaced-2/server.pem.refused-1", "prod.env.refused-2"].map(at);
    assert_eq!(sights.secrets, secrets);
    assert_eq!(
        (sights.repositories, sights.settings),
        (vec![at("a.refused-1/.git")], vec![at("b.replaced-2/c/.vscode")])
    );
}

#[test]
fn every_change_is_seen_and_what_did_not_change_is_not_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    write(folder.path(), "a/b/.env", "x");
    write(folder.path(), "a/b/x.key", "nothing");
    let mut look = Look::new(folder.path().to_path_buf());
    look.again(ALL);
    assert_eq!(look.sights().secrets, [at("a/b/.env")]);
    fs::rename(at("a/b"), at("c")).unwrap();
    write(folder.path(), "c/x.key", "-----BEGIN PRIVATE KEY-----");
    write(folder.path(), "c/new/.git/HEAD", "");
    look.again(ALL);
    let sights = look.sights();
    assert_eq!((sights.secrets, sights.repositories), (vec![at("c/.env"), at("c/x.key")], vec![at("c/new/.git")]));
    while !look.folders.values().all(|folder| folder.stamp.is_some()) {
        std::thread::sleep(Duration::from_millis(5));
        look.again(ALL);
    }
    // Nothing has to be read, so nothing may be.
    assert!(look.again(Limits { entries: 0, ..ALL }));
    fs::remove_dir_all(at("c")).unwrap();
    assert!(look.again(Limits { entries: 5, ..ALL }) && look.sights().secrets.is_empty());
}

/// The same sights as of a look that asks about every folder, whatever is done to them.
#[test]
fn what_is_told_is_as_good_as_what_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    write(folder.path(), "a/b/c/.env", "x");
    write(folder.path(), "d/e/file", "x");
    let mut told = Look { few: 0, ..Look::new(folder.path().to_path_buf()) };
    assert!(told.again(ALL) && told.again(ALL) && matches!(told.news, Following::Yes(_)), "not followed");
    assert!(told.again(Limits { entries: 0, ..ALL }), "nothing changed, so nothing is read");
    let steps: [&dyn Fn(); 9] = [
        &|| write(folder.path(), "d/e/.env", "x"),
        &|| write(folder.path(), "new/deep/sub/.git/HEAD", "x"),
        &|| write(folder.path(), "new/deep/sub/more/.env.local", "x"),
        &|| fs::rename(at("a/b"), at("d/e/b")).unwrap(),
        &|| write(folder.path(), "d/e/b/c/x.key", "PRIVATE KEY"),
        &|| {
            // The system likes to give the same number again.
            fs::remove_dir_all(at("new/deep")).unwrap();
            fs::create_dir(at("new/deep")).unwrap();
        },
        &|| write(folder.path(), "new/deep/.env", "x"),
        &|| fs::remove_dir_all(at("d")).unwrap(),
        &|| write(folder.path(), "d/HEAD", "x"),
    ];
    for (number, step) in steps.iter().enumerate() {
        step();
        assert!(told.again(ALL));
        let mut asked = Look::new(folder.path().to_path_buf());
        asked.again(ALL);
        assert_eq!(told.sights(), asked.sights(), "step {number}");
        assert_eq!(told.folders.len(), asked.folders.len(), "step {number}");
    }
    for number in 0..30 {
        write(folder.path(), &format!("many/{number}/.env"), "x");
    }
    assert!(!told.again(Limits { entries: 5, ..ALL }), "it is cut short");
    assert!(told.again(ALL) && told.sights().secrets.len() == 31, "and goes on by looking through everything");
}

#[test]
fn a_look_that_was_cut_short_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..50 {
        write(folder.path(), &format!("{number}/sub/.env"), "x");
    }
    let mut look = Look::new(folder.path().to_path_buf());
    let mut rounds = 0;
    while !look.again(Limits { entries: 60, ..ALL }) {
        rounds += 1;
        assert!(rounds < 200, "it never ends");
        std::thread::sleep(UNSETTLED / 10);
    }
    assert!(rounds > 0 && look.sights().secrets.len() == 50);
}
