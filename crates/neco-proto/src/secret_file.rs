//! Files that hold secrets, by their names: what asks before one is read and what offers one last know the same ones.

/// What a file may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretFile {
    /// Variables, with secrets among them.
    Variables,
    /// What logs somebody in.
    Credentials,
    /// A private key.
    PrivateKey,
}

/// Files that keep what logs somebody in.
const CREDENTIALS: &[&str] = &[
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "credentials.xml",
    "credentials.ini",
    "application_default_credentials.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yml",
    "secrets.yaml",
    "service-account.json",
    "service_account.json",
    "wallet.dat",
    "keys.toml",
];

/// What the names of keys for SSH begin with.
const SSH_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"];

/// Endings of files that show what a file with secrets would look like.
const SAMPLES: &[&str] = &["example", "examples", "sample", "template", "dist", "defaults", "schema"];

impl SecretFile {
    /// What a file of this name may hold; the name is in lower case.
    ///
    /// ```
    /// use neco_proto::secret_file::SecretFile;
    ///
    /// assert_eq!(SecretFile::of_name(".env.local"), Some(SecretFile::Variables));
    /// assert_eq!(SecretFile::of_name("secrets.yml"), Some(SecretFile::Credentials));
    /// assert_eq!(SecretFile::of_name("id_ed25519"), Some(SecretFile::PrivateKey));
    /// assert_eq!(SecretFile::of_name("id_ed25519.pub"), None);
    /// assert_eq!(SecretFile::of_name(".env.example"), None);
    /// ```
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        if CREDENTIALS.contains(&name) {
            return Some(Self::Credentials);
        }
        if name.starts_with(".env") && !is_sample(name) {
            return Some(Self::Variables);
        }
        if !name.ends_with(".pub") && SSH_KEYS.iter().any(|kind| name.starts_with(kind)) {
            return Some(Self::PrivateKey);
        }
        Self::of_extension(name)
    }

    fn of_extension(name: &str) -> Option<Self> {
        let (stem, extension) = name.rsplit_once('.')?;
        match extension {
            // As `prod.env`; one that is called `example.env` shows what another would look like, and some are no files.
            "env" if ["process", "import.meta", "bun"].contains(&stem) => None,
            "env" => (!stem.split(['.', '-', '_']).any(|part| SAMPLES.contains(&part))).then_some(Self::Variables),
            "ovpn" => Some(Self::Credentials),
            "pem" | "key" | "p12" | "pfx" | "ppk" | "jks" | "keystore" | "kdbx" => Some(Self::PrivateKey),
            _ => None,
        }
    }
}

/// Whether a name says that the file only shows what another one would look like, as `.env.example` does.
#[must_use]
pub fn is_sample(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|end| SAMPLES.contains(&end))
}
