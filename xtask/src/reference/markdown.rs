//! Writing Markdown: headings, paragraphs, tables.

/// A page that grows.
pub struct Markdown(String);

impl Markdown {
    /// A page with its title.
    pub fn titled(title: &str) -> Self {
        Self(format!("# {title}\n"))
    }

    /// A heading of a level below the title's.
    pub fn heading(&mut self, level: usize, text: &str) {
        self.paragraph(&format!("{} {text}", "#".repeat(level)));
    }

    /// A paragraph; nothing when there is nothing to say.
    pub fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.push_str(&format!("\n{text}\n"));
        }
    }

    /// A table; nothing without rows.
    pub fn table<const N: usize>(&mut self, head: [&str; N], rows: &[[String; N]]) {
        if rows.is_empty() {
            return;
        }
        self.0.push('\n');
        self.row(&head);
        self.row(&["---"; N]);
        for row in rows {
            self.row(&row.each_ref().map(String::as_str));
        }
    }

    /// The page as text; what links to code in a doc comment has the name that it has on the wire.
    pub fn into_text(self) -> String {
        let mut parts = self.0.split("[`");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once("`]").filter(|(name, rest)| !name.contains('`') && !rest.starts_with('(')) {
                Some((name, rest)) => text.push_str(&format!("`{}`{rest}", on_the_wire(name))),
                None => text.push_str(&format!("[`{part}")),
            }
        }
        text
    }

    fn row(&mut self, cells: &[&str]) {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        self.0.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

/// `Command::StopAll` is `stop_all`.
fn on_the_wire(path: &str) -> String {
    let name = path.rsplit("::").next().unwrap_or(path);
    let mut text = String::new();
    for char in name.chars() {
        if char.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(char.to_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_code_become_those_of_the_wire() {
        let mut page = Markdown::titled("T");
        page.paragraph("[`Command::StopAll`] and [`b`](c.md), [`Question`]");
        assert_eq!(page.into_text(), "# T\n\n`stop_all` and [`b`](c.md), `question`\n");
    }

    #[test]
    fn a_cell_never_breaks_its_row() {
        let mut page = Markdown::titled("T");
        page.paragraph("");
        page.table(["a", "b"], &[]);
        page.table(["a", "b"], &[["x|y".to_owned(), "two\nlines".to_owned()]]);
        assert_eq!(page.into_text(), "# T\n\n| a | b |\n| --- | --- |\n| x\\|y | two lines |\n");
    }
}
