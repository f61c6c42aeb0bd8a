//! System calls as raw as they come.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Asks the kernel; whether it agreed.
pub fn ask(number: libc::c_long, arguments: [usize; 6]) -> bool {
    raw(number, arguments) >= 0
}

/// Asks the kernel.
pub fn raw(number: libc::c_long, [a, b, c, d, e, f]: [usize; 6]) -> i64 {
    // SAFETY: the attempts pass pointers to values that live, or numbers.
    unsafe { libc::syscall(number, a, b, c, d, e, f) }
}

/// A path for the kernel.
pub fn c(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().as_os_str().as_bytes()).unwrap()
}

/// A socket of this kind.
pub fn socket(family: i32, kind: i32, protocol: i32) -> Option<i32> {
    // SAFETY: takes numbers.
    let socket = unsafe { libc::socket(family, kind, protocol) };
    (socket >= 0).then_some(socket)
}

/// Runs a command line; whether it ended well.
pub fn shell(folder: &Path, script: &str) -> bool {
    let output = std::process::Command::new("/bin/sh").arg("-c").arg(script).current_dir(folder).output();
    output.is_ok_and(|output| output.status.success())
}
