//! What a log adds up to, as when a session is opened again.

mod support;

use divan::Bencher;
use divan::counter::ItemsCount;
use neco_proto::SessionId;
use neco_session::Fold;

const EVENTS: usize = 10_000;

fn main() {
    divan::main();
}

#[divan::bench]
fn whole_log(bencher: Bencher<'_, '_>) {
    let events = support::events(SessionId::new(), EVENTS);
    assert!(Fold::of(&events).messages.len() > EVENTS / support::PER_TURN, "the log has turns");
    bencher.counter(ItemsCount::new(EVENTS)).bench(|| Fold::of(&events));
}
