//! One figure, what was promised of it, and whether that holds.

use serde::Serialize;

use crate::samples::Samples;

/// What a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Millions of bytes.
    Megabytes,
    /// Thousands of bytes.
    Kilobytes,
    /// How many times as much.
    Ratio,
    /// A number of things.
    Count,
    /// A number of things for each of some others.
    Each,
}

impl Unit {
    /// How it is written after a value.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Megabytes => "MB",
            Self::Kilobytes => "kB",
            Self::Ratio => "×",
            Self::Count | Self::Each => "",
        }
    }
}

/// What was promised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Not more than this.
    AtMost(f64),
    /// Less than this.
    Below(f64),
    /// This and nothing else.
    Exactly(f64),
}

impl Target {
    /// Whether `value` is what was promised.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::Below(limit) => value < limit,
            Self::Exactly(wanted) => value == wanted,
        }
    }
}

/// What becomes of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Ok,
    /// It does not.
    Miss,
    /// Nothing was promised; the figure explains another one.
    Info,
}

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Its name: stable, for comparing one run with another.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The value the target is about.
    pub value: f64,
    /// What was promised, if anything.
    pub target: Option<Target>,
    /// Whether that holds.
    pub verdict: Verdict,
    /// What the value was taken from.
    pub samples: Option<Samples>,
}

impl Figure {
    /// A figure that explains another one.
    pub fn info(name: &'static str, unit: Unit, value: f64) -> Self {
        Self { name, unit, value, target: None, verdict: Verdict::Info, samples: None }
    }

    /// The median of `samples`.
    pub fn median(name: &'static str, unit: Unit, samples: Samples) -> Self {
        Self { samples: Some(samples), ..Self::info(name, unit, samples.median) }
    }

    /// The mean of `samples`.
    pub fn mean(name: &'static str, unit: Unit, samples: Samples) -> Self {
        Self { samples: Some(samples), ..Self::info(name, unit, samples.mean) }
    }

    /// The same with a promise to hold.
    pub fn promised(mut self, target: Target) -> Self {
        self.target = Some(target);
        self.verdict = if target.holds(self.value) { Verdict::Ok } else { Verdict::Miss };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_taken_at_their_word() {
        assert!(Target::AtMost(2.5).holds(2.5) && !Target::AtMost(2.5).holds(2.51));
        assert!(Target::Below(12.0).holds(11.9) && !Target::Below(12.0).holds(12.0));
        assert!(Target::Exactly(1.0).holds(1.0) && !Target::Exactly(1.0).holds(2.0));
        let figure = Figure::info("a", Unit::Ratio, 1.3);
        assert_eq!(figure.verdict, Verdict::Info);
        assert_eq!(figure.promised(Target::AtMost(1.2)).verdict, Verdict::Miss);
    }
}
