//! What a provider says of a key.

use std::time::Duration;

use neco_model::route::Key;
use neco_model::{KeyTrial, Models, NoKeys, try_key};

use super::served::{Reply, ReplyEnd};
use super::server::Server;
use super::{SECRET, config, section};

/// What is said of a key where these statuses are answered, with it and then without; 0 is no answer.
async fn tried(statuses: &[u16], timeout: Duration) -> KeyTrial {
    let reply = |status: &u16| {
        let end = if *status == 0 { ReplyEnd::Stall } else { ReplyEnd::Whole };
        Reply { status: *status, headers: Vec::new(), pieces: Vec::new(), delay_ms: 0, between_ms: 0, end }
    };
    let server = Server::answering(statuses.iter().map(reply).collect(), 0).await;
    let models = Models::new(&config(&[("mine", section(&server.base, &[]))]), &NoKeys).unwrap();
    let said = try_key(models.providers().get("mine").unwrap(), &Key::new(SECRET, "").unwrap(), timeout).await;
    let shown = |head: &str| head.contains(SECRET);
    assert!(server.seen().iter().enumerate().all(|(at, seen)| shown(&seen.head) == (at == 0)));
    said
}

#[tokio::test]
async fn a_key_works_where_it_is_taken_and_nobody_is_without_one() {
    for (statuses, wanted) in [
        (&[200, 401][..], KeyTrial::Works),
        (&[200, 403][..], KeyTrial::Works),
        (&[200, 200][..], KeyTrial::Unsaid),
        (&[200, 404][..], KeyTrial::Unsaid),
        (&[200, 429][..], KeyTrial::Unsaid),
        (&[200, 503][..], KeyTrial::Unsaid),
        (&[401][..], KeyTrial::Refused),
        (&[403][..], KeyTrial::Unsaid),
        (&[503][..], KeyTrial::Unsaid),
    ] {
        assert_eq!(tried(statuses, Duration::from_secs(20)).await, wanted, "{statuses:?}");
    }
}

#[tokio::test]
async fn a_provider_that_says_nothing_in_time_is_not_reached_or_says_nothing_of_the_key() {
    for (statuses, wanted) in [(&[0][..], KeyTrial::Unreachable), (&[200, 0][..], KeyTrial::Unsaid)] {
        assert_eq!(tried(statuses, Duration::from_secs(2)).await, wanted, "{statuses:?}");
    }
}
