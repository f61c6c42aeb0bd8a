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

    /// The page as text.
    pub fn into_text(self) -> String {
        self.0
    }

    fn row(&mut self, cells: &[&str]) {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        self.0.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_never_breaks_its_row() {
        let mut page = Markdown::titled("T");
        page.paragraph("");
        page.table(["a", "b"], &[]);
        page.table(["a", "b"], &[["x|y".to_owned(), "two\nlines".to_owned()]]);
        assert_eq!(page.into_text(), "# T\n\n| a | b |\n| --- | --- |\n| x\\|y | two lines |\n");
    }
}
