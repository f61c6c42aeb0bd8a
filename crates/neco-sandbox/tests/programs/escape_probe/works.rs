//! What must work. Each attempt says whether it did; what a machine does not have works.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::places::Places;
use crate::system::shell;

type Attempt = (&'static str, fn(&Places) -> bool);

/// Every attempt.
pub fn all() -> &'static [Attempt] {
    &[
        ("write in the workspace", |p| {
            fs::create_dir_all(p.workspace.join("a/b")).is_ok() && fs::write(p.workspace.join("a/b/c"), "x").is_ok()
        }),
        ("write in the temporary folder", |p| shell(&p.workspace, "f=$(mktemp) && echo x >\"$f\" && rm \"$f\"")),
        ("git init and commit in a fresh repository", |p| {
            shell(
                &p.workspace,
                "mkdir -p fresh && cd fresh && git init -q . && echo x >x && git add x && \
                 git -c user.name=a -c user.email=a@b commit -q -m x && git log --oneline | grep -q x",
            )
        }),
        ("git commit in the workspace's repository", |p| {
            shell(
                &p.workspace,
                "echo x >tracked && git add tracked && git -c user.name=a -c user.email=a@b commit -q -m x",
            )
        }),
        ("python multiprocessing", |p| {
            if_there(
                p,
                "python3",
                "python3 -c 'import multiprocessing as m\nwith m.Pool(2) as p: assert p.map(abs, [-1, -2]) == [1, 2]'",
            )
        }),
        ("node child processes", |p| {
            if_there(
                p,
                "node",
                "node -e \"const c=require('child_process');if(c.execSync('echo hi').toString()!=='hi\\n')process.exit(1)\"",
            )
        }),
        ("compile and run C", |p| {
            let source = "#include <stdio.h>\nint main(void){puts(\"hi\");return 0;}\n";
            fs::write(p.workspace.join("hi.c"), source).is_ok()
                && if_there(p, "gcc", "gcc hi.c -o hi && test \"$(./hi)\" = hi")
        }),
        ("cargo build offline", |p| {
            let manifest = "[package]\nname = \"hi\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
            let folder = p.workspace.join("crate");
            let written = fs::create_dir_all(folder.join("src")).is_ok()
                && fs::write(folder.join("Cargo.toml"), manifest).is_ok()
                && fs::write(folder.join("src/main.rs"), "fn main() { println!(\"hi\") }").is_ok();
            written
                && if_there(p, "cargo", "cd crate && cargo build -q --offline --target-dir target && ./target/debug/hi")
        }),
        ("a server on loopback", |_| {
            let Ok(server) = TcpListener::bind("127.0.0.1:0") else { return false };
            let Ok(mut client) = TcpStream::connect(server.local_addr().unwrap()) else { return false };
            let (mut taken, _) = server.accept().unwrap();
            client.write_all(b"hi").is_ok() && taken.read_exact(&mut [0; 2]).is_ok()
        }),
        ("a pair of Unix sockets", |_| UnixStream::pair().is_ok()),
        ("a terminal of its own", |p| {
            shell(&p.workspace, "script -qec 'test -t 0 && echo yes' /dev/null </dev/null | grep -q yes")
        }),
        ("shared memory", |_| {
            // SAFETY: the name is a literal; what is made is removed.
            unsafe {
                let made = libc::shm_open(c"/neco-probe".as_ptr(), libc::O_RDWR | libc::O_CREAT, 0o600);
                libc::shm_unlink(c"/neco-probe".as_ptr());
                made >= 0
            }
        }),
        ("a process in the background", |p| shell(&p.workspace, "sleep 5 & kill %1 2>/dev/null || kill $!")),
        ("threads", |_| std::thread::spawn(|| 1).join().is_ok()),
        ("process substitution", |p| if_there(p, "bash", "bash -c 'cat <(echo hi) | grep -q hi'")),
        ("read the system's files", |_| fs::read("/etc/passwd").is_ok() && fs::read_dir("/usr/bin").is_ok()),
    ]
}

fn if_there(p: &Places, program: &str, script: &str) -> bool {
    let works = |script: &str| shell(Path::new(&p.workspace), script);
    !works(&format!("command -v {program}")) || works(script)
}
