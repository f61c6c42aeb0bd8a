//! Advice: a model that is asked for a change and only describes it is told once to make it.

use neco_proto::Mode;

use super::guard::{Guard, Hint, Scene, Seen};

/// Words that ask for a change. In languages without spaces they stand anywhere.
const CHANGES: &[&str] = &[
    "add",
    "append",
    "build",
    "change",
    "convert",
    "create",
    "delete",
    "edit",
    "extract",
    "fix",
    "generate",
    "implement",
    "insert",
    "install",
    "make",
    "migrate",
    "move",
    "port",
    "refactor",
    "remove",
    "rename",
    "replace",
    "rewrite",
    "set",
    "split",
    "update",
    "write",
];
const CHANGES_ANYWHERE: &[&str] = &[
    "创建",
    "新建",
    "添加",
    "增加",
    "修改",
    "修复",
    "改成",
    "改名",
    "删除",
    "重构",
    "重命名",
    "替换",
    "更新",
    "实现",
    "编写",
];

/// Words that a question begins with: who asks it wants to be told something.
const ASKS: &[&str] = &[
    "are",
    "compare",
    "describe",
    "did",
    "do",
    "does",
    "explain",
    "has",
    "have",
    "how",
    "is",
    "list",
    "review",
    "should",
    "show",
    "summarise",
    "summarize",
    "tell",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "would",
];
const ASKS_ANYWHERE: &[&str] = &["如何", "怎么", "怎样", "为什么", "是什么", "解释", "吗"];

/// What advice says.
const ADVISES: &[&str] = &[
    "```",
    "you can ",
    "you could ",
    "you should ",
    "you need to ",
    "you'll need ",
    "you may ",
    "here's how",
    "here is how",
    "here are the steps",
    "follow these steps",
    "to do this",
    "你可以",
    "您可以",
    "你需要",
    "您需要",
    "步骤如下",
    "按照以下",
];

/// What may stand before the verb of an order.
const LEADS: &[&str] = &["and", "instead,", "now", "please", "so", "then"];

/// Words of a request that its verb stands among.
const BEGINNING: usize = 8;

/// What follows these is a thing, whatever else the word means.
const ARTICLES: &[&str] = &["a", "an", "my", "of", "our", "that", "the", "this", "your"];

/// What stands around a word.
const OPENS: [char; 4] = ['(', '"', '\'', '`'];
const CLOSES: [char; 10] = ['.', ',', ';', ':', '!', '?', ')', '"', '\'', '`'];

/// Words that only look like files.
const NOT_PATHS: &[&str] = &["and/or", "e.g", "i.e"];

/// Objects once to each request's end.
#[derive(Default)]
pub(super) struct Advice {
    /// Whether the request wants something changed.
    wanted: bool,
    /// Whether anything was done about it.
    done: bool,
    /// Whether what was said last is advice.
    advised: bool,
    objected: bool,
}

/// Whether a request wants something changed, and not to be told something.
fn wants_a_change(request: &str) -> bool {
    let text = request.trim().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let words: Vec<&str> =
        text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).take(BEGINNING).collect();
    let asks = words.first().is_some_and(|word| ASKS.contains(word)) || has(ASKS_ANYWHERE);
    let is_verb = |at: usize, word: &&str| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        CHANGES.contains(word) && !before.is_some_and(|before| ARTICLES.contains(before))
    };
    let begins = words.iter().enumerate().any(|(at, word)| is_verb(at, word)) || has(CHANGES_ANYWHERE);
    let is_wanted = |sentence: &str| is_order(sentence) && (!asks || names_a_path(sentence));
    !asks && begins || sentences(&prose(&text)).skip(1).any(is_wanted)
}

/// What is said, up to code. The lines of a numbered list are what is spoken about, not orders.
fn prose(text: &str) -> String {
    let prose = text.split("```").next().unwrap_or_default();
    prose.lines().map(|line| if is_numbered(line) { "" } else { line }).collect::<Vec<_>>().join("\n")
}

fn is_numbered(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with(". ") || rest.starts_with(") "))
}

/// Splits where a word ends with punctuation, and at empty lines: `dict.update` is one word, and a line may be
/// broken anywhere.
fn sentences(prose: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    prose.split(move |char: char| {
        let ends = char.is_whitespace() && matches!(before, '.' | '!' | '?' | ';') || (before, char) == ('\n', '\n');
        before = char;
        ends
    })
}

/// Whether some word of a sentence looks like a file. Who asks something and then names one wants it written there.
fn names_a_path(sentence: &str) -> bool {
    sentence.split_whitespace().any(|word| {
        let word = word.trim_start_matches(OPENS).trim_end_matches(CLOSES);
        let has_extension = word.rsplit_once('.').is_some_and(|(_, end)| end.starts_with(char::is_alphabetic));
        !NOT_PATHS.contains(&word) && (has_extension || word.contains('/'))
    })
}

