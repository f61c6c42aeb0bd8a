//! The names of what commands must not change or read, in one place.

use std::path::Path;

use neco_safety::is_listed;
use neco_safety::path::sensitive::{is_sample, is_secret_by_name};

pub(crate) const OWN_SETTINGS: &str = ".neco";

/// What runs when a shell, a session or git starts: for a workspace that is the home folder.
pub(crate) const START_UP: &str = ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc \
    .zshenv .zprofile .zlogin .kshrc .inputrc .xinitrc .xprofile .xsession .pam_environment .gitconfig .vimrc .emacs \
    .npmrc .pypirc";

/// The same as folders.
pub(crate) const START_UP_FOLDERS: &str = ".config .emacs.d .vim .local/bin .local/share/applications \
    .local/share/systemd bin .cargo";

/// What in the home folder is nobody's business: keys, logins, browsers, what was typed before.
pub(crate) const SECRETS_AT_HOME: &str = ".ssh .gnupg .password-store .aws .azure .kube .oci .docker .config/gcloud \
    .config/gh .config/glab-cli .config/hub .config/op .config/rclone .config/doctl .config/hcloud .config/ngrok \
    .ngrok2 .config/netlify .config/.wrangler .wrangler/config .fly/config.yml .railway .local/share/com.vercel.cli \
    .config/age .minikube .config/heroku .config/git/credentials .config/github-copilot .config/opencode \
    .config/goose .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge \
    .config/vivaldi .config/google-chrome-beta .config/google-chrome-unstable .config/opera .librewolf .zen \
    .waterfox snap/firefox snap/chromium snap/thunderbird snap/brave .var/app .config/Signal .config/Slack \
    .config/discord .config/Element .local/share/TelegramDesktop .local/share/evolution .config/filezilla \
    .config/remmina .local/share/remmina .config/Code/User/globalStorage .config/Bitwarden .config/1Password \
    .local/share/keyrings .local/share/kwalletd .local/share/opencode .mozilla .thunderbird .claude .claude.json \
    .codex .gemini .cursor .continue .copilot .qwen .factory .config/amp .local/share/amp .config/crush \
    .local/share/crush .aider.conf.yml .netrc _netrc .git-credentials .npmrc .yarnrc .yarnrc.yml .pypirc \
    .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config .composer/auth.json .m2/settings.xml \
    .m2/settings-security.xml .gradle/gradle.properties .terraform.d/credentials.tfrc.json .terraformrc .pgpass \
    .my.cnf .mylogin.cnf .vault-token .s3cfg .boto .databrickscfg .config/sops .config/containers/auth.json \
    .config/pip/pip.conf .config/stripe .config/configstore .config/Cursor/User/globalStorage \
    .config/Windsurf/User/globalStorage .cache/huggingface/token .huggingface/token .kaggle .android/adbkey \
    .electrum .bitcoin .ethereum .config/solana .pip/pip.conf .condarc .nuget/NuGet .lesshst .bash_history .histfile \
    .zhistory .zsh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history \
    .local/share/fish/fish_history .config/fish/fish_variables .local/share/atuin .local/share/zsh/history \
    .local/state/bash .local/state/zsh .local/state/bash_history .local/state/zsh_history \
    .local/state/python_history .local/state/node_repl_history .local/state/less .irb_history .rediscli_history \
    .duckdb_history";

/// What below the root of the machine is nobody's business, where whoever runs us may read it.
pub(crate) const SECRETS_OF_THE_SYSTEM: &str = "etc/shadow etc/shadow- etc/gshadow etc/gshadow- etc/sudoers \
    etc/sudoers.d etc/ssl/private etc/krb5.keytab etc/wireguard etc/letsencrypt/archive \
    etc/ssh/ssh_host_rsa_key etc/ssh/ssh_host_dsa_key etc/ssh/ssh_host_ecdsa_key etc/ssh/ssh_host_ed25519_key \
    var/lib/docker var/lib/containers var/lib/kubelet var/log/auth.log";

/// Folders whose keys are there to be tested with.
const FOR_TESTS: &str = "test tests testdata test-data fixtures __fixtures__ examples";

/// Whether a file holds variables that are kept secret, by its name.
pub(crate) fn is_secret_variables(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return is_secret_by_name(name) };
    (rest.is_empty() || rest.starts_with(['.', '_', '-'])) && !is_sample(name)
}

/// Whether a file may be a private key, by its name and folders; what it holds decides.
pub(crate) fn may_be_private_key(relative: &Path, name: &str) -> bool {
    let for_tests = relative
        .parent()
        .is_some_and(|folder| folder.iter().any(|part| part.to_str().is_some_and(|part| is_listed(part, FOR_TESTS))));
    let by_name = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].contains(&name);
    let by_ending = [".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx"];
    by_name || (!for_tests && by_ending.iter().any(|end| name.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_and_samples_are_none() {
        for name in [".env", ".env.local", ".env.production", ".env_backup", ".env-old", "prod.env", "home.ovpn"] {
            assert!(is_secret_variables(name), "{name}");
        }
        for name in [
            "example.env",
            "a.tfstate",
            ".env.example",
            ".env.local.sample",
            ".envrc",
            ".environment",
            "env",
            ".env.template",
        ] {
            assert!(!is_secret_variables(name), "{name}");
        }
        let key = |path: &str| {
            let path = Path::new(path);
            may_be_private_key(path, path.file_name().unwrap().to_str().unwrap())
        };
        assert!(key("deploy/server.key") && key("tests/id_rsa") && key("a.pem"));
        assert!(!key("tests/certs/server.key") && !key("id_rsa.pub") && !key("src/key.rs"));
    }
}
