//! What the benchmark program and the small benchmarks share.

pub mod toolbox;
