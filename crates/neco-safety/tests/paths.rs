//! Paths against real folders: what is refused, what is followed, what survives.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use neco_proto::ErrorCode;
use neco_safety::path::{Access, Located, PathError, Stamp};
use neco_safety::world::Files;

struct Place {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    outside: PathBuf,
    spilled: PathBuf,
    files: Files,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (workspace, outside, spilled) = (base.join("work"), base.join("outside"), base.join("spilled"));
    fs::create_dir_all(workspace.join("src")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::write(workspace.join("src/a.rs"), "fn a() {}\n").unwrap();
    let files = Files::new(&workspace, vec![spilled.clone()]).unwrap();
    Place { _folder: folder, workspace, outside, spilled, files }
}

fn read(located: &Located) -> Vec<u8> {
    located.read(u64::MAX).unwrap().0
}

fn stamp(located: &Located) -> Stamp {
    Stamp::of(&located.metadata().unwrap())
}

fn code(result: Result<Located, PathError>) -> ErrorCode {
    result.unwrap_err().code()
}

#[test]
fn relative_and_absolute_paths_inside_are_shown_from_the_workspace() {
    let place = place();
    for path in ["src/a.rs", "./src/../src/a.rs", place.workspace.join("src/a.rs").to_str().unwrap()] {
        let located = place.files.locate(path, Access::Write).unwrap();
        assert_eq!((located.shown().as_str(), located.exists()), ("src/a.rs", true), "{path}");
        assert_eq!(read(&located), b"fn a() {}\n");
    }
    assert_eq!(place.files.locate(".", Access::Read).unwrap().shown(), ".");
    let missing = place.files.locate("new/deep/b.rs", Access::Write).unwrap();
    assert_eq!((missing.shown().as_str(), missing.exists()), ("new/deep/b.rs", false));
    assert_eq!(missing.open().unwrap_err().code(), ErrorCode::FileNotFound);
    assert_eq!(place.files.locate("gone/../src/a.rs", Access::Read).unwrap().shown(), "src/a.rs");
    assert!(!place.files.locate("~", Access::Read).unwrap().exists());
}

#[test]
fn what_leads_out_is_refused_and_the_words_name_both() {
    let place = place();
    symlink(&place.outside, place.workspace.join("link")).unwrap();
    symlink("../../outside/secret", place.workspace.join("src/file_link")).unwrap();
    symlink("../outside/not_there_yet", place.workspace.join("dangling")).unwrap();
    let absolute = place.outside.join("secret");
    let out = [
        "../outside/secret",
        "src/../../outside/secret",
        "nowhere/../../outside/secret",
        "nowhere/../../../etc/passwd",
        absolute.to_str().unwrap(),
        "/etc/passwd",
        "/etc/not_there",
        "link",
        "link/secret",
        "link/new",
        "link/../work2",
        "src/file_link",
        "dangling",
        "/proc/self/cwd/x",
        "/proc/self/root/etc/passwd",
    ];
    for path in out {
        for access in [Access::Read, Access::Write] {
            let error = place.files.locate(path, access).unwrap_err();
            assert_eq!(error.code(), ErrorCode::PathOutsideWorkspace, "{path}: {error}");
            let words = error.to_string();
            assert!(words.contains(path) && words.contains(place.workspace.to_str().unwrap()), "{words}");
        }
    }
    assert!(!place.outside.join("not_there_yet").exists());
}

#[test]
fn a_folder_beside_the_workspace_with_the_same_beginning_is_outside() {
    let place = place();
    fs::create_dir(place.workspace.with_file_name("work2")).unwrap();
    assert_eq!(code(place.files.locate("../work2/x", Access::Read)), ErrorCode::PathOutsideWorkspace);
}

#[test]
fn links_inside_are_followed_and_circles_are_named() {
    let place = place();
    symlink("src/a.rs", place.workspace.join("alias.rs")).unwrap();
    symlink("src", place.workspace.join("s")).unwrap();
    symlink("src/later.rs", place.workspace.join("dangling_inside")).unwrap();
    symlink("loop_b", place.workspace.join("loop_a")).unwrap();
    symlink("loop_a", place.workspace.join("loop_b")).unwrap();
    let shown = |path: &str| place.files.locate(path, Access::Write).unwrap().shown();
    assert_eq!(shown("alias.rs"), "src/a.rs");
    assert_eq!(shown("s/a.rs"), "src/a.rs");
    assert_eq!(shown("s/new/x.rs"), "src/new/x.rs");
    assert_eq!(shown("dangling_inside"), "src/later.rs");
    let error = place.files.locate("loop_a/x", Access::Read).unwrap_err();
    assert!(matches!(error, PathError::LinkLoop(_)), "{error}");
}

#[test]
fn paths_that_are_none_are_clear_errors() {
    let place = place();
    assert_eq!(place.files.locate("", Access::Read).unwrap_err(), PathError::Empty);
    assert!(matches!(place.files.locate("a\0b", Access::Read).unwrap_err(), PathError::Nul(_)));
    assert!(matches!(place.files.locate("src/a.rs/x", Access::Read).unwrap_err(), PathError::NotADirectory(_)));
    let long = "x".repeat(300);
    assert_eq!(place.files.locate(&long, Access::Read).unwrap_err().code(), ErrorCode::ToolFailed);
    assert!(matches!(place.files.locate("src", Access::Read).unwrap().open(), Err(PathError::IsDirectory(_))));
    let folder = place.files.locate("src", Access::Write).unwrap();
    let seen = stamp(&folder);
    assert!(matches!(folder.replace(b"x", Some(&seen)), Err(PathError::IsDirectory(_))));
    let root = place.files.locate(".", Access::Write).unwrap();
    assert!(matches!(root.replace(b"x", None), Err(PathError::IsDirectory(_))));
}

#[test]
fn a_root_for_reading_may_come_later_and_is_never_written() {
    let place = place();
    fs::create_dir(&place.spilled).unwrap();
    fs::write(place.spilled.join("call-1.txt"), "all of it").unwrap();
    let path = place.spilled.join("call-1.txt");
    let located = place.files.locate(&path, Access::Read).unwrap();
    assert_eq!(read(&located), b"all of it");
    assert_eq!(located.shown(), path.to_str().unwrap());
    let error = place.files.locate(&path, Access::Write).unwrap_err();
    assert_eq!(error, PathError::ReadOnlyRoot(path.display().to_string()));
    assert_eq!(error.code(), ErrorCode::PathOutsideWorkspace);
    let inner = Files::new(&place.workspace, vec![place.workspace.join("src")]).unwrap();
    assert_eq!(code(inner.locate("src/a.rs", Access::Write)), ErrorCode::PathOutsideWorkspace);
    assert!(inner.locate("b.rs", Access::Write).is_ok());
}

#[test]
fn names_that_are_no_text_are_reached_by_what_is_shown() {
    let place = place();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    fs::write(place.workspace.join(name), "latin").unwrap();
    let by_bytes = place.files.locate(name, Access::Read).unwrap();
    assert_eq!(by_bytes.shown(), "caf\u{FFFD}.txt");
    let by_shown = place.files.locate(by_bytes.shown(), Access::Read).unwrap();
    assert_eq!(by_shown, by_bytes);
    assert_eq!(read(&by_shown), b"latin");
    fs::write(place.workspace.join(std::ffi::OsStr::from_bytes(b"caf\xe8.txt")), "other").unwrap();
    assert!(!place.files.locate("caf\u{FFFD}.txt", Access::Read).unwrap().exists(), "two fit, so none is meant");
}

#[test]
fn a_link_put_in_the_way_after_the_check_is_refused() {
    let place = place();
    let file = place.files.locate("src/a.rs", Access::Write).unwrap();
    let before = stamp(&file);
    fs::remove_file(file.path()).unwrap();
    symlink(place.outside.join("secret"), file.path()).unwrap();
    assert!(matches!(file.open(), Err(PathError::Swapped(_))));
    assert!(matches!(file.metadata(), Err(PathError::Swapped(_))));
    assert!(file.replace(b"overwritten", Some(&before)).is_err());
    assert!(file.replace(b"overwritten", None).is_err());

    let deep = place.files.locate("deep/er/x", Access::Write).unwrap();
    symlink(&place.outside, place.workspace.join("deep")).unwrap();
    assert!(matches!(deep.open(), Err(PathError::Swapped(_))));
    assert!(matches!(deep.replace(b"x", None), Err(PathError::Swapped(_))));
    assert_eq!(fs::read_dir(&place.outside).unwrap().count(), 1);
    assert_eq!(fs::read(place.outside.join("secret")).unwrap(), b"secret");
}

#[test]
fn pipes_devices_and_sockets_do_not_make_anyone_wait() {
    let place = place();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = place.workspace.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(place.workspace.join("socket")).unwrap();
    for (name, kind) in [("pipe", "a pipe"), ("socket", "a socket")] {
        let located = place.files.locate(name, Access::Write).unwrap();
        let error = located.open().unwrap_err();
        assert!(matches!(&error, PathError::Special { kind: found, .. } if *found == kind), "{name}: {error}");
        let seen = stamp(&located);
        assert!(matches!(located.replace(b"x", Some(&seen)), Err(PathError::Special { .. })));
    }
}

fn no_leftovers(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().starts_with(".neco-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_new_file_comes_with_its_folders_and_the_usual_mode() {
    let place = place();
    let located = place.files.locate("new/deep/b.rs", Access::Write).unwrap();
    let written = located.replace(b"b", None).unwrap();
    assert_eq!((read(&located).as_slice(), written.stamp.size()), (&b"b"[..], 1));
    fs::write(place.workspace.join("plain"), "").unwrap();
    let usual = fs::metadata(place.workspace.join("plain")).unwrap().mode();
    assert_eq!(fs::metadata(located.path()).unwrap().mode(), usual);
    no_leftovers(&place.workspace.join("new/deep"));
    assert_eq!(located.replace(b"c", None).unwrap_err().code(), ErrorCode::FileChanged);
    assert_eq!(read(&located), b"b");
    assert_eq!(stamp(&located), written.stamp);
}

#[test]
fn mode_bits_and_links_survive_and_the_content_is_new_at_once() {
    let place = place();
    symlink("src/a.rs", place.workspace.join("alias.rs")).unwrap();
    let file = place.workspace.join("src/a.rs");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o4755)).unwrap();
    let old_inode = fs::metadata(&file).unwrap().ino();
    let located = place.files.locate("alias.rs", Access::Write).unwrap();
    located.replace(b"new", Some(&stamp(&located))).unwrap();
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!((metadata.mode() & 0o7777, fs::read(&file).unwrap().as_slice()), (0o4755, &b"new"[..]));
    assert_ne!(metadata.ino(), old_inode, "a new file took the name");
    assert!(fs::symlink_metadata(place.workspace.join("alias.rs")).unwrap().is_symlink());
    no_leftovers(&place.workspace.join("src"));
}

