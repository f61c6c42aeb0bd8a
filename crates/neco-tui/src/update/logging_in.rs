//! `/login`: a provider is chosen, its key is typed unseen, and kept when the provider takes it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::app::AppError;
use neco_view::slash::{Outside, Slash};

use super::effect::Effect;
use super::picking::{self, CHOOSE};
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, SecretEntry, WindowState};
use crate::host::ProviderEntry;
use crate::transcript::block::Tone;

/// Begins: with a list where no provider is named.
pub(super) fn begin(window: &mut WindowState, provider: &str) -> Vec<Effect> {
    match provider {
        "" => picking::ask_for_list(window, Effect::Providers),
        provider => picking::ask_for_list(window, Effect::LookForKey(provider.to_owned())),
    }
}

/// The providers that take a key.
pub(super) fn pick_provider(window: &mut WindowState, providers: Vec<ProviderEntry>) {
    if !picking::is_waited_for(window) {
        return;
    }
    let entry = |provider: ProviderEntry| {
        let begin = Slash::Outside(Outside::Login, provider.name.clone());
        Entry::new(&provider.name, &provider.about, Picked::Slash(Box::new(begin)))
    };
    let entries = providers.into_iter().map(entry).collect();
    window.picker = Some(Picker::new("Whose key?", CHOOSE, Letters::Filter, entries));
}

/// A key of this provider can be kept: it is asked for, unless the person writes something else by now.
pub(super) fn ask(window: &mut WindowState, provider: String) {
    if !picking::is_waited_for(window) {
        return;
    }
    window.picker = None;
    window.secret = Some(SecretEntry::new(provider));
}

/// The key was kept, or it is asked for once more.
pub(super) fn kept(window: &mut WindowState, provider: String, kept: Result<String, AppError>) {
    window.word = None;
    match kept {
        Ok(words) => window.transcript.say(Tone::Good, words),
        Err(error) => {
            window.warn(error.words());
            ask(window, provider);
        }
    }
}

/// A key was pressed while one is typed.
pub(super) fn secret_key(window: &mut WindowState, key: KeyEvent) -> Vec<Effect> {
    let Some(secret) = &mut window.secret else { return Vec::new() };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Esc => return leave(window),
        KeyCode::Char('c' | 'd') if control => return leave(window),
        KeyCode::Char('u' | 'w') if control => secret.clear(),
        KeyCode::Char('h') if control => secret.pop(),
        KeyCode::Backspace => secret.pop(),
        KeyCode::Char(char) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
            secret.push(char.encode_utf8(&mut [0; 4]));
        }
        KeyCode::Enter => return keep(window),
        _ => {}
    }
    Vec::new()
}

fn keep(window: &mut WindowState) -> Vec<Effect> {
    let Some(key) = window.secret.as_ref().and_then(SecretEntry::key) else {
        return window.only_tell("No key yet: paste it, or Esc leaves it");
    };
    let Some(SecretEntry { provider, .. }) = window.secret.take() else { return Vec::new() };
    window.tell(format!("Asking {provider} whether it takes the key …"));
    picking::ask_for_list(window, Effect::KeepKey(provider, key))
}

fn leave(window: &mut WindowState) -> Vec<Effect> {
    window.secret = None;
    window.only_tell("No key was saved")
}
