//! How often edits with drift find their place, and how often a wrong one: never.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::corpus::{Case, cases};
use crate::desk::Desk;

/// What came of the cases of one kind.
#[derive(Default)]
struct Score {
    cases: usize,
    right: usize,
    /// Changed, but not as it should be: the wrong place, or the wrong text.
    wrong: Vec<String>,
}

/// Whether a case is for edits alone: a patch has no place for what stands around a text, and means the line endings
/// that it has.
fn is_for_edits(case: &Case) -> bool {
    case.kind.starts_with("around: ") || case.kind.starts_with("only the new text")
}

async fn measure(
    name: &str,
    cases: &[Case],
    arguments: impl Fn(&str, &Case) -> Value,
) -> BTreeMap<&'static str, Score> {
    let desk = Desk::new();
    let mut scores: BTreeMap<&'static str, Score> = BTreeMap::new();
    for (at, case) in cases.iter().enumerate() {
        let path = format!("{at}-{}", case.file);
        desk.put(&path, &case.content);
        desk.read(&path).await;
        let result = desk.call(name, arguments(&path, case)).await;
        let after = String::from_utf8(desk.bytes(&path)).unwrap();
        let score = scores.entry(case.kind).or_default();
        score.cases += 1;
        score.right += usize::from(case.expected.as_ref().map_or(result.is_err(), |expected| *expected == after));
        let allowed = after == case.content || case.expected.as_ref() == Some(&after);
        if !allowed {
            score.wrong.push(format!("{path}:\n{}\n→\n{after}", case.old));
        }
    }
    scores
}

fn report(name: &str, scores: &BTreeMap<&'static str, Score>) -> (f64, usize) {
    println!("{name}: kind, cases, as expected, wrong place");
    let (mut cases, mut right, mut wrong) = (0, 0, 0);
    for (kind, score) in scores {
        println!("  {kind:38} {:4} {:4} {:4}", score.cases, score.right, score.wrong.len());
        for text in &score.wrong {
            println!("{text}");
        }
        (cases, right, wrong) = (cases + score.cases, right + score.right, wrong + score.wrong.len());
    }
    let rate = right as f64 / cases as f64;
    println!("  {cases} edits: {:.1} % as expected, {wrong} in a wrong place", rate * 100.0);
    assert!(cases >= 300, "{cases} edits are too few to say anything");
    (rate, wrong)
}

#[tokio::test]
async fn edits_with_drift_find_their_place_and_never_a_wrong_one() {
    let edit = |path: &str, case: &Case| json!({"path": path, "old_string": case.old, "new_string": case.new});
    let (rate, wrong) = report("edit_file", &measure("edit_file", &cases(), edit).await);
    assert_eq!(wrong, 0, "edits in a wrong place");
    assert!(rate >= 0.97, "only {rate:.3} of all edits came out as expected");
}

#[tokio::test]
async fn patches_with_drift_find_their_place_and_never_a_wrong_one() {
    let patch = |path: &str, case: &Case| {
        let signed = |sign: char, text: &str| -> String {
            text.strip_suffix('\n').unwrap_or(text).split('\n').map(|line| format!("{sign}{line}\n")).collect()
        };
        let hunk = signed('-', &case.old) + &signed('+', &case.new);
        json!({ "patch": format!("*** Begin Patch\n*** Update File: {path}\n@@\n{hunk}*** End Patch\n") })
    };
    let cases: Vec<Case> = cases().into_iter().filter(|case| !is_for_edits(case)).collect();
    let (rate, wrong) = report("apply_patch", &measure("apply_patch", &cases, patch).await);
    assert_eq!(wrong, 0, "patches in a wrong place");
    assert!(rate >= 0.97, "only {rate:.3} of all patches came out as expected");
}
