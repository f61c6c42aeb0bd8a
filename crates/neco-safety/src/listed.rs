//! Lists and tables of names, written as texts: a list has one name after the other, a table has a row a line.

/// Whether a list has a name. What is empty, or has a blank in it, is in none.
pub fn is_listed(name: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|own| own == name)
}

/// The fields of the row that has a name among its first, which holds names with commas between them. Each field is a
/// word, `-` where there is nothing to say, but for the last, which is the rest of the row.
pub(crate) fn row<const FIELDS: usize>(table: &'static str, name: &str) -> Option<[&'static str; FIELDS]> {
    let is_named = |names: &str| !name.is_empty() && names.split(',').any(|own| own == name);
    let mut rows = table.lines().map(|row| row.trim_start().splitn(FIELDS + 1, ' '));
    let mut found = rows.find_map(|mut row| row.next().is_some_and(is_named).then_some(row))?;
    Some(std::array::from_fn(|_| found.next().filter(|field| *field != "-").unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_by_each_of_its_names() {
        let table = "a,b x - one \
             two\n    c - y\n    d z -";
        assert_eq!(row(table, "b"), Some(["x", "", "one two"]));
        assert_eq!(row(table, "c"), Some(["", "y", ""]));
        assert_eq!(row(table, "d"), Some(["z", "", ""]));
        for name in ["", "-", "a,b", "x", "y", "one"] {
            assert_eq!(row::<3>(table, name), None, "{name}");
        }
    }

    #[test]
    fn a_name_is_listed_whole() {
        assert!(is_listed("b", "a b") && !is_listed("", "a b") && !is_listed("a b", "a b") && !is_listed("c", "a b"));
    }
}
