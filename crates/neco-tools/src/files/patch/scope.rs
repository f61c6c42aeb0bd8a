//! What stands below a line: the block that it opens, by indentation.

use std::ops::Range;

use crate::files::matching::Lines;

/// The stretches of lines that stand below these lines, one inside the other; without any, all lines.
///
/// # Errors
/// The first of them that is nowhere.
pub fn below(content: &[u8], lines: &Lines, hints: &[String]) -> Result<Vec<Range<usize>>, String> {
    let whole = 0..lines.len();
    let mut scopes = vec![whole];
    for hint in hints {
        let inner: Vec<Range<usize>> = heads(content, lines, hint)
            .into_iter()
            .filter(|head| scopes.iter().any(|scope| scope.contains(head)))
            .map(|head| scope_of(content, lines, head))
            .collect();
        if inner.is_empty() {
            return Err(hint.clone());
        }
        scopes = inner;
    }
    Ok(scopes)
}

/// The stretches that lie in no other, in order. They never overlap otherwise: blocks lie in one another.
pub fn outermost(mut scopes: Vec<Range<usize>>) -> Vec<Range<usize>> {
    scopes.sort_by_key(|scope| (scope.start, std::cmp::Reverse(scope.end)));
    let mut kept: Vec<Range<usize>> = Vec::with_capacity(scopes.len());
    for scope in scopes {
        if kept.last().is_none_or(|last| scope.end > last.end) {
            kept.push(scope);
        }
    }
    kept
}

/// The lines that say this, but for white space around it; if there are none, those that have it in them.
fn heads(content: &[u8], lines: &Lines, hint: &str) -> Vec<usize> {
    let hint = hint.trim().as_bytes();
    let find = |fits: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
        lines.iter().enumerate().filter(|(_, line)| fits(line.text(content).trim_ascii())).map(|(at, _)| at).collect()
    };
    let whole = find(&|line| line == hint);
    if whole.is_empty() { find(&|line| memchr::memmem::find(line, hint).is_some()) } else { whole }
}

/// A line that opens a block stands above what is in the block, any other above all that follows. It
/// belongs to what it stands above: patches repeat it as often as not.
fn scope_of(content: &[u8], lines: &Lines, head: usize) -> Range<usize> {
    let text = |at: usize| lines.get(at..at + 1).first().map_or(&b""[..], |line| line.text(content));
    let depth = |at: usize| text(at).len() - text(at).trim_ascii_start().len();
    let is_blank = |at: usize| text(at).trim_ascii().is_empty();
    let goes_on = |at: usize| {
        let first = text(at).trim_ascii_start().first();
        is_blank(at) || depth(at) > depth(head) || first.is_some_and(|byte| b"{}()[]#".contains(byte))
    };
    let next = (head + 1..lines.len())
        .find(|at| !is_blank(*at) && !b"{(".contains(text(*at).trim_ascii_start().first().unwrap_or(&b' ')));
    if next.is_none_or(|next| depth(next) <= depth(head)) {
        return head..lines.len();
    }
    head..(head + 1..lines.len()).find(|at| !goes_on(*at)).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below_of(content: &str, hints: &[&str]) -> Result<Vec<Range<usize>>, String> {
        let hints: Vec<String> = hints.iter().map(|hint| (*hint).to_owned()).collect();
        below(content.as_bytes(), &Lines::of(content.as_bytes()), &hints)
    }

    fn one(range: Range<usize>) -> Vec<Range<usize>> {
        Vec::from([range])
    }

    #[test]
    fn blocks_end_where_their_indentation_does() {
        let python = "class A:\n    def f(\n        self,\n    ):\n        x\n\n    def g(self):\n        x\n\nclass B:\n    def f(self):\n        x\n";
        assert_eq!(below_of(python, &["class A:"]), Ok(one(0..9)));
        assert_eq!(below_of(python, &["class A:", "def g(self):"]), Ok(one(6..9)));
        assert_eq!(below_of(python, &["class A:", "def f("]), Ok(one(1..6)));
        assert_eq!(below_of(python, &["class B"]), Ok(one(9..12)));
        assert_eq!(below_of(python, &["class C"]), Err("class C".to_owned()));
        assert_eq!(below_of(python, &["class B:", "def g(self):"]), Err("def g(self):".to_owned()));
        let c = "int f(void)\n{\n    x;\n#ifdef A\n    y;\n#endif\n}\n\nint g(void)\n{\n    x;\n}\n";
        assert_eq!(below_of(c, &["int f(void)"]), Ok(one(0..8)));
        assert_eq!(below_of("import a\nimport b\nx\n", &["import a"]), Ok(one(0..3)), "it opens nothing");
        assert_eq!(below_of("a\n", &[]), Ok(one(0..1)));
    }
}