#[test]
fn another_name_of_a_file_is_not_written_with_it() {
    let place = place();
    let (own, other) = (place.workspace.join("src/a.rs"), place.outside.join("twin.rs"));
    fs::hard_link(&own, &other).unwrap();
    let located = place.files.locate("src/a.rs", Access::Write).unwrap();
    let written = located.replace(b"x", Some(&stamp(&located))).unwrap();
    assert_eq!(written.other_names, 1);
    assert_eq!(
        (fs::read(&own).unwrap().as_slice(), fs::read(&other).unwrap().as_slice()),
        (&b"x"[..], &b"fn a() {}\n"[..])
    );
    assert_eq!(located.replace(b"y", Some(&stamp(&located))).unwrap().other_names, 0);
    no_leftovers(&place.workspace.join("src"));
}

#[test]
fn a_change_that_hides_its_time_is_seen() {
    let place = place();
    let located = place.files.locate("src/a.rs", Access::Write).unwrap();
    let before = fs::metadata(located.path()).unwrap();
    let seen = Stamp::of(&before);
    let file = fs::OpenOptions::new().write(true).open(located.path()).unwrap();
    std::io::Write::write_all(&mut &file, b"fn b() {}\n").unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    assert_eq!(fs::metadata(located.path()).unwrap().modified().unwrap(), before.modified().unwrap());
    assert_eq!(located.replace(b"mine", Some(&seen)).unwrap_err().code(), ErrorCode::FileChanged);
}

