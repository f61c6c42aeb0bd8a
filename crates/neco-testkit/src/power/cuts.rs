//! The moments at which power is lost.

use std::collections::BTreeSet;

use super::disk::{Disk, Left};
use super::record::Record;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn number(&mut self) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(usize::MAX)
    }
}

/// Does to a disk what was recorded, and has it looked at after the last record and at `cuts` other moments, three times
/// each: with what is certain, with everything, and with a part of what is not. Says how many moments that were.
pub fn lose_power(
    disk: &mut Disk,
    records: &[Record],
    cuts: usize,
    mut check: impl FnMut(&Disk, Left<'_>, &str),
) -> usize {
    let mut random = Random(1);
    let last = records.len().saturating_sub(1);
    let moments: BTreeSet<usize> = (0..cuts).map(|_| random.number() % records.len().max(1)).chain([last]).collect();
    for (moment, record) in records.iter().enumerate() {
        disk.apply(record);
        if moments.contains(&moment) {
            check(disk, Left::Nothing, &format!("moment {moment}, only what was synced"));
            check(disk, Left::Everything, &format!("moment {moment}, everything"));
            check(disk, Left::Some(&mut || random.number()), &format!("moment {moment}, a part of it"));
        }
    }
    moments.len()
}
