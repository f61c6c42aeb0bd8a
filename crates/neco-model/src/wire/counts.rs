//! What a vendor says of tokens and money, as far as it can be believed.

use neco_proto::Usage;
use serde_json::Value;

/// No call costs more, in US dollars.
const MOST_DOLLARS: f64 = 1_000_000.0;

/// What is known of an answer's usage after more was said of it. Servers in between fill what they do not know with
/// zeros, so a zero takes nothing back.
pub(super) fn updated(known: Option<Usage>, said: Usage) -> Usage {
    let Some(known) = known else { return said };
    let later = |known: u64, said: u64| if said > 0 { said } else { known };
    Usage {
        input: later(known.input, said.input),
        output: later(known.output, said.output),
        cache_read: later(known.cache_read, said.cache_read),
        cache_write: later(known.cache_write, said.cache_write),
        reasoning: later(known.reasoning, said.reasoning),
        cost: said.cost.filter(|cost| *cost > 0.0).or(known.cost),
        unpriced: known.unpriced,
    }
}

/// What a call cost, when the vendor says so in a number that a call can cost.
pub(super) fn dollars(said: Option<&Value>) -> Option<f64> {
    said.and_then(Value::as_f64).filter(|cost| (0.0..=MOST_DOLLARS).contains(cost))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn zeros_take_nothing_back_and_later_counts_hold() {
        let first = Usage { input: 100, output: 5, cost: Some(0.5), ..Usage::default() };
        let later = Usage { output: 20, cost: Some(0.0), ..Usage::default() };
        let known = updated(Some(updated(None, first)), later);
        assert_eq!((known.input, known.output, known.cost), (100, 20, Some(0.5)));
    }

    #[test]
    fn nobody_pays_nonsense() {
        for said in [json!(1e308), json!(-1), json!("1"), json!(null), json!({})] {
            assert_eq!(dollars(Some(&said)), None, "{said}");
        }
        assert_eq!(dollars(Some(&json!(0.25))), Some(0.25));
    }
}