#[test]
fn a_workspace_that_was_created_again_is_alive() {
    let place = place();
    let located = place.files.locate("src/a.rs", Access::Write).unwrap();
    fs::remove_dir_all(&place.workspace).unwrap();
    assert_eq!(located.open().unwrap_err().code(), ErrorCode::FileNotFound);
    fs::create_dir_all(place.workspace.join("src")).unwrap();
    let fresh = place.files.locate("new.rs", Access::Write).unwrap();
    fresh.replace(b"in it", None).unwrap();
    assert_eq!(fs::read(place.workspace.join("new.rs")).unwrap(), b"in it");
    fs::write(place.workspace.join("src/a.rs"), "again").unwrap();
    assert_eq!(read(&located), b"again");
    // A link in its place is not the workspace.
    fs::remove_dir_all(&place.workspace).unwrap();
    symlink(&place.outside, &place.workspace).unwrap();
    let missing = place.files.locate("src/a.rs", Access::Read);
    assert!(missing.is_err() && located.open().is_err());
}

#[test]
fn what_a_walk_found_is_opened_without_following_links() {
    let place = place();
    let root = place.files.locate("src", Access::Read).unwrap();
    assert!(root.open_below(&place.workspace.join("src/a.rs")).is_ok());
    symlink(&place.outside, place.workspace.join("src/out")).unwrap();
    symlink("a.rs", place.workspace.join("src/link.rs")).unwrap();
    fs::write(place.workspace.join("beside"), "").unwrap();
    for refused in ["src/out/secret", "src/link.rs", "beside", "src/../beside"] {
        assert!(root.open_below(&place.workspace.join(refused)).is_err(), "{refused}");
    }
    assert!(root.open_below(&place.outside.join("secret")).is_err());
}

