//! Places for all hunks of a file: taken only if there is exactly one way to put them all in.

use super::build;
use super::find::{Misfit, Reading, Spot, numbers, spots};
use super::hunk::Hunk;
use crate::files::matching::{Fit, Lines, Stop};

/// A file after its hunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    /// The new content.
    pub content: Vec<u8>,
    /// How each hunk had to be read.
    pub fits: Vec<Fit>,
}

/// Puts all hunks into a content, or none.
/// The error is the index of the hunk that has no place of its own, and why.
pub fn patched(content: &[u8], hunks: &[Hunk], stop: &Stop<'_>) -> Result<Patched, (usize, Misfit)> {
    let lines = Lines::of(content);
    let mut meant: Vec<Hunk> = Vec::with_capacity(hunks.len());
    let mut found: Vec<Vec<Spot>> = Vec::with_capacity(hunks.len());
    for (index, hunk) in hunks.iter().enumerate() {
        let (hunk, spots) = with_or_without_loose_end(content, &lines, hunk, stop).map_err(|misfit| (index, misfit))?;
        meant.push(hunk);
        found.push(spots);
    }
    by_drift(&meant, &mut found);
    let chosen = chosen(&found)?;
    let fits = chosen.iter().map(|spot| spot.reading.fit()).collect();
    let placed: Vec<(&Hunk, Spot)> = meant.iter().zip(chosen).collect();
    let content = build::content(content, &lines, placed).ok_or((0, Misfit::TooLong))?;
    Ok(Patched { content, fits })
}

/// Empty lines at the end of a hunk may only separate it from what follows in the patch.
fn with_or_without_loose_end(
    content: &[u8],
    lines: &Lines,
    hunk: &Hunk,
    stop: &Stop<'_>,
) -> Result<(Hunk, Vec<Spot>), Misfit> {
    let misfit = match spots(content, lines, hunk, stop) {
        Ok(spots) => return Ok((hunk.clone(), spots)),
        Err(misfit) => misfit,
    };
    let Some(shorter) = hunk.without_loose_end() else { return Err(misfit) };
    spots(content, lines, &shorter, stop).map(|spots| (shorter, spots)).map_err(|_| misfit)
}

/// Where line numbers are off, they are off by the same for all hunks: those that have one place say by how much.
fn by_drift(hunks: &[Hunk], found: &mut [Vec<Spot>]) {
    let drift = |hunk: &Hunk, spot: &Spot| Some(spot.first as i64 + 1 - hunk.line? as i64);
    let mut drifts = hunks.iter().zip(found.iter()).filter_map(|(hunk, spots)| match spots.as_slice() {
        [only] => drift(hunk, only),
        _ => None,
    });
    let Some(common) = drifts.next().filter(|common| drifts.all(|drift| drift == *common)) else { return };
    for (hunk, spots) in hunks.iter().zip(found.iter_mut()).filter(|(_, spots)| spots.len() > 1) {
        let there =
            spots.iter().find(|spot| drift(hunk, spot) == Some(common) && spot.reading == Reading::Exact).cloned();
        if let Some(there) = there {
            *spots = vec![there];
        }
    }
}

/// The one way to place all hunks in order; or, when each has only one place, in whatever order they are.
fn chosen(found: &[Vec<Spot>]) -> Result<Vec<Spot>, (usize, Misfit)> {
    match (earliest(found), latest(found)) {
        (Ok(early), Some(late)) => match early.iter().zip(&late).position(|(early, late)| early != late) {
            None => Ok(early),
            Some(at) => {
                let spots = found.get(at).map(Vec::as_slice).unwrap_or_default();
                let fit = spots.first().map_or(Fit::Exact, |spot| spot.reading.fit());
                Err((at, Misfit::NotUnique { fit, lines: numbers(spots) }))
            }
        },
        (Ok(_), None) => Err((0, Misfit::NoContext)),
        (Err(at), _) => out_of_order(found).ok_or_else(|| {
            let spots = found.get(at).map(Vec::as_slice).unwrap_or_default();
            (at, Misfit::Taken(numbers(spots)))
        }),
    }
}

/// Each hunk as early as it can be after the one before it; or the first that has no place there.
fn earliest(found: &[Vec<Spot>]) -> Result<Vec<Spot>, usize> {
    let mut end = 0;
    let mut chosen = Vec::with_capacity(found.len());
    for (index, spots) in found.iter().enumerate() {
        let spot = spots.iter().find(|spot| spot.first >= end).ok_or(index)?;
        end = spot.first + spot.count;
        chosen.push(spot.clone());
    }
    Ok(chosen)
}

/// Each hunk as late as it can be before the one after it.
fn latest(found: &[Vec<Spot>]) -> Option<Vec<Spot>> {
    let mut start = usize::MAX;
    let mut chosen = Vec::with_capacity(found.len());
    for spots in found.iter().rev() {
        let spot = spots.iter().rev().find(|spot| spot.first + spot.count <= start)?;
        start = spot.first;
        chosen.push(spot.clone());
    }
    chosen.reverse();
    Some(chosen)
}

fn out_of_order(found: &[Vec<Spot>]) -> Option<Vec<Spot>> {
    let chosen: Option<Vec<Spot>> = found
        .iter()
        .map(|spots| match spots.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        })
        .collect();
    let chosen = chosen?;
    let mut sorted: Vec<&Spot> = chosen.iter().collect();
    sorted.sort_by_key(|spot| spot.first);
    let apart = sorted.iter().zip(sorted.iter().skip(1)).all(|(one, next)| one.first + one.count <= next.first);
    apart.then_some(chosen)
}
