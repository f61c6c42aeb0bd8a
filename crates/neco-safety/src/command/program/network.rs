//! Programs that reach out.

use super::Case;
use crate::command::finding::Finding;
use crate::command::option;

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    if uses_network(case) {
        finding.network = true;
    }
    match case.name {
        "ssh" | "scp" | "sftp" | "rsync" | "sshfs" | "mosh" => remote_shell(case, finding),
        "nc" | "ncat" | "netcat" | "socat" => connects(case, finding),
        "curl" | "wget" => transfers(case, finding),
        _ => {}
    }
}

fn uses_network(case: &Case<'_>) -> bool {
    let word = |any: &str| option::has_word(case.arguments, any);
    match case.name {
        "curl" | "wget" | "aria2c" | "nc" | "ncat" | "netcat" | "socat" | "telnet" | "ftp" | "sftp" | "ssh" | "scp"
        | "mosh" | "sshfs" | "ping" | "ping6" | "traceroute" | "dig" | "nslookup" | "host" | "whois" | "nmap"
        | "http" | "https" | "xh" | "lynx" | "w3m" | "gh" | "glab" | "aws" | "gcloud" | "az" | "kubectl" | "heroku"
        | "vercel" | "netlify" | "fly" | "flyctl" | "npx" | "bunx" | "pnpx" | "uvx" | "pipx" | "rclone" | "s3cmd"
        | "openssl" | "ssh-copy-id" | "yt-dlp" => true,
        "rsync" => case.arguments.iter().any(|word| word.text.contains(':')),
        "npm" | "yarn" | "pnpm" | "bun" => {
            word("install i ci add update upgrade publish audit view dlx exec create init outdated")
                || case.name == "yarn" && case.arguments.is_empty()
        }
        "pip" | "pip3" | "uv" | "poetry" | "conda" | "mamba" | "gem" | "bundle" | "composer" => {
            word("install download add sync update lock upgrade require")
        }
        "cargo" => word("install fetch update add publish search login audit"),
        "go" => word("get install download"),
        "rustup" => word("update install add toolchain component target"),
        "apt" | "apt-get" | "yum" | "dnf" | "pacman" | "apk" | "brew" | "snap" | "flatpak" | "zypper" => true,
        "docker" | "podman" => word("pull push login build run"),
        "python" | "python3" => word("pip http.server ensurepip"),
        _ => false,
    }
}

fn remote_shell(case: &Case<'_>, finding: &mut Finding) {
    finding.uncoverable();
    for setting in option::values(case.arguments, Some('o'), "--option") {
        let lower = setting.text.to_ascii_lowercase();
        if ["proxycommand", "localcommand", "permitlocalcommand", "knownhostscommand", "match"]
            .iter()
            .any(|name| lower.starts_with(name))
        {
            finding.critical("an option makes it run a command here");
            let command = setting.text.split_once(['=', ' ', '\t']).map_or("", |(_, value)| value);
            let command = command.trim_start_matches(['=', ' ', '\t', '"']);
            finding.runs(&crate::command::Word::of(command.to_owned(), setting.exact));
        }
    }
    let own = match case.name {
        "rsync" => option::values(case.arguments, Some('e'), "--rsh"),
        "scp" | "sftp" => option::values(case.arguments, Some('S'), "--program"),
        _ => Vec::new(),
    };
    for command in own.iter().filter(|word| word.text != "ssh") {
        finding.critical("an option makes it run a command here");
        finding.runs(command);
    }
    if option::has(case.arguments, 'F', "--config") && case.name != "rsync" {
        finding.critical("it takes its settings from another file");
    }
    if case.name == "ssh" {
        finding.critical("it acts on another machine");
    }
}

fn connects(case: &Case<'_>, finding: &mut Finding) {
    finding.uncoverable();
    finding.critical("it opens a connection to anywhere");
    let commands = [
        option::values(case.arguments, Some('e'), "--exec"),
        option::values(case.arguments, Some('c'), "--sh-exec"),
        option::values(case.arguments, None, "--lua-exec"),
    ]
    .concat();
    commands.iter().for_each(|command| finding.runs(command));
    for word in case.arguments {
        // To socat, the kind of an address is the same in small letters.
        let lower = word.text.to_ascii_lowercase();
        let begins = ["exec:", "system:", "shell:"].iter().find_map(|kind| Some(lower.find(kind)? + kind.len()));
        if let Some(command) = begins.and_then(|start| word.text.get(start..)) {
            finding.runs(&crate::command::Word::of(command.to_owned(), word.exact));
        }
    }
}

/// Options that write files, read settings, or send files.
fn transfers(case: &Case<'_>, finding: &mut Finding) {
    let arguments = case.arguments;
    let writes = option::has(arguments, 'o', "--output")
        || option::has(arguments, 'O', "--remote-name")
        || option::has_long(arguments, "--output-document");
    finding.uncoverable |=
        writes || option::has(arguments, 'K', "--config") || option::has(arguments, 'T', "--upload-file");
    for target in
        [option::values(arguments, Some('o'), "--output"), option::values(arguments, Some('O'), "--output-document")]
            .concat()
    {
        if case.ground.is_device(&target) {
            finding.never("it overwrites a device");
        } else if case.ground.guarded(&target).is_some()
            || case.ground.is_outside(&target) && target.text.starts_with(['/', '~', '.'])
        {
            finding.critical(format!("it writes {}", target.text));
            finding.opens.extend(case.ground.changed_by(&target));
        }
    }
    let sends = arguments.iter().any(|word| word.text.starts_with('@') || word.text.contains("=@"));
    if sends || option::has(arguments, 'T', "--upload-file") || option::has_long(arguments, "--post-file") {
        finding.critical("it sends a file away");
    }
    if option::has_long(arguments, "--use-askpass") || option::has_long(arguments, "--execute") {
        finding.critical("an option makes it run a command");
    }
    if arguments.iter().any(|word| word.text.starts_with("file:")) {
        finding.critical("it reads files by address");
    }
}
