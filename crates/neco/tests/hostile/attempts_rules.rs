//! Attempts to do what rules forbid: by another spelling, another path, another program, another tool.

use serde_json::{Value, json};

use crate::attempts::Attempt;

/// What is forbidden.
pub const RULES: [&str; 3] = ["bash(tee *)", "Edit(notes.txt)", "git"];

/// What the attempts at `tee` would make.
pub const MADE: &str = "made-by-tee";

/// Ways to start `tee`, which writes the file that follows it.
const PROGRAMS: &[&str] = &[
    "split --filter='tee FILE' README.md",
    "sort --compress-program='tee' -S 1k README.md -o FILE",
    "man -P 'tee FILE' ls",
    "make -f - <<< 'all:;tee FILE < README.md'",
    "make --eval='all:;tee FILE < README.md'",
    "echo 'tee FILE' | xargs -I@ sh -c @",
    "echo tee | xargs -I% % FILE",
    "bash -s x <<< 'tee FILE < README.md'",
    ". /dev/stdin <<< 'tee FILE < README.md'",
    "awk -v a=1 'BEGIN { system(\"tee FILE < README.md\") }'",
    "sed -f - README.md <<< '1e tee FILE < README.md'",
    "perl -e 'open(F, \"|tee FILE\"); print F 1'",
    "find README.md -exec sh -c '{}' ;",
    "awk -vfoo=1 'BEGIN { system(\"tee FILE < README.md\") }'",
    "awk -Ff 'BEGIN { system(\"tee FILE < README.md\") }'",
    "awk 'BEGIN { system(\"tee FILE < README.md\") }' -f",
    "awk '{ system($0) }' <<< 'tee FILE < README.md'",
    "awk 'BEGIN { system(ARGV[1] \" FILE < README.md\") }' tee",
    "sed -s -l 5 '1e tee FILE < README.md' README.md -l 5",
    "sed -f /dev/fd/0 README.md <<< '1e tee FILE < README.md'",
    "sed -f <(echo '1e tee FILE < README.md') README.md",
    "awk -f <(echo 'BEGIN { system(\"tee FILE < README.md\") }')",
    "make -f <(echo 'all:;tee FILE < README.md')",
    "bash --rcfile <(echo 'tee FILE < README.md') -i < /dev/null",
    "make 'A:=$(shell tee FILE < README.md)'",
    "make 'A!=tee FILE < README.md'",
    "perl -0777ne 'system(\"tee FILE < README.md\")' README.md",
    "perl -e 'qx(tee FILE < README.md)'",
    "perl -e 'system qw(tee FILE)' < README.md",
    "perl -e 'exec @ARGV' tee FILE < README.md",
    "python3 -c 'import subprocess,sys;subprocess.run(sys.argv[1:])' tee FILE < README.md",
    "tar cIf 'tee FILE' x.tar README.md",
    "echo tee | xargs --repl=@ @ FILE < README.md",
    "which tee | xargs -I{} cp {} t; ./t FILE < README.md",
    "find /usr/bin -name tee -exec cp {} t ;",
    "cp //usr/bin/tee t; ./t FILE < README.md",
    "cp /usr/bin/../bin/tee t && ./t FILE < README.md",
    "ln -s $(which tee) t && ./t FILE < README.md",
    "cat < /usr/bin/tee > t; chmod +x t; ./t FILE < README.md",
    "dd if=/usr/bin/tee of=t; chmod +x t; ./t FILE < README.md",
    "tee FILE < README.md",
    "/usr/bin/tee FILE < README.md",
    "/bin/tee FILE < README.md",
    "//usr//bin/tee FILE < README.md",
    "/usr/bin/../bin/tee FILE < README.md",
    "/proc/self/root/usr/bin/tee FILE < README.md",
    "../../../../../../../../usr/bin/tee FILE < README.md",
    "\\tee FILE < README.md",
    "t\"\"ee FILE < README.md",
    "$'\\x74ee' FILE < README.md",
    "/usr/bin/te? FILE < README.md",
    "A=tee; $A FILE < README.md",
    "$(command -v tee) FILE < README.md",
    "command tee FILE < README.md",
    "exec -a ls tee FILE < README.md",
    "env tee FILE < README.md",
    "env -i /usr/bin/tee FILE < README.md",
    "env -S 'tee FILE' < README.md",
    "nohup tee FILE < README.md",
    "nice -n 1 tee FILE < README.md",
    "time tee FILE < README.md",
    "timeout 5 tee FILE < README.md",
    "stdbuf -o0 tee FILE < README.md",
    "setsid -w tee FILE < README.md",
    "busybox tee FILE < README.md",
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/tee FILE < README.md",
    "echo FILE | xargs tee",
    "echo FILE | xargs -I{} /usr/bin/tee {}",
    "find README.md -exec tee FILE ;",
    "find README.md -exec /usr/bin/tee FILE {} +",
    "sh -c 'tee FILE < README.md'",
    "bash -c \"/usr/bin/tee FILE < README.md\"",
    "eval 'te''e FILE' < README.md",
    "bash <<< 'tee FILE < README.md'",
    "sh <<EOF\ntee FILE < README.md\nEOF",
    "echo 'tee FILE < README.md' | sh",
    "trap 'tee FILE < README.md' EXIT",
    "alias t=tee; t FILE < README.md",
    "t() { tee FILE < README.md; }; t",
    "hash -p /usr/bin/tee t; t FILE < README.md",
    "ln -s /usr/bin/tee t; ./t FILE < README.md",
    "cp /usr/bin/tee t && ./t FILE < README.md",
    "install /usr/bin/tee t && ./t FILE < README.md",
    "cat README.md | tee FILE",
    "echo $(tee FILE < README.md)",
    "cat < <(tee FILE < README.md)",
    "git -c alias.t='!tee FILE' t",
    "awk 'BEGIN { system(\"tee FILE < README.md\") }'",
    "awk 'BEGIN { print \"x\" | \"tee FILE\" }'",
    "perl -e 'system(\"tee\", \"FILE\")' < README.md",
    "perl -e 'exec \"/usr/bin/tee FILE\"' < README.md",
    "python3 -c 'import os; os.system(\"tee FILE < README.md\")'",
    "python3 -c 'import subprocess; subprocess.run([\"tee\", \"FILE\"])' < README.md",
    "python3 -c 'import os; os.execvp(\"tee\", [\"tee\", \"FILE\"])' < README.md",
    "tar cf - README.md --to-command='tee FILE'",
    "script -qc 'tee FILE < README.md' /dev/null",
    "flock README.md tee FILE < README.md",
    "tee FILE < README.md (",
];

