//! Puts the files of the page, where they were built, into the program: `cargo xtask web` builds them.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "it reads what was built, and tells cargo")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    if folder.join("index.html").is_file() {
        files.push(folder.join("index.html"));
        for entry in fs::read_dir(folder.join("assets"))? {
            files.push(entry?.path());
        }
    }
    files.sort();
    let mut list = "&[\n".to_owned();
    for file in files {
        let path = file.strip_prefix(&folder).map_err(io::Error::other)?;
        // Writing to a string can't fail.
        let _ = writeln!(list, "PageFile {{ path: {path:?}, bytes: include_bytes!({file:?}) }},");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("page.rs"), list)
}
