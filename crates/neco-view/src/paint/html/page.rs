//! The only way to write: literals are markup, everything else is text.

use std::io::{self, Write};

use neco_proto::clean::clean;

/// A page that is being written.
#[derive(Debug)]
pub struct Page<W> {
    out: W,
}

impl<W: Write> Page<W> {
    /// A page that goes to `out`.
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes markup: a literal, so that nothing that was read can be one.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn tag(&mut self, markup: &'static str) -> io::Result<()> {
        self.out.write_all(markup.as_bytes())
    }

    /// Writes text, in an element or between the quotes of an attribute: escaped, and without what
    /// steers a terminal.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        let text = clean(text);
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            let (plain, after) = rest.split_at(at);
            self.out.write_all(plain.as_bytes())?;
            let mut characters = after.chars();
            let escaped = match characters.next() {
                Some('&') => "&amp;",
                Some('<') => "&lt;",
                Some('>') => "&gt;",
                Some('"') => "&quot;",
                Some(_) | None => "&#39;",
            };
            self.out.write_all(escaped.as_bytes())?;
            rest = characters.as_str();
        }
        self.out.write_all(rest.as_bytes())
    }

    /// Writes a number.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn number(&mut self, number: u64) -> io::Result<()> {
        write!(self.out, "{number}")
    }

    /// Writes an element: its literal beginning, text, its literal end.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn element(&mut self, begin: &'static str, text: &str, end: &'static str) -> io::Result<()> {
        self.tag(begin)?;
        self.text(text)?;
        self.tag(end)
    }

    /// Gives back what it writes to, with everything handed to it.
    ///
    /// # Errors
    /// When it can't be flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut page = Page::new(Vec::new());
        page.text(text).unwrap();
        String::from_utf8(page.finish().unwrap()).unwrap()
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
