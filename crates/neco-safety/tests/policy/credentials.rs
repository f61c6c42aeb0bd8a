//! Credentials of Neco's own: nothing is done with them, whatever rules say and whoever is there.

use neco_proto::ApprovalMode;
use neco_safety::path::guard_credentials;
use neco_safety::world::Freedom;
use neco_safety::{Confinement, Ruling, Who};
use serde_json::json;

use crate::support::{Call, judge, user, who};

const ALLOWS: &str = "[[rule]]\ntool = '*'\ndecision = 'allow'\nrisk = ['safe', 'low', 'medium', 'high', 'critical']\n";

#[test]
fn what_names_them_is_denied_and_nobody_is_asked() {
    guard_credentials("/srv/data/run".into());
    guard_credentials("/srv/settings/keys.toml".into());
    let full = Who { confinement: Confinement::ChosenNone, approval: ApprovalMode::Auto, ..who() };
    let calls = [
        Call::read("/srv/data/run/token"),
        Call::write("/srv/data/run/tokens.json"),
        Call::read("/srv/settings/keys.toml"),
        Call::bash("cat /srv/data/run/token"),
        Call::bash("cp -r /srv/data/run ."),
        Call::bash("cd /srv/data && cat run/token"),
        Call::bash("cat /srv/data/r*/token"),
        Call::bash("head -c9 < /srv/data/run/token"),
        Call::bash("echo '[]' > /srv/data/run/tokens.json"),
        Call::bash("tar czf x.tgz /srv/app/../data/run"),
        Call::bash("sed -i s/a/b/ /srv/settings/keys.toml"),
        Call::bash("bash -c 'cat /srv/data/run/token'"),
        Call::other("peek", json!({ "path": "/srv/data/run/token" })).of_server("files"),
    ];
    for who in [full, who()] {
        for rules in ["", ALLOWS] {
            for call in &calls {
                let verdict = judge(&user(rules), call, &who);
                assert_eq!((verdict.ruling, verdict.unasked), (Ruling::Deny, false), "{call:?}: {}", verdict.reason);
                assert!(verdict.reason.contains("credentials of Neco"), "{call:?}: {}", verdict.reason);
            }
        }
    }
    let unboxed = Call { freedom: Freedom::Unboxed, ..Call::bash("xxd /srv/data/run/token") };
    assert_eq!(judge(&user(ALLOWS), &unboxed, &who()).ruling, Ruling::Deny);
    for harmless in ["cat /srv/data/runner/token", "ls /srv/settings", "echo run/token", "cat keys.toml"] {
        let verdict = judge(&user(ALLOWS), &Call::bash(harmless), &full);
        assert_eq!(verdict.ruling, Ruling::Allow, "{harmless}: {}", verdict.reason);
    }
}