/// Whether a sentence begins with the verb of an order. `make: …` is what a program printed.
fn is_order(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace().skip_while(|word| LEADS.contains(word));
    words.next().is_some_and(|word| CHANGES.contains(&word)) && words.next().is_some()
}

/// Whether an answer tells how something is done; one that asks back wants to know something first.
fn advises(answer: &str) -> bool {
    let text = answer.trim().to_lowercase();
    !text.ends_with(['?', '？']) && ADVISES.iter().any(|words| text.contains(words))
}

impl Guard for Advice {
    fn watch(&mut self, seen: &Seen<'_>, scene: &Scene) -> Option<Hint> {
        match seen {
            Seen::Request(text) => *self = Self { wanted: wants_a_change(text), ..Self::default() },
            Seen::Words(text) => self.advised = advises(text),
            Seen::Call(_) => self.done = true,
            Seen::End(_) => {
                let only_talks = scene.mode == Mode::Agent && self.wanted && !self.done && self.advised;
                if only_talks && !std::mem::replace(&mut self.objected, true) {
                    return Some(Hint::Hold {
                        text: "The user asks for a change, and your answer only describes it: nothing was changed. Do it \
                               now with your tools, one call at a time. If you must know something first, ask it in one \
                               sentence; if nothing is to be changed, say why. You are told this once."
                            .to_owned(),
                        notice: "The agent only described the change, and was told to make it",
                    });
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Progress;

    const SCENE: Scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: true, can_plan: true };
    const CODE: &str = "Open the file and write:\n```js\nconsole.log('Hello')\n```";

    fn held(mode: Mode, request: &str, answer: &str) -> bool {
        let (mut guard, scene) = (Advice::default(), Scene { mode, ..SCENE });
        guard.watch(&Seen::Request(request), &scene);
        guard.watch(&Seen::Words(answer), &scene);
        guard.watch(&Seen::End(&Progress::default()), &scene).is_some()
    }

    #[test]
    fn advice_is_held_where_a_change_was_asked_for() {
        for (request, answer, expected) in [
            ("create hello.js that prints Hello", CODE, true),
            ("Please add a test for the parser", "You can add one like this: …", true),
            ("can you rename foo to bar in lib.rs?", CODE, true),
            ("run-all.sh ends with 0 although a check has failed. Make it end with 1.", CODE, true),
            ("Which room is the printer in? Write the number to answer.txt.", CODE, true),
            ("The program prints the wrong sum. Fix it in sum.py.", CODE, true),
            ("For some inputs the program prints the wrong sum at the end.\n\nFix it.", CODE, true),
            ("把 foo 重命名为 bar", "你可以用编辑器替换。", true),
            ("how do I create a file in Rust?", CODE, false),
            ("如何创建文件", CODE, false),
            ("what does parse() change?", CODE, false),
            ("explain the build", "You can run make.", false),
            ("fix the bug", "It is fixed already: the test passes.", false),
            ("fix the bug", "You could mean two things. Which one?", false),
            ("Explain how the parser works. Don't change anything.", CODE, false),
            ("Why do I get this?\nmake: *** [all] Error 2\nerror: failed to build wheel", CODE, false),
            ("Why does the build fail? The change of yesterday is in src.", CODE, false),
            ("What does dict.update do?", CODE, false),
            ("How do I use list.insert in Python?", CODE, false),
            ("How does rebase work? Make it short.", CODE, false),
            ("How does rebase work? Make it short, e.g. in two sentences and/or a list.", CODE, false),
            ("Which is better?\n1. add a cache\n2. split the table", CODE, false),
            ("Which is better?\n1. add a cache in src/cache.rs\n2) split table.sql", CODE, false),
            ("What do these commits do?\nfix typo in readme\nadd tests\nremove the cache", CODE, false),
            ("hello", CODE, false),
            ("A short summary of the build failure", CODE, false),
        ] {
            assert_eq!(held(Mode::Agent, request, answer), expected, "{request:?} {answer:?}");
        }
        assert!(!held(Mode::Ask, "create hello.js", CODE) && !held(Mode::Plan, "create hello.js", CODE));
    }

    #[test]
    fn it_objects_once_and_never_after_a_call() {
        let mut guard = Advice::default();
        guard.watch(&Seen::Request("create hello.js"), &SCENE);
        guard.watch(&Seen::Words(CODE), &SCENE);
        assert!(guard.watch(&Seen::End(&Progress::default()), &SCENE).is_some());
        guard.watch(&Seen::Words(CODE), &SCENE);
        assert!(guard.watch(&Seen::End(&Progress::default()), &SCENE).is_none(), "once");
        guard.watch(&Seen::Request("create hello.js"), &SCENE);
        guard.done = true;
        guard.watch(&Seen::Words(CODE), &SCENE);
        assert!(guard.watch(&Seen::End(&Progress::default()), &SCENE).is_none(), "something was done");
    }
}
