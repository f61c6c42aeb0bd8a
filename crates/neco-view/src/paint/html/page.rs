//! The only way to write: literals are markup, everything else is text.

use neco_proto::clean::clean;

/// A piece of a page that is being written.
#[derive(Debug, Default)]
pub struct Page {
    out: String,
}

impl Page {
    /// Writes markup: a literal, so that nothing that was read can be one.
    pub fn tag(&mut self, markup: &'static str) -> &mut Self {
        self.out.push_str(markup);
        self
    }

    /// Writes text, in an element or between the quotes of an attribute: escaped, and without what
    /// steers a terminal.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for character in clean(text).chars() {
            match character {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                _ => self.out.push(character),
            }
        }
        self
    }

    /// Writes an element: its literal beginning, text, its literal end.
    pub fn element(&mut self, begin: &'static str, text: &str, end: &'static str) -> &mut Self {
        self.tag(begin).text(text).tag(end)
    }

    /// Gives what was written, and begins anew.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        Page::default().text(text).take()
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(written("<b a=\"1\" c='2'>&amp;"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
        assert_eq!(written("\u{1b}[31mred\u{1b}[0m\u{202e}"), "red");
    }

    proptest! {
        #[test]
        fn no_text_can_end_an_element_or_an_attribute(text: String) {
            prop_assert!(!written(&text).contains(['<', '>', '"', '\'']));
        }
    }
}
