//! The profile of a box for `sandbox-exec`. Pure: the text is all there is to it.

use std::path::{Path, PathBuf};

/// What a profile is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Folders that may be changed.
    pub writable: Vec<PathBuf>,
    /// What lies in them and may not be changed all the same, there or not.
    pub kept: Vec<PathBuf>,
    /// What may not be read.
    pub hidden: Vec<PathBuf>,
    /// Whether the network can be reached.
    pub network: bool,
    /// The port of the proxy on this machine, if there is one.
    pub proxy_port: Option<u16>,
}

/// The profile's text. Later rules win over earlier ones.
pub fn profile(wanted: &Profile) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n(allow process-exec process-fork)\n(allow signal (target same-sandbox))\n\
         (allow process-info* (target same-sandbox))\n(allow sysctl-read)\n(allow file-read*)\n\
         (allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n\
         (allow ipc-posix-sem)\n(allow pseudo-tty)\n\
         (allow file-read* file-write* file-ioctl (literal \"/dev/null\") (literal \"/dev/zero\") \
         (literal \"/dev/tty\") (literal \"/dev/ptmx\") (regex #\"^/dev/ttys[0-9]+$\"))\n",
    );
    rule(&mut text, "allow file-write*", &wanted.writable);
    rule(&mut text, "deny file-write*", &wanted.kept);
    rule(&mut text, "deny file-read* file-write*", &wanted.hidden);
    if wanted.network {
        text.push_str("(allow network*)\n(allow system-socket)\n");
    } else {
        text.push_str("(allow network* (local ip \"localhost:*\"))\n");
        match wanted.proxy_port {
            Some(port) => text.push_str(&format!("(allow network-outbound (remote ip \"localhost:{port}\"))\n")),
            None => text.push_str("(allow network-outbound (remote ip \"localhost:*\"))\n"),
        }
    }
    text
}

fn rule(text: &mut String, what: &str, paths: &[PathBuf]) {
    if paths.is_empty() {
        return;
    }
    let places: Vec<String> = paths.iter().map(|path| format!("(subpath {})", quoted(path))).collect();
    text.push_str(&format!("({what} {})\n", places.join(" ")));
}

/// A string of the profile's language: nothing in a path may end it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_allows_what_is_wanted_and_denies_the_rest_last() {
        let wanted = Profile {
            writable: vec!["/w".into(), "/private/tmp/neco-1".into()],
            kept: vec!["/w/.git/hooks".into()],
            hidden: vec!["/Users/me/.ssh".into()],
            network: false,
            proxy_port: Some(8123),
        };
        let text = profile(&wanted);
        let expected = "(allow file-write* (subpath \"/w\") (subpath \"/private/tmp/neco-1\"))\n\
             (deny file-write* (subpath \"/w/.git/hooks\"))\n\
             (deny file-read* file-write* (subpath \"/Users/me/.ssh\"))\n\
             (allow network* (local ip \"localhost:*\"))\n\
             (allow network-outbound (remote ip \"localhost:8123\"))\n";
        assert!(text.starts_with("(version 1)\n(deny default)\n"), "{text}");
        assert!(text.ends_with(expected), "{text}");
        let open = profile(&Profile { network: true, ..Profile::default() });
        assert!(open.ends_with("(allow network*)\n(allow system-socket)\n"), "{open}");
    }

    #[test]
    fn no_path_ends_its_string() {
        assert_eq!(quoted(Path::new("/a\"b\\c\nd")), "\"/a\\\"b\\\\c\\nd\"");
    }
}
