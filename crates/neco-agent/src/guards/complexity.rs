//! Complexity: how big a request looks, before anything is done about it.

use neco_proto::Mode;

use super::guard::{Guard, Hint, Scene, Seen};

/// How big a request looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complexity {
    /// One to three calls.
    Simple,
    /// A handful of steps.
    Moderate,
    /// Work in phases.
    Complex,
}

/// A guess at how big a request is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// How big.
    pub complexity: Complexity,
    /// From 0 to 1: how much speaks for it.
    pub confidence: f64,
}

/// Below this nothing is said.
const SURE_ENOUGH: f64 = 0.55;

/// Words that speak for a size, and how much.
const SIMPLE: &[(&str, u32)] = &[
    ("typo", 3),
    ("rename", 2),
    ("what is", 3),
    ("what does", 3),
    ("explain", 2),
    ("show me", 2),
    ("where is", 3),
    ("why does", 1),
    ("print", 1),
    ("bump", 2),
    ("comment", 1),
    ("one line", 3),
    ("is there", 2),
    ("list the", 2),
    ("是什么", 3),
    ("解释", 2),
    ("显示", 1),
    ("列出", 2),
    ("在哪", 3),
    ("改名", 2),
    ("重命名", 2),
    ("拼写", 3),
    ("注释", 1),
    ("版本号", 2),
    ("一行", 2),
];
const MODERATE: &[(&str, u32)] = &[
    ("add ", 2),
    ("implement", 2),
    ("feature", 2),
    ("fix", 2),
    ("bug", 1),
    ("test", 1),
    ("support", 2),
    ("update", 1),
    ("endpoint", 1),
    ("function", 1),
    ("option", 1),
    ("failing", 1),
    ("添加", 2),
    ("增加", 2),
    ("实现", 2),
    ("修复", 2),
    ("功能", 2),
    ("支持", 2),
    ("测试", 1),
    ("接口", 1),
    ("函数", 1),
];
const COMPLEX: &[(&str, u32)] = &[
    ("refactor", 3),
    ("redesign", 4),
    ("architecture", 4),
    ("migrate", 4),
    ("migration", 3),
    ("rewrite", 4),
    ("from scratch", 4),
    ("whole project", 3),
    ("entire", 2),
    ("across the", 3),
    ("all modules", 3),
    ("every file", 3),
    ("end-to-end", 2),
    ("end to end", 2),
    ("integrate", 2),
    ("multi-", 1),
    ("phases", 3),
    ("design", 2),
    ("port ", 2),
    ("system", 1),
    ("重构", 3),
    ("架构", 4),
    ("迁移", 4),
    ("重写", 4),
    ("从零", 4),
    ("整个", 3),
    ("所有模块", 3),
    ("全部文件", 3),
    ("设计", 2),
    ("集成", 2),
    ("系统", 1),
    ("多个文件", 2),
    ("分阶段", 3),
];

/// How big a request looks, by its words, its length, the files it names and the things it lists.
pub fn judge(request: &str) -> Judgement {
    let text = request.to_lowercase();
    let points = |cues: &[(&str, u32)]| -> u32 {
        cues.iter().filter(|(cue, _)| text.contains(cue)).map(|(_, points)| points).sum()
    };
    let (words, files, listed) = (length(&text), files(&text), listed(&text));
    let cues = points(SIMPLE) + points(MODERATE) + points(COMPLEX);
    let simple = points(SIMPLE) + u32::from(words <= 12) + u32::from(words <= 6);
    let moderate =
        points(MODERATE) + u32::from((13..=60).contains(&words)) + if (2..=3).contains(&files) { 2 } else { 0 };
    let complex = points(COMPLEX)
        + u32::from(words > 60)
        + if words > 150 { 2 } else { 0 }
        + if files > 3 { 3 } else { 0 }
        + if listed > 2 { 2 } else { 0 };
    let all = simple + moderate + complex;
    // Of two that weigh the same the bigger one is the safer guess.
    let (points, complexity) =
        [(simple, Complexity::Simple), (moderate, Complexity::Moderate), (complex, Complexity::Complex)]
            .into_iter()
            .max_by_key(|(points, _)| *points)
            .unwrap_or((0, Complexity::Moderate));
    // Little that all points one way is still little, and length alone says nothing.
    let says_nothing = cues == 0 && files == 0 && listed == 0;
    let confidence = if says_nothing { 0.0 } else { f64::from(points) / f64::from(all + 1) };
    Judgement { complexity, confidence }
}

/// Words; in scripts without spaces two characters count as one.
fn length(text: &str) -> usize {
    let wide = text.chars().filter(|char| is_wide(*char)).count();
    let words = text.split(|char: char| char.is_whitespace() || is_wide(char)).filter(|word| !word.is_empty()).count();
    words + wide / 2
}