#[test]
fn everything_of_git_is_sensitive_to_write_and_its_hooks_to_read() {
    let place = place();
    let judged = |path: &str| {
        let located = place.files.locate(path, Access::Write).unwrap();
        (located.sensitive_to_read().is_some(), located.sensitive_to_write().is_some())
    };
    assert_eq!(judged(".git/commondir"), (false, true));
    assert_eq!(judged("sub/.Git"), (false, true));
    assert_eq!(judged(".git/hooks/pre-commit"), (true, true));
    assert_eq!(judged("src/a.rs"), (false, false));
    let folder = place.outside.join(".config/nvim");
    fs::create_dir_all(&folder).unwrap();
    let files = Files::new(&folder, Vec::new()).unwrap();
    assert_eq!(files.locate("init.lua", Access::Write).unwrap().sensitive_to_write(), None);
}

#[test]
fn a_file_that_someone_else_wrote_or_protected_is_left_alone() {
    let place = place();
    let located = place.files.locate("src/a.rs", Access::Write).unwrap();
    let seen = stamp(&located);
    fs::write(located.path(), "someone else was here").unwrap();
    assert_eq!(located.replace(b"mine", Some(&seen)).unwrap_err().code(), ErrorCode::FileChanged);
    fs::remove_file(located.path()).unwrap();
    assert_eq!(located.replace(b"mine", Some(&seen)).unwrap_err().code(), ErrorCode::FileChanged);
    fs::write(located.path(), "protected").unwrap();
    fs::set_permissions(located.path(), fs::Permissions::from_mode(0o444)).unwrap();
    let seen = stamp(&located);
    assert!(matches!(located.replace(b"mine", Some(&seen)), Err(PathError::WriteProtected(_))));
    assert_eq!(fs::read(located.path()).unwrap(), b"protected");
    no_leftovers(&place.workspace.join("src"));
}

