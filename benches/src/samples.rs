//! Many measurements of one thing.

use serde::Serialize;

/// Many measurements of one thing, and what they come to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Samples {
    /// How many there are.
    pub count: usize,
    /// The smallest.
    pub min: f64,
    /// The middle one.
    pub median: f64,
    /// Their mean.
    pub mean: f64,
    /// Nine of ten are not above it.
    pub p90: f64,
}

impl Samples {
    /// What `values` come to; `None` when there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (count, min) = (values.len(), *values.first()?);
        Some(Self {
            count,
            min,
            median: middle(&values),
            mean: values.iter().sum::<f64>() / count as f64,
            p90: values.get((count * 9).div_ceil(10) - 1).copied().unwrap_or(min),
        })
    }
}

/// What 99 of a hundred of `values` are not above; `None` when there are none.
pub fn p99(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get((values.len() * 99).div_ceil(100).checked_sub(1)?).copied()
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    let upper = sorted.get(half).copied().unwrap_or_default();
    if sorted.len() % 2 == 1 { upper } else { (upper + sorted.get(half - 1).copied().unwrap_or(upper)) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_to_nothing() {
        assert_eq!(Samples::of([]), None);
    }

    #[test]
    fn odd_even_and_tail() {
        let odd = Samples::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!((odd.count, odd.min, odd.median, odd.mean, odd.p90), (3, 1.0, 2.0, 2.0, 3.0));
        assert_eq!(Samples::of([4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
        assert_eq!(Samples::of((1..=10).map(f64::from)).unwrap().p90, 9.0);
        assert_eq!((p99((1..=200).map(f64::from)), p99([3.0]), p99([])), (Some(198.0), Some(3.0), None));
    }
}
