//! Puts together what a grammar's query found in a file: what stands in what, and which names are uses.

use std::ops::Range;

use super::code::{Code, Definition, OutlineItem, Use};
use super::kind::SymbolKind;

/// Something that was found and holds a range of the text.
#[derive(Clone, Debug)]
pub(super) struct Found<'a> {
    pub(super) name: &'a str,
    pub(super) name_at: usize,
    pub(super) line: u32,
    pub(super) end_line: u32,
    pub(super) range: Range<usize>,
    /// Nothing for what only holds definitions.
    pub(super) kind: Option<SymbolKind>,
    pub(super) container: Option<&'a str>,
}

impl<'a> Code<'a> {
    /// Puts together what was found, in any order.
    pub(super) fn of(mut found: Vec<Found<'a>>, mut uses: Vec<(usize, Use<'a>)>) -> Self {
        // A name may fit several patterns; the kind that says most comes first.
        found.sort_by_key(|one| (one.name_at, one.kind.map_or(0, rank)));
        found.dedup_by_key(|one| one.name_at);
        let is_defined = |at: usize| {
            let place = found.binary_search_by_key(&at, |one| one.name_at).ok();
            place.and_then(|place| found.get(place)).is_some_and(|one| one.kind.is_some())
        };
        uses.retain(|(at, _)| !is_defined(*at));
        uses.sort_by_key(|(at, one)| (*at, !one.certain));
        uses.dedup_by_key(|(at, _)| *at);
        found.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end), one.name_at));
        let mut code = Self { uses: uses.into_iter().map(|(_, one)| one).collect(), ..Self::default() };
        let mut around: Vec<(Range<usize>, Option<SymbolKind>, &'a str)> = Vec::new();
        for one in &found {
            while around.last().is_some_and(|(range, _, _)| range.end < one.range.end || range.end <= one.range.start) {
                around.pop();
            }
            code.add(one, around.last().map(|(_, kind, name)| (*kind, *name)), around.len());
            around.push((one.range.clone(), one.kind, one.name));
        }
        code
    }

    fn add(&mut self, one: &Found<'a>, holder: Option<(Option<SymbolKind>, &'a str)>, depth: usize) {
        let in_type = holder.is_some_and(|(kind, _)| kind.is_none_or(SymbolKind::has_methods));
        let kind = one.kind.map(|kind| if kind == SymbolKind::Function && in_type { SymbolKind::Method } else { kind });
        self.outline.push(OutlineItem {
            kind,
            name: one.name.to_owned(),
            line: one.line,
            end_line: one.end_line,
            depth,
        });
        if let Some(kind) = kind {
            let container = one.container.or(holder.map(|(_, name)| name)).unwrap_or_default();
            self.definitions.push(Definition {
                name: one.name.to_owned(),
                kind,
                line: one.line,
                end_line: one.end_line,
                container: container.to_owned(),
            });
        }
    }
}

/// Which kind is kept when a name fits several: the one that says most.
fn rank(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::Type | SymbolKind::Variable => 2,
        SymbolKind::Field => 3,
        _ => 1,
    }
}
