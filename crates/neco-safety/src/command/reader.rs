//! The second reader: finds the simple commands of a line without the grammar.
//!
//! The grammar is lenient: it can be led to see other words than the shell does, without an error.
//! Nothing is safe, and no rule covers anything, unless this strict reader finds the same words at
//! the same places. It declines what it does not know.

use std::ops::Range;

use super::scan::{self, Announced};

/// The places of the words of one simple command.
pub(crate) type Places = Vec<Range<usize>>;

/// Finds the words of every simple command that stands in the text itself, in order.
pub(crate) fn read(text: &str) -> Option<Vec<Places>> {
    let mut reader = Reader {
        text,
        at: 0,
        commands: Vec::new(),
        current: Vec::new(),
        waiting: Vec::new(),
        cases: 0,
        at_pattern: false,
    };
    reader.list()?;
    Some(reader.commands)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    commands: Vec<Places>,
    current: Places,
    waiting: Vec<Announced>,
    /// How many `case` are open, and whether a pattern of the innermost comes next.
    cases: usize,
    at_pattern: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn list(&mut self) -> Option<()> {
        loop {
            self.blanks();
            let rest = self.rest();
            let Some(first) = rest.bytes().next() else { break };
            match first {
                b'\n' => self.line_end()?,
                b'#' => self.at += rest.find('\n').unwrap_or(rest.len()),
                _ if self.at_pattern => self.pattern()?,
                b';' if rest.starts_with(";;") || rest.starts_with(";&") => self.case_end()?,
                b'(' if rest.starts_with("((") => return None,
                b'(' if !self.current.is_empty() => return None,
                b'&' if rest.starts_with("&>") => self.redirect()?,
                b';' | b'&' | b'|' | b'(' | b')' => {
                    self.command_end();
                    self.at += 1;
                }
                b'<' | b'>' if rest.get(1..2) != Some("(") => self.redirect()?,
                _ => self.word()?,
            }
        }
        self.command_end();
        (self.waiting.is_empty() && self.cases == 0).then_some(())
    }

    /// `;;` and its like: the next pattern of a `case` follows.
    fn case_end(&mut self) -> Option<()> {
        self.command_end();
        self.at_pattern = self.cases > 0;
        let rest = self.rest();
        let end = [";;&", ";;", ";&"].into_iter().find(|end| rest.starts_with(end))?;
        self.at += end.len();
        self.at_pattern.then_some(())
    }

    /// The patterns of a `case` up to `)`, or its end.
    fn pattern(&mut self) -> Option<()> {
        if self.rest().starts_with('(') {
            self.at += 1;
        }
        loop {
            self.blanks();
            match self.rest().bytes().next()? {
                b')' => break,
                b'|' => self.at += 1,
                _ => {
                    let end = scan::word(self.text, self.at)?.end;
                    let written = self.text.get(self.at..end)?;
                    self.at = end;
                    if written == "esac" {
                        self.cases -= 1;
                        self.at_pattern = false;
                        return Some(());
                    }
                }
            }
        }
        self.at += 1;
        self.at_pattern = false;
        Some(())
    }

    /// `case word in`
    fn case(&mut self) -> Option<()> {
        self.blanks();
        self.at = scan::word(self.text, self.at)?.end;
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\n']).len();
        self.at += "in".len() * usize::from(self.rest().starts_with("in"));
        self.rest().starts_with([' ', '\t', '\n']).then_some(())?;
        self.cases += 1;
        self.at_pattern = true;
        Some(())
    }

    /// The head of a function, `name ()`; its body follows as any other command.
    fn function(&mut self) -> Option<()> {
        let rest = self.rest();
        let name = rest.len()
            - rest.trim_start_matches(|letter: char| letter.is_alphanumeric() || "_-:.".contains(letter)).len();
        let behind = rest.get(name..)?;
        let inside = behind.trim_start_matches([' ', '\t']).strip_prefix('(')?;
        let after = inside.trim_start_matches([' ', '\t']).strip_prefix(')')?;
        (name > 0).then_some(())?;
        self.at = self.text.len() - after.len();
        Some(())
    }

    /// Skips blanks and joined lines.
    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            if rest.starts_with([' ', '\t']) {
                self.at += 1;
            } else if rest.starts_with("\\\n") {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    fn command_end(&mut self) {
        if !self.current.is_empty() {
            self.commands.push(std::mem::take(&mut self.current));
        }
    }

    fn line_end(&mut self) -> Option<()> {
        self.command_end();
        self.at += 1;
        for announced in std::mem::take(&mut self.waiting) {
            self.at = scan::body(self.text, self.at, &announced)?.after;
        }
        Some(())
    }

    fn redirect(&mut self) -> Option<()> {
        let rest = self.rest();
        let operators = ["<<<", "&>>", "<<-", "<<", "&>", ">>", ">&", "<&", ">|", ">", "<"];
        // `{name}>` sets a variable.
        let names = self.text.get(..self.at).is_some_and(|before| before.ends_with('}'));
        if rest.starts_with("<>") || names {
            return None;
        }
        let operator = operators.into_iter().find(|operator| rest.starts_with(operator))?;
        self.at += operator.len();
        self.blanks();
        if let "<<" | "<<-" = operator {
            let (announced, end) = scan::announced(self.text, self.at, operator == "<<-")?;
            self.waiting.push(announced);
            self.at = end;
        } else {
            self.at = scan::word(self.text, self.at)?.end;
        }
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest.get(digits..)?.starts_with(['<', '>']) {
            self.at += digits;
            return self.redirect();
        }
        if self.current.is_empty() && self.function().is_some() {
            return Some(());
        }
        let start = self.at;
        let end = scan::word(self.text, start)?.end;
        let written = self.text.get(start..end)?;
        self.at = end;
        if self.current.is_empty() {
            match written {
                "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "{" | "}" | "!" => {
                    return Some(());
                }
                "for" | "select" => return self.loop_head(),
                "case" => return self.case(),
                "esac" if self.cases > 0 => {
                    self.cases -= 1;
                    return Some(());
                }
                "function" => {
                    self.blanks();
                    self.function().or_else(|| {
                        self.at = scan::word(self.text, self.at)?.end;
                        Some(())
                    })?;
                    return Some(());
                }
                "esac" | "coproc" | "in" => return None,
                "[[" => return self.test(start),
                _ if is_assignment(written)? => return Some(()),
                _ => {}
            }
        }
        self.current.push(start..end);
        if written == "]" && self.current.first().is_some_and(|first| self.text.get(first.clone()) == Some("[")) {
            let first = self.current.first()?.start;
            self.current.clear();
            self.current.push(first..end);
        }
        Some(())
    }

    /// `for name in words`, up to its end.
    fn loop_head(&mut self) -> Option<()> {
        self.blanks();
        let end = scan::word(self.text, self.at)?.end;
        scan::is_name(self.text.get(self.at..end)?).then_some(())?;
        self.at = end;
        self.blanks();
        while !self.rest().starts_with([';', '\n']) {
            self.at = scan::word(self.text, self.at)?.end;
            self.blanks();
        }
        Some(())
    }

    /// `[[ … ]]`, inside which operators have another meaning.
    fn test(&mut self, start: usize) -> Option<()> {
        loop {
            self.blanks();
            match self.rest().bytes().next()? {
                b'&' | b'|' | b'<' | b'>' | b'(' | b')' => self.at += 1,
                b'\n' | b';' => return None,
                _ => {
                    let end = scan::word(self.text, self.at)?.end;
                    let closes = self.text.get(self.at..end)? == "]]";
                    self.at = end;
                    if closes {
                        self.current.push(start..end);
                        return Some(());
                    }
                }
            }
        }
    }
}

