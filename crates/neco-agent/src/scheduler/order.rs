//! Which calls may begin now.

use neco_safety::Touch;

use super::call::{Call, Phase};

/// The positions of the calls that may begin now: reads together up to `parallel_reads`, anything
/// else alone, in order, after everything before it.
pub(super) fn may_begin(calls: &[Call], parallel_reads: usize) -> Vec<usize> {
    let mut begun = calls.iter().filter(|call| occupies_a_place(call)).count();
    let mut chosen = Vec::new();
    let mut all_done_before = true;
    for (index, call) in calls.iter().enumerate() {
        let Some(touch) = call.touch() else { continue };
        let scheduled = matches!(call.phase, Phase::Scheduled(_));
        if touch != Touch::Reads {
            if scheduled && all_done_before {
                chosen.push(index);
            }
            break;
        }
        if scheduled && begun < parallel_reads {
            begun += 1;
            chosen.push(index);
        }
        all_done_before = false;
    }
    chosen
}

/// A call that waits for a person takes no place: eight questions must not block a ninth read.
fn occupies_a_place(call: &Call) -> bool {
    match call.phase {
        Phase::Planning { .. } | Phase::Cleared(_) | Phase::Executing { .. } => true,
        Phase::Scheduled(_) | Phase::AwaitingApproval { .. } | Phase::Done(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::call::Outcome;
    use super::*;
    use neco_proto::CallId;
    use proptest::prelude::*;

    fn call(touch: Touch, state: u8) -> Call {
        let phase = match state {
            0 => Phase::Planning { touch, approved: false },
            1 => Phase::Executing { touch },
            _ => Phase::Done(Outcome::cancelled(false)),
        };
        Call { id: CallId::generate(), tool: String::new(), summary: String::new(), notes: Vec::new(), phase }
    }

    #[test]
    fn nothing_begins_behind_a_write_that_is_not_done() {
        let calls = [call(Touch::Reads, 2), call(Touch::Writes, 1), call(Touch::Reads, 0)];
        assert!(may_begin(&calls, 8).is_empty());
    }

    proptest! {
        #[test]
        fn what_already_began_never_begins_again(kinds in prop::collection::vec((0u8..3, 0u8..3), 0..12)) {
            let touch = |kind| match kind { 0 => Touch::Reads, 1 => Touch::Writes, _ => Touch::Runs };
            let calls: Vec<Call> = kinds.iter().map(|(kind, state)| call(touch(*kind), *state)).collect();
            prop_assert!(may_begin(&calls, 8).is_empty());
        }
    }
}