fn is_wide(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// How many files are named: words with an ending, or with a slash inside.
fn files(text: &str) -> usize {
    let mut named: Vec<&str> = text
        .split(|char: char| char.is_whitespace() || is_wide(char) || "`'\"(),;，。、".contains(char))
        .filter(|word| !word.contains("://"))
        .map(|word| word.split(':').next().unwrap_or_default().trim_matches('.'))
        .filter(|word| is_file(word))
        .collect();
    named.sort_unstable();
    named.dedup();
    named.len()
}

fn is_file(word: &str) -> bool {
    let ending = word.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.chars().all(|char| char.is_ascii_alphanumeric())
            && ending.chars().any(|char| char.is_ascii_alphabetic())
    });
    ending || word.trim_matches('/').contains('/')
}

/// How many things are listed, a line each.
fn listed(text: &str) -> usize {
    let item = |line: &&str| {
        let line = line.trim_start();
        let numbered = line.trim_start_matches(|char: char| char.is_ascii_digit());
        line.starts_with("- ")
            || line.starts_with("* ")
            || (numbered.len() < line.len() && numbered.starts_with(['.', ')', '、']))
    };
    text.lines().filter(item).count()
}

/// Says how to go about a request of that size.
pub(super) struct ComplexityGuard;

impl Guard for ComplexityGuard {
    fn watch(&mut self, seen: &Seen<'_>, scene: &Scene) -> Option<Hint> {
        let Seen::Request(text) = seen else { return None };
        match scene.mode {
            Mode::Agent | Mode::Debug => {}
            Mode::Plan | Mode::Ask => return None,
        }
        let judgement = judge(text);
        (judgement.confidence >= SURE_ENOUGH).then(|| Hint::Tell(strategy(judgement, scene)))
    }
}

fn strategy(Judgement { complexity, confidence }: Judgement, scene: &Scene) -> String {
    let sure = (confidence * 100.0).round();
    let list = if scene.has_todos { " with todo_write" } else { "" };
    match complexity {
        Complexity::Simple => {
            format!("This looks simple ({sure:.0}% sure): act now, in one to three calls, without a list.")
        }
        Complexity::Moderate => {
            format!("This looks moderate ({sure:.0}% sure): make a list of three to five steps{list} and work it off.")
        }
        Complexity::Complex => format!(
            "This looks complex ({sure:.0}% sure): look around first, plan in phases{list}, and check each phase before \
             the next one."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Complexity::{Complex, Moderate, Simple};

    #[test]
    fn requests_in_two_languages_are_classed() {
        for (request, expected) in [
            ("fix the typo in README.md", Simple),
            ("what does parse() do?", Simple),
            ("rename main to run", Simple),
            ("这个函数是什么？", Simple),
            ("列出所有测试", Simple),
            ("Add a --verbose option to the export command and a test for it, please, in src/export.rs", Moderate),
            (
                "implement support for gzip in the fetcher so that responses are decoded when the server says so",
                Moderate,
            ),
            ("给 src/a.rs 添加一个新功能，支持读取配置，并且增加测试", Moderate),
            (
                "refactor the storage layer across the whole project and migrate all modules to the new architecture",
                Complex,
            ),
            ("把整个项目重构成新的架构，并迁移所有模块", Complex),
            ("change a.rs, b.rs, c.rs and d.rs so that they share one architecture", Complex),
            ("do these:\n- migrate the users\n- migrate the orders\n- rewrite the report", Complex),
        ] {
            let judgement = judge(request);
            assert_eq!(judgement.complexity, expected, "{request}: {judgement:?}");
            assert!((0.0..=1.0).contains(&judgement.confidence));
        }
    }

    #[test]
    fn what_says_nothing_about_its_size_is_left_alone() {
        let scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: true, can_plan: true };
        let said = |request: &str, scene: &Scene| ComplexityGuard.watch(&Seen::Request(request), scene);
        assert_eq!(said("continue", &scene), None);
        assert!(
            matches!(said("fix the typo in README.md", &scene), Some(Hint::Tell(text)) if text.contains("act now"))
        );
        for mode in [Mode::Ask, Mode::Plan] {
            assert_eq!(said("fix the typo in README.md", &Scene { mode, ..scene }), None, "off in {mode}");
        }
    }

    #[test]
    fn files_are_counted_once_and_addresses_are_none() {
        for (text, count) in [
            ("src/a.rs and `src/a.rs`, b.py", 2),
            ("see https://example.com/a.html", 0),
            ("version 1.2.3 is out. do it now.", 0),
            ("在 src/main.rs，lib.rs 里", 2),
        ] {
            assert_eq!(files(text), count, "{text}");
        }
    }
}
