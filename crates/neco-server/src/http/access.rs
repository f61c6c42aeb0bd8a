//! Who may come in: a token in a file of the person, named tokens that may do less, and browsers that came by a link.
//!
//! Invariants: of what lets somebody in only hashes are kept in memory, and the file of the main token is the only place
//! that has it; all comparisons take the same time; a link is good once; what was opened with something ends when
//! that lets nobody in any more.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use neco_proto::Actor;
use neco_proto::app::{Caller, Scope};
use neco_proto::key_kind::SERVER_TOKEN;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use super::audit::{Audit, Line};

/// How long a link is good.
const LINK: Duration = Duration::from_secs(10 * 60);

/// How long a browser stays signed in.
const BROWSER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Links, and browsers, at a time; the oldest go.
const MOST: usize = 64;

/// The file of the main token.
const TOKEN: &str = "token";

/// The file of the named tokens.
const NAMED: &str = "tokens.json";

/// The file of the browsers that are signed in, so that the next server knows them.
const BROWSERS: &str = "browsers.json";

/// What a token is known by.
type Hash = [u8; 32];

/// Who somebody is that was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    pub scope: Scope,
    pub actor: Actor,
}

impl Rights {
    /// The caller that somebody is who claims to be `claimed`: no more than they may.
    pub fn caller(&self, claimed: Caller) -> Caller {
        // The person may speak for others, such as a program; nobody else may.
        let actor = if self.actor == Actor::Person { claimed.actor } else { self.actor.clone() };
        Caller { actor, scope: claimed.scope.min(self.scope), tenant: claimed.tenant }
    }

    /// The caller that they are.
    pub fn own(&self) -> Caller {
        Caller { actor: self.actor.clone(), scope: self.scope, tenant: None }
    }
}

/// A token with a name, as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedToken {
    /// What it is called.
    pub name: String,
    /// The most that whoever has it may do.
    pub scope: Scope,
    /// SHA-256 of it, in hexadecimal digits.
    pub sha256: String,
}

/// All who may come in.
pub(crate) struct Access {
    folder: PathBuf,
    tokens: Mutex<Tokens>,
    links: Mutex<Vec<(Hash, Instant)>>,
    browsers: Mutex<Vec<Browser>>,
}

/// What the files have.
#[derive(Default)]
struct Tokens {
    own: Option<(Hash, Good)>,
    named: Vec<(NamedToken, Good)>,
}

impl Tokens {
    /// Takes what the files have now, and tells whether the main token is another one. Whoever is known stays.
    fn take(&mut self, own: Option<Hash>, named: Vec<NamedToken>) -> bool {
        let is_other = self.own.as_ref().map(|(known, _)| *known) != own;
        if is_other {
            self.own = own.map(|own| (own, Good::default()));
        }
        let mut before = std::mem::take(&mut self.named);
        let kept = named.into_iter().map(|named| match before.iter().position(|(known, _)| *known == named) {
            Some(at) => before.swap_remove(at),
            None => (named, Good::default()),
        });
        self.named = kept.collect();
        is_other
    }
}

/// That something lets somebody in; what was opened with it ends when this is dropped.
#[derive(Default)]
struct Good(CancellationToken);

impl Good {
    fn ends(&self) -> CancellationToken {
        self.0.clone()
    }
}

impl Drop for Good {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

struct Browser {
    cookie: Hash,
    /// The header token of its tabs.
    tab: Hash,
    until: Timestamp,
    good: Good,
}

/// The browsers as the file has them: hashes, in hexadecimal digits.
#[derive(Default, Serialize, Deserialize)]
struct KeptBrowsers {
    /// The main token that they were signed in under: with another one all of them are signed out.
    token: String,
    browsers: Vec<KeptBrowser>,
}

#[derive(Serialize, Deserialize)]
struct KeptBrowser {
    cookie: String,
    tab: String,
    until: Timestamp,
}

impl KeptBrowsers {
    /// Those of a folder that are signed in under this token.
    fn read(folder: &Path, token: Option<&Hash>) -> io::Result<Vec<Browser>> {
        let Some(text) = read_private(&folder.join(BROWSERS))? else { return Ok(Vec::new()) };
        let kept: Self = serde_json::from_str(&text).map_err(io::Error::other)?;
        if token.is_none_or(|token| hexadecimal(token) != kept.token) {
            return Ok(Vec::new());
        }
        let browser = |kept: KeptBrowser| {
            let (cookie, tab) = (of_hexadecimal(&kept.cookie)?, of_hexadecimal(&kept.tab)?);
            Some(Browser { cookie, tab, until: kept.until, good: Good::default() })
        };
        let all = kept.browsers.into_iter().filter_map(browser);
        Ok(all.filter(|browser| browser.until > Timestamp::now()).take(MOST).collect())
    }
}

/// A random secret.
pub(crate) fn secret(prefix: &str) -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().fold(prefix.to_owned(), |text, byte| format!("{text}{byte:02x}")))
}

fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

fn hexadecimal(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_hexadecimal(digits: &str) -> Option<Hash> {
    let byte = |at: usize| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..digits.len() / 2).map(byte).collect::<Option<_>>()?;
    bytes.try_into().ok()
}

fn same(one: &Hash, other: &Hash) -> bool {
    one.ct_eq(other).into()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Access {
    /// With the token of a folder, which is made when there is none.
    pub fn open(folder: &Path) -> io::Result<Self> {
        if main_token(folder)?.is_none() {
            write_private(&folder.join(TOKEN), secret(SERVER_TOKEN)?.as_bytes())?;
        }
        let own = main_token(folder)?.as_deref().map(hash);
        let browsers = KeptBrowsers::read(folder, own.as_ref()).unwrap_or_else(|error| {
            tracing::warn!(%error, "which browsers are signed in is not known: they sign in again");
            Vec::new()
        });
        let mut tokens = Tokens::default();
        tokens.take(own, named_tokens(folder)?);
        let (links, browsers) = (Mutex::default(), Mutex::new(browsers));
        Ok(Self { folder: folder.to_owned(), tokens: Mutex::new(tokens), links, browsers })
    }

    /// Writes down which browsers are signed in. They stay so also where it can't be written, as long as this server runs.
    fn keep(&self, browsers: &[Browser]) {
        let token = locked(&self.tokens).own.as_ref().map(|(own, _)| hexadecimal(own)).unwrap_or_default();
        let kept = |browser: &Browser| KeptBrowser {
            cookie: hexadecimal(&browser.cookie),
            tab: hexadecimal(&browser.tab),
            until: browser.until,
        };
        let all = KeptBrowsers { token, browsers: browsers.iter().map(kept).collect() };
        let written = serde_json::to_vec(&all).map_err(io::Error::other);
        if let Err(error) = written.and_then(|all| write_private(&self.folder.join(BROWSERS), &all)) {
            tracing::warn!(%error, "which browsers are signed in could not be written down");
        }
    }

    /// Reads the files again: a token that was removed is good for nothing from then on, and with the main token all
    /// browsers go. A file that can't be read lets nobody in.
    pub fn refresh(&self) -> io::Result<()> {
        locked(&self.browsers).retain(|browser| browser.until > Timestamp::now());
        let (own, named) = (main_token(&self.folder), named_tokens(&self.folder));
        let known = own.as_ref().ok().and_then(|own| own.as_deref().map(hash));
        let names = named.as_ref().cloned().unwrap_or_default();
        let is_other = locked(&self.tokens).take(known, names);
        if is_other {
            locked(&self.links).clear();
            let mut browsers = locked(&self.browsers);
            browsers.clear();
            self.keep(&browsers);
        }
        own.map(drop).and(named.map(drop))
    }

    /// Who has this token, and what is cancelled when it is good no longer.
    pub fn of_token(&self, token: &str) -> Option<(Rights, CancellationToken)> {
        let (shown, tokens) = (hash(token), locked(&self.tokens));
        if let Some((own, good)) = &tokens.own
            && same(&shown, own)
        {
            return Some((Rights { scope: Scope::Manage, actor: Actor::Person }, good.ends()));
        }
        let shown = hexadecimal(&shown);
        let is_it = |named: &NamedToken| -> bool { named.sha256.as_bytes().ct_eq(shown.as_bytes()).into() };
        let (found, good) = tokens.named.iter().find(|(named, _)| is_it(named))?;
        let rights = Rights { scope: found.scope, actor: Actor::Device { name: found.name.clone() } };
        Some((rights, good.ends()))
    }

    /// A code for a link that lets one browser in, once.
    pub fn link(&self) -> io::Result<String> {
        let code = secret("")?;
        let mut links = locked(&self.links);
        links.retain(|(_, until)| *until > Instant::now());
        if links.len() >= MOST {
            links.remove(0);
        }
        links.push((hash(&code), Instant::now() + LINK));
        Ok(code)
    }

    /// The cookie and the header token of a browser that shows the code of a link; the code is used up. It writes a file.
    pub fn exchange(&self, code: &str) -> io::Result<Option<(String, String)>> {
        let shown = hash(code);
        let mut links = locked(&self.links);
        let Some(at) = links.iter().position(|(link, _)| same(link, &shown)) else { return Ok(None) };
        let (_, until) = links.remove(at);
        if until < Instant::now() {
            return Ok(None);
        }
        let (cookie, tab) = (secret("")?, secret("")?);
        let mut browsers = locked(&self.browsers);
        browsers.retain(|browser| browser.until > Timestamp::now());
        if browsers.len() >= MOST {
            browsers.remove(0);
        }
        let until = Timestamp::now() + BROWSER;
        browsers.push(Browser { cookie: hash(&cookie), tab: hash(&tab), until, good: Good::default() });
        self.keep(&browsers);
        Ok(Some((cookie, tab)))
    }

    /// Who a browser speaks for that has both: other programs of the machine can put a cookie of theirs on a port of ours,
    /// and read one, but the header token stays with the pages of this port, and nobody gets it for a cookie.
    pub fn of_browser(&self, cookie: &str, tab: &str) -> Option<(Rights, CancellationToken)> {
        let (cookie, tab) = (hash(cookie), hash(tab));
        let browsers = locked(&self.browsers);
        let knows = |browser: &Browser| {
            same(&browser.cookie, &cookie) && browser.until > Timestamp::now() && same(&browser.tab, &tab)
        };
        let found = browsers.iter().find(|browser| knows(browser))?;
        Some((Rights { scope: Scope::Manage, actor: Actor::Person }, found.good.ends()))
    }

    /// Signs a browser out. It writes a file.
    pub fn forget(&self, cookie: &str) {
        let (shown, mut browsers) = (hash(cookie), locked(&self.browsers));
        browsers.retain(|browser| !same(&browser.cookie, &shown));
        self.keep(&browsers);
    }
}

/// The main token of a folder, unless there is none that only its owner can know.
///
/// # Errors
/// When it can't be read.
pub fn main_token(folder: &Path) -> io::Result<Option<String>> {
    let Some(text) = read_private(&folder.join(TOKEN))? else { return Ok(None) };
    let token = text.trim().to_owned();
    Ok((token.len() >= 64).then_some(token))
}

/// The named tokens of a folder.
///
/// # Errors
/// When they can't be read.
pub fn named_tokens(folder: &Path) -> io::Result<Vec<NamedToken>> {
    match read_private(&folder.join(NAMED))? {
        Some(text) => serde_json::from_str(&text).map_err(io::Error::other),
        None => Ok(Vec::new()),
    }
}

/// Makes a token with a name, in place of one that has it already.
///
/// # Errors
/// When it can't be written.
pub fn add_token(folder: &Path, name: &str, scope: Scope) -> io::Result<String> {
    let _lock = changing(folder)?;
    let mut named = named_tokens(folder)?;
    named.retain(|named| named.name != name);
    let token = secret(SERVER_TOKEN)?;
    named.push(NamedToken { name: name.to_owned(), scope, sha256: hexadecimal(&hash(&token)) });
    write_private(&folder.join(NAMED), &serde_json::to_vec_pretty(&named)?)?;
    note(folder, "tokens.add", name)?;
    Ok(token)
}

/// Writes down what the person does with a token, in whatever process.
fn note(folder: &Path, does: &str, token: &str) -> io::Result<()> {
    let line = Line::of(&Caller::person(), does, &Ok(()));
    Audit::of(folder).write(Line { token: Some(token.to_owned()), ..line })
}

/// Waits until nobody else changes the named tokens; they may when what is given back is dropped.
fn changing(folder: &Path) -> io::Result<File> {
    make_private(folder)?;
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join("tokens.lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Removes a token by its name, and tells whether there was one; without a name the main one, which is made anew when
/// the server starts.
///
/// # Errors
/// When that can't be written.
pub fn remove_token(folder: &Path, name: Option<&str>) -> io::Result<bool> {
    let Some(name) = name else {
        return match fs::remove_file(folder.join(TOKEN)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => {
                removed?;
                note(folder, "tokens.remove", "")?;
                Ok(true)
            }
        };
    };
    let _lock = changing(folder)?;
    let mut named = named_tokens(folder)?;
    let before = named.len();
    named.retain(|named| named.name != name);
    write_private(&folder.join(NAMED), &serde_json::to_vec_pretty(&named)?)?;
    let is_removed = named.len() < before;
    if is_removed {
        note(folder, "tokens.remove", name)?;
    }
    Ok(is_removed)
}

/// Makes a folder that only its owner can look into.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let there = fs::symlink_metadata(folder)?;
    if !there.is_dir() || there.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("{} is a link, or belongs to somebody else", folder.display())));
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

/// Writes a file that only its owner can read, all of it or nothing.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// A file that only its owner can read and that is no link; nothing when there is none, or others could know it.
pub(crate) fn read_private(path: &Path) -> io::Result<Option<String>> {
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?;
    let mut file: File = match OpenOptions::new().read(true).custom_flags(no_follow).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let there = file.metadata()?;
    if there.mode() & 0o077 != 0 || there.uid() != rustix::process::geteuid().as_raw() {
        return Ok(None);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_kept_and_made_anew_when_others_could_know_it() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path()).unwrap();
        let token = main_token(folder.path()).unwrap().unwrap();
        let (rights, _) = access.of_token(&token).unwrap();
        assert_eq!(rights, Rights { scope: Scope::Manage, actor: Actor::Person });
        assert!(access.of_token("neco_").is_none());
        assert!(Access::open(folder.path()).unwrap().of_token(&token).is_some());
        fs::set_permissions(folder.path().join(TOKEN), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Access::open(folder.path()).unwrap().of_token(&token).is_none());
    }

    #[test]
    fn a_named_token_may_what_it_was_made_for_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path()).unwrap();
        let token = add_token(folder.path(), "phone", Scope::Read).unwrap();
        assert!(access.of_token(&token).is_none(), "not read yet");
        access.refresh().unwrap();
        let phone = Actor::Device { name: "phone".to_owned() };
        let (rights, ends) = access.of_token(&token).unwrap();
        assert_eq!(rights, Rights { scope: Scope::Read, actor: phone.clone() });
        assert_eq!(rights.caller(Caller::person()), Caller { actor: phone, scope: Scope::Read, tenant: None });
        assert!(!fs::read_to_string(folder.path().join(NAMED)).unwrap().contains(&token));
        access.refresh().unwrap();
        assert!(!ends.is_cancelled(), "nothing has changed");
        assert!(remove_token(folder.path(), Some("phone")).unwrap());
        access.refresh().unwrap();
        assert!(access.of_token(&token).is_none() && ends.is_cancelled());
        let noted = fs::read_to_string(folder.path().join("audit.jsonl")).unwrap();
        let noted: Vec<serde_json::Value> = noted.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let did: Vec<_> = noted.iter().map(|line| (line["does"].as_str(), line["token"].as_str())).collect();
        assert_eq!(did, [(Some("tokens.add"), Some("phone")), (Some("tokens.remove"), Some("phone"))]);
    }

    #[test]
    fn a_file_that_is_broken_lets_nobody_in_and_no_browser_outlives_the_main_token() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path()).unwrap();
        let main = main_token(folder.path()).unwrap().unwrap();
        let phone = add_token(folder.path(), "phone", Scope::Work).unwrap();
        access.refresh().unwrap();
        let (_, ends) = access.of_token(&phone).unwrap();
        write_private(&folder.path().join(NAMED), b"[{").unwrap();
        assert!(access.refresh().is_err());
        assert!(access.of_token(&phone).is_none() && ends.is_cancelled());
        let (_, ends) = access.of_token(&main).unwrap();
        let (cookie, tab) = access.exchange(&access.link().unwrap()).unwrap().unwrap();
        let (_, signed_out) = access.of_browser(&cookie, &tab).unwrap();
        assert!(remove_token(folder.path(), None).unwrap());
        assert!(access.refresh().is_err(), "the other file is still broken");
        assert!(access.of_token(&main).is_none() && ends.is_cancelled());
        assert!(access.of_browser(&cookie, &tab).is_none() && signed_out.is_cancelled());
    }

    #[test]
    fn a_link_is_good_once_and_a_browser_needs_both_of_its_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path()).unwrap();
        let code = access.link().unwrap();
        let (cookie, tab) = access.exchange(&code).unwrap().unwrap();
        assert_eq!(access.exchange(&code).unwrap(), None, "used up");
        assert!(access.of_browser(&cookie, &tab).is_some());
        let (other, foreign) = access.exchange(&access.link().unwrap()).unwrap().unwrap();
        assert!(access.of_browser(&cookie, &foreign).is_none(), "the tab of another browser");
        assert!(access.of_browser(&other, &tab).is_none());
        let (_, ends) = access.of_browser(&cookie, &tab).unwrap();
        access.forget(&cookie);
        assert!(access.of_browser(&cookie, &tab).is_none() && ends.is_cancelled());
    }

    #[test]
    fn the_next_server_knows_the_browsers_unless_the_main_token_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path()).unwrap();
        let (cookie, tab) = access.exchange(&access.link().unwrap()).unwrap().unwrap();
        let (gone, its_tab) = access.exchange(&access.link().unwrap()).unwrap().unwrap();
        access.forget(&gone);
        let kept = fs::read_to_string(folder.path().join(BROWSERS)).unwrap();
        assert!(!kept.contains(&cookie) && !kept.contains(&tab));
        let next = Access::open(folder.path()).unwrap();
        assert!(next.of_browser(&cookie, &tab).is_some() && next.of_browser(&gone, &its_tab).is_none());
        drop(next);
        remove_token(folder.path(), None).unwrap();
        assert!(Access::open(folder.path()).unwrap().of_browser(&cookie, &tab).is_none());
    }
}
