//! Programs that concern the whole machine, and Neco itself.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::Finding;
use crate::command::option;

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    if let Some(why) = denied(case) {
        finding.never(why);
    }
    if let Some(why) = critical(case) {
        finding.critical(why);
    }
}

fn denied(case: &Case<'_>) -> Option<&'static str> {
    let word = |any: &str| option::has_word(case.arguments, any);
    let names_device = || case.arguments.iter().any(|word| case.ground.is_device(word));
    match case.name {
        name if name == "mkfs" || name.starts_with("mkfs.") || name.starts_with("newfs") => {
            Some("it makes a new file system")
        }
        "mke2fs" | "mkswap" | "wipefs" | "blkdiscard" | "sgdisk" | "sfdisk" | "fdisk" | "cfdisk" | "parted"
        | "mkntfs" | "mkdosfs" => Some("it overwrites a disk"),
        "badblocks" | "hdparm" | "nvme" | "cryptsetup" | "pvcreate" | "pvremove" | "zpool" | "mdadm"
            if names_device() =>
        {
            Some("it overwrites a disk")
        }
        "diskutil" if case.arguments.iter().any(|word| word.text.to_lowercase().contains("erase")) => {
            Some("it overwrites a disk")
        }
        "shutdown" | "reboot" | "halt" | "poweroff" | "kexec" => Some("it stops the machine"),
        "init" | "telinit" if word("0 6 1 s S") => Some("it stops the machine"),
        "systemctl" | "loginctl"
            if word("poweroff reboot halt kexec suspend hibernate rescue emergency soft-reboot") =>
        {
            Some("it stops the machine")
        }
        "setenforce" | "aa-teardown" | "aa-disable" | "aa-complain" => Some("it switches off what guards the machine"),
        "apparmor_parser" if option::has(case.arguments, 'R', "--remove") => {
            Some("it switches off what guards the machine")
        }
        "kill" | "pkill" | "killall" | "skill" | "xkill" if kills_too_much(case) => {
            Some("it would end Neco or everything")
        }
        _ => None,
    }
}

fn kills_too_much(case: &Case<'_>) -> bool {
    let ours = |word: &Word| {
        let text = word.text.to_ascii_lowercase();
        text == "neco"
            || text.ends_with("/neco")
            || text.contains("$ppid")
            || text.contains("${ppid")
            || text.contains("pidof neco")
            || text.contains("pgrep neco")
            || text.contains("[n]eco")
            || text == "^neco"
            || text == "neco$"
    };
    let everything = case.name == "kill"
        && case.arguments.iter().enumerate().any(|(index, word)| {
            word.text == "-1" && index > 0 || word.text == "1" && index + 1 == case.arguments.len()
        });
    case.arguments.iter().any(ours) || everything
}

/// What package managers are told to remove something with.
const REMOVES: &str = "remove purge autoremove erase uninstall del -r -R -Rns -Rs -e -P --purge --remove";

fn critical(case: &Case<'_>) -> Option<&'static str> {
    let word = |any: &str| option::has_word(case.arguments, any);
    match case.name {
        "crontab" if !word("-l") => Some("it makes something run later"),
        "at" | "batch" | "systemd-run" | "launchctl" => Some("it makes something run later"),
        "systemctl" if !word("status show list-units is-active is-enabled cat") => {
            Some("it changes what the machine runs")
        }
        "service" | "rc-service" | "update-rc.d" | "chkconfig" => Some("it changes what the machine runs"),
        "mount" | "umount" | "swapoff" | "swapon" | "losetup" | "modprobe" | "insmod" | "rmmod" | "sysctl"
        | "lvremove" | "vgremove" | "iptables" | "ip6tables" | "nft" | "ufw" | "ifconfig" | "route" | "setcap" => {
            Some("it changes the machine itself")
        }
        "useradd" | "userdel" | "usermod" | "groupadd" | "passwd" | "chpasswd" | "visudo" | "chsh" | "adduser"
        | "deluser" => Some("it changes the users of the machine"),
        "kill" | "pkill" | "killall" if word("-9 -KILL -SIGKILL") && case.arguments.len() < 2 => {
            Some("it ends processes")
        }
        "apt" | "apt-get" | "aptitude" | "yum" | "dnf" | "zypper" | "pacman" | "apk" | "brew" | "snap" | "flatpak"
        | "dpkg" | "rpm" | "port"
            if word(REMOVES) =>
        {
            Some("it removes programs from the machine")
        }
        "neco" if !word("--version --help doctor") => Some("it would run Neco inside Neco"),
        "docker" | "podman" | "nerdctl" if reaches_host(case) => Some("it leaves the sandbox"),
        "docker" | "podman" | "nerdctl" if word("prune rm rmi kill") => Some("it deletes containers or images"),
        "gdb" | "lldb" | "ptrace" if option::has(case.arguments, 'p', "--pid") => {
            Some("it reaches into another process")
        }
        "ssh-add" | "ssh-keygen" | "gpg" | "security" | "secret-tool" | "pass" | "op" | "keyctl" => {
            Some("it deals with keys")
        }
        "printenv" | "env" if word("-0 --null") => None,
        "terraform" | "tofu" | "pulumi" if word("destroy apply") => Some("it changes machines elsewhere"),
        "kubectl" if word("delete drain apply replace") => Some("it changes machines elsewhere"),
        "npm" | "yarn" | "pnpm" | "cargo" | "twine" | "gem" | "poetry" | "uv"
            if word("publish unpublish yank upload push") && !takes_any_word(case) =>
        {
            Some("it publishes")
        }
        "gh" | "glab" if word("delete merge release secret api auth") => Some("it changes things on a server"),
        "dropdb" | "mysqladmin" => Some("it deletes a database"),
        "psql" | "mysql" | "sqlite3" if case.arguments.iter().any(|word| drops(&word.text)) => {
            Some("it deletes from a database")
        }
        _ => None,
    }
}

/// Whether a package manager is told, before anything else, to do what takes words of the project: `cargo test upload`.
fn takes_any_word(case: &Case<'_>) -> bool {
    let mut words = case.arguments.iter().map(|word| word.text.as_str()).skip_while(|word| word.starts_with('+'));
    words
        .next()
        .is_some_and(|first| matches!(first, "test" | "t" | "nextest" | "bench" | "check" | "clippy" | "build" | "b"))
}

fn drops(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["drop ", "truncate ", "delete from"].iter().any(|word| text.contains(word))
}

fn reaches_host(case: &Case<'_>) -> bool {
    case.arguments.iter().any(|word| {
        let text = word.text.as_str();
        matches!(text, "--privileged" | "--pid=host" | "--net=host" | "--network=host" | "--ipc=host" | "--userns=host")
            || text.starts_with("/:")
            || text.contains("docker.sock")
            || text.starts_with("--cap-add")
            || text.starts_with("--device")
    })
}
