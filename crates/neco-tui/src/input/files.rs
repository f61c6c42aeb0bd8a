//! The files of the workspace, by what is written of their names.

use neco_proto::secret_file::SecretFile;

use super::completion::fits;

/// Whether a file may hold secrets, by its name: it is offered last. What may be read of it is decided elsewhere.
pub fn may_hold_secrets(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    SecretFile::of_name(&name).is_some()
}

/// The files, once they are known.
#[derive(Clone, Debug, Default)]
pub struct Files {
    names: Vec<String>,
    /// Which of them may hold secrets, in the same order.
    secret: Vec<bool>,
    /// What was looked for last, and those that fit it: whoever writes on looks among them.
    near: Option<(String, Vec<usize>)>,
}

impl Files {
    pub fn new(names: Vec<String>) -> Self {
        let secret = names.iter().map(|name| may_hold_secrets(name)).collect();
        Self { names, secret, near: None }
    }

    /// The `most` names that fit `word` best, the best first; those that may hold secrets come last.
    pub fn near(&mut self, word: &str, most: usize) -> Vec<&str> {
        let score = |index: usize| Some((fits(word, self.names.get(index)?)?, index));
        let mut found: Vec<(i64, usize)> = match &self.near {
            Some((before, near)) if word.starts_with(before.as_str()) => {
                near.iter().filter_map(|index| score(*index)).collect()
            }
            Some(_) | None => (0..self.names.len()).filter_map(score).collect(),
        };
        self.near = Some((word.to_owned(), found.iter().map(|(_, index)| *index).collect()));
        let better = |one: &(i64, usize), other: &(i64, usize)| {
            let secret = self.secret.get(one.1).cmp(&self.secret.get(other.1));
            let better = secret.then_with(|| other.0.cmp(&one.0));
            better.then_with(|| self.names.get(one.1).cmp(&self.names.get(other.1)))
        };
        if found.len() > most {
            // Sorting all of them would take longer than finding them.
            found.select_nth_unstable_by(most, better);
            found.truncate(most);
        }
        found.sort_unstable_by(better);
        found.into_iter().filter_map(|(_, index)| self.names.get(index).map(String::as_str)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_may_hold_secrets_comes_last() {
        let names = [".env", ".env.example", "deploy/server.pem", "src/environment.rs", "id_ed25519", "id_ed25519.pub"];
        let secret: Vec<&str> = names.into_iter().filter(|name| may_hold_secrets(name)).collect();
        assert_eq!(secret, [".env", "deploy/server.pem", "id_ed25519"]);
        assert!([".envrc", "config/Secrets.json", "secrets.yml", "prod.env"].into_iter().all(may_hold_secrets));
        let mut files = Files::new(names.map(str::to_owned).to_vec());
        assert_eq!(files.near("env", 9), [".env.example", "src/environment.rs", ".env"]);
    }

    proptest! {
        #[test]
        fn whoever_writes_on_finds_the_same(
            names in proptest::collection::vec("[a-c/]{0,6}", 0..60),
            words in proptest::collection::vec("[a-c]{0,3}", 1..6),
        ) {
            let mut files = Files::new(names.clone());
            for word in words {
                let near: Vec<String> = files.near(&word, 5).into_iter().map(str::to_owned).collect();
                let mut all: Vec<(i64, &String)> =
                    names.iter().filter_map(|name| Some((fits(&word, name)?, name))).collect();
                all.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
                let all: Vec<String> = all.into_iter().take(5).map(|(_, name)| name.clone()).collect();
                prop_assert_eq!(near, all);
            }
        }
    }
}