/// Whether a word at the start of a command sets a variable; none for lists, which are declined.
fn is_assignment(written: &str) -> Option<bool> {
    let Some((name, _)) = written.split_once('=') else { return Some(false) };
    let name = name.strip_suffix('+').unwrap_or(name);
    if name.contains('[') {
        return None;
    }
    Some(scan::is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<Vec<&str>>> {
        let commands = read(line)?;
        Some(
            commands.iter().map(|places| places.iter().filter_map(|place| line.get(place.clone())).collect()).collect(),
        )
    }

    #[test]
    fn commands_are_found_in_compositions() {
        let cases: [(&str, &[&[&str]]); 10] = [
            ("a 'b c' | d && e; f & g\nh", &[&["a", "'b c'"], &["d"], &["e"], &["f"], &["g"], &["h"]]),
            ("A=1 b 2>&1 >/dev/null <x c &>y", &[&["b", "c"]]),
            ("(a; b) | { c; }", &[&["a"], &["b"], &["c"]]),
            ("for x in 1 2; do a $x; done > y", &[&["a", "$x"]]),
            ("if a; then b; elif ! c; then d; else e; fi", &[&["a"], &["b"], &["c"], &["d"], &["e"]]),
            ("cat <<E | b\ntext ' here\nE\nc", &[&["cat"], &["b"], &["c"]]),
            ("f() { a; }; function g { b; }; h () ( c )", &[&["a"], &["b"], &["c"]]),
            ("case $x in a|b) c d;; (*) e ;; esac; f", &[&["c", "d"], &["e"], &["f"]]),
            ("a # b ; c\nd#e", &[&["a"], &["d#e"]]),
            ("[ -f x ] && [[ a < b && (c) ]] && d \\\n e", &[&["[ -f x ]"], &["[[ a < b && (c) ]]"], &["d", "e"]]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn what_it_does_not_know_it_declines() {
        for line in [
            "a <> b",
            "ls {PATH}<x",
            "((a))",
            "x=(1 2)",
            "case a in b) c",
            "a;;b",
            "coproc a",
            "a 'b",
            "cat <<E\nx",
            "a[1]=2",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