#[test]
fn reading_stops_at_the_limit() {
    let place = place();
    let located = place.files.locate("src/a.rs", Access::Read).unwrap();
    let (bytes, stamp) = located.read(4).unwrap();
    assert_eq!((bytes.as_slice(), stamp.size()), (&b"fn a"[..], 10));
}

#[test]
fn what_a_killed_process_left_is_gone_with_the_next_write_and_what_lives_stays() {
    let place = place();
    let folder = place.workspace.join("src");
    let dead = folder.join(".neco-4194999-0-18ff2a.tmp");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let alive = folder.join(format!(".neco-{}-0-{now:x}.tmp", std::process::id()));
    fs::write(&dead, "half of a fi").unwrap();
    fs::write(&alive, "half of a fi").unwrap();
    let located = place.files.locate("src/a.rs", Access::Write).unwrap();
    located.replace(b"new", Some(&stamp(&located))).unwrap();
    assert!(!dead.exists() && alive.exists());
}

#[test]
fn what_stands_around_a_path_is_no_part_of_it_unless_a_file_has_that_name() {
    let place = place();
    let shown = |path: &str| place.files.locate(path, Access::Read).unwrap().shown();
    let address = format!("file://{}/src/a.rs", place.workspace.display());
    for path in ["\"src/a.rs\"", "'src/a.rs'", "`src/a.rs`", " src/a.rs\n", "src/a.rs/", "src\\a.rs", address.as_str()]
    {
        assert_eq!(shown(path), "src/a.rs", "{path:?}");
    }
    assert_eq!(shown("\"new.rs\""), "new.rs");
    fs::write(place.workspace.join("'odd'"), "").unwrap();
    assert_eq!(shown("'odd'"), "'odd'");
    assert_eq!(code(place.files.locate("\"/etc/passwd\"", Access::Read)), ErrorCode::PathOutsideWorkspace);
    assert_eq!(code(place.files.locate("file:///etc/passwd", Access::Read)), ErrorCode::PathOutsideWorkspace);
}

#[test]
fn credentials_of_our_own_are_opened_by_no_name() {
    let place = place();
    let own = place.workspace.join("data/run");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("token"), "let me in").unwrap();
    fs::write(place.workspace.join("keys.toml"), "[openai]").unwrap();
    neco_safety::path::guard_credentials(own.clone());
    neco_safety::path::guard_credentials(place.workspace.join("keys.toml"));
    symlink("data/run", place.workspace.join("link")).unwrap();
    symlink("keys.toml", place.workspace.join("other.toml")).unwrap();
    let names =
        ["data/run", "data/run/token", "data/run/new", "src/../data/run/token", "link/token", "keys.toml", "other.toml"];
    for name in names {
        for access in [Access::Read, Access::Write] {
            let refused = place.files.locate(name, access).unwrap_err();
            assert!(matches!(refused, PathError::OwnCredential(_)), "{name}: {refused}");
            assert_eq!(refused.code(), ErrorCode::BlockedByPolicy);
        }
    }
    fs::hard_link(own.join("token"), place.workspace.join("notes.txt")).unwrap();
    let notes = place.files.locate("notes.txt", Access::Write).unwrap();
    assert!(matches!(notes.read(u64::MAX), Err(PathError::OwnCredential(_))), "another name of it");
    let root = place.files.locate(".", Access::Read).unwrap();
    for name in ["notes.txt", "data/run/token", "keys.toml"] {
        assert!(root.open_below(&place.workspace.join(name)).is_err(), "a search finds {name}");
    }
    fs::hard_link(place.workspace.join("src/a.rs"), place.workspace.join("src/b.rs")).unwrap();
    let plain = place.files.locate("src/b.rs", Access::Read).unwrap();
    assert_eq!(read(&plain), b"fn a() {}\n", "what has two names is no credential by that");
    assert!(place.files.locate("data/runner", Access::Write).is_ok() && place.files.locate("data", Access::Read).is_ok());
}
