//! Pastes of terminals that do not mark them: many keys at once, with line ends among them.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Nobody types so many keys at once.
const LEAST: usize = 8;

/// The text of keys that came together and were not typed; none when they may have been. `goes_on` when those before
/// them were not.
pub(super) fn pasted(events: &[Event], goes_on: bool) -> Option<String> {
    let text: String = events.iter().map(typed).collect::<Option<_>>()?;
    let inner = text.strip_suffix('\n').unwrap_or(&text);
    let many = events.len() >= LEAST && inner.contains('\n');
    (many || goes_on && events.len() > 1).then_some(text)
}

fn typed(event: &Event) -> Option<char> {
    let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) = event else { return None };
    match code {
        KeyCode::Char(char) if (*modifiers - KeyModifiers::SHIFT).is_empty() => Some(*char),
        // Line ends are Enter, or what Ctrl-J sends.
        KeyCode::Char('j') if *modifiers == KeyModifiers::CONTROL => Some('\n'),
        KeyCode::Enter if modifiers.is_empty() => Some('\n'),
        KeyCode::Tab if modifiers.is_empty() => Some('\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Event> {
        let code = |char| if char == '\n' { KeyCode::Enter } else { KeyCode::Char(char) };
        text.chars().map(|char| Event::Key(KeyEvent::new(code(char), KeyModifiers::NONE))).collect()
    }

    #[test]
    fn lines_that_come_at_once_were_not_typed() {
        assert_eq!(pasted(&keys("![x](y)\n!rm\n"), false).as_deref(), Some("![x](y)\n!rm\n"));
        assert_eq!(pasted(&keys("fix the parser\n"), false), None, "a quick line and its Enter");
        assert_eq!(pasted(&keys("y\ny"), false), None);
        assert_eq!(pasted(&keys("end\n"), true).as_deref(), Some("end\n"));
        let escape = [keys("some words\nx"), vec![Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE))]];
        assert_eq!(pasted(&escape.concat(), false), None);
    }
}