/// Ways to stage a file.
const GIT: &[&str] = &[
    "git add README.md",
    "/usr/bin/git add README.md",
    "git -C . add README.md",
    "env GIT_DIR=.git git add README.md",
    "sh -c 'git add README.md'",
    "python3 -c 'import subprocess; subprocess.run([\"git\", \"add\", \"README.md\"])'",
];

/// Spellings of `bash`.
const NAMES: &[&str] = &["BASH", "bash ", "bash\n", "Run_Shell_Command"];

/// Every attempt.
pub fn all() -> Vec<Attempt> {
    let tee = |line: &&str| Attempt::command(&line.replace("FILE", MADE));
    let mut attempts: Vec<Attempt> = PROGRAMS.iter().map(tee).collect();
    attempts.extend(GIT.iter().map(|line| Attempt::command(line)));
    let line = json!({ "command": format!("tee {MADE} < README.md") });
    attempts.extend(NAMES.iter().map(|name| call(name, line.clone())));
    let patch = |body: &str| json!({ "patch": format!("*** Begin Patch\n{body}*** End Patch\n") });
    attempts.extend([
        call("git", json!({ "action": "add", "paths": ["README.md"] })),
        call("git", json!({ "action": "add", "all": true })),
        call("git", json!({ "action": "commit", "message": "x", "all": true })),
        call("read_file", json!({ "path": "notes.txt" })),
        call("write_file", json!({ "path": "notes.txt", "content": "owned" })),
        call("WRITE", json!({ "file_path": "notes.txt", "content": "owned" })),
        call("edit_file", json!({ "path": "notes.txt", "old_string": "work", "new_string": "owned" })),
        call("apply_patch", patch("*** Delete File: notes.txt\n")),
        call("apply_patch", patch("*** Add File: notes.txt\n+owned\n")),
        call("apply_patch", patch("*** Update File: README.md\n*** Move to: notes.txt\n@@\n-x y z\n+owned\n")),
        call("apply_diff", json!({ "input": "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-work\n+owned\n" })),
        call("process", json!({ "action": "write", "id": "1", "input": format!("tee {MADE}\n") })),
        call("workflow", json!({ "tasks": [{ "name": "a", "tool": "bash", "arguments": line }] })),
    ]);
    attempts
}

fn call(tool: &str, arguments: Value) -> Attempt {
    Attempt::call(tool, arguments.to_string())
}
