//! What holds for every line whatsoever; the fuzz target checks the same.

use neco_proto::Risk;
use neco_safety::command::{Examined, Place, examine};

/// Lines that are denied outright, to be hidden in other lines.
pub const DENIED: [&str; 8] = [
    "rm -rf /",
    "rm -fr ~",
    "dd if=x of=/dev/sda",
    "mkfs.ext4 /dev/sda1",
    "shutdown -h now",
    "history -c",
    "cat x > /dev/sda",
    "find / -delete",
];

/// Checks a line, alone and beside something that is denied. Panics where a promise is broken.
pub fn check(line: &str, denied: &str) {
    let place = Place::new("/home/me/app").with_home("/home/me");
    let alone = examine(line, &place);
    is_consistent(line, &alone);
    // A shell runs the first line before it reads the second.
    beside(&format!("{denied}\n{line}"), &place);
    beside(&format!("{denied}; {line}"), &place);
    beside(&format!("{denied} && {line}"), &place);
    // Quotes, comments, joined lines and here-documents may make text of what follows them.
    if !line.contains(['\'', '"', '`', '#', '\\', '<', '$', '(']) {
        beside(&format!("{line}\n{denied}"), &place);
        beside(&format!("{line}; {denied}"), &place);
        beside(&format!("{line} || {denied}"), &place);
        beside(&format!("{line} $({denied})"), &place);
        beside(&format!("{line} \"`{denied}`\""), &place);
        beside(&format!("{line} <({denied})"), &place);
    }
}

fn beside(line: &str, place: &Place) {
    let examined = examine(line, place);
    is_consistent(line, &examined);
    assert!(
        examined.risk == Risk::Critical,
        "{line:?} has something denied in it and is {}: {examined:?}",
        examined.risk
    );
    let everything = [vec!["rm".to_owned()], vec!["echo".to_owned()], vec!["ls".to_owned()]];
    assert!(!examined.covered_by_any(&everything), "{line:?}");
    assert!(examined.rules().len() != 1, "{line:?}");
}

fn is_consistent(line: &str, examined: &Examined) {
    assert!(examined.never.is_none() || examined.risk == Risk::Critical, "{line:?}");
    assert!(examined.clean || examined.risk == Risk::Critical, "{line:?}");
    assert!(examined.risk < Risk::Critical || examined.because.told().is_some(), "{line:?}");
    let worst = examined.parts.iter().map(|part| part.risk).max();
    assert!(worst.is_none_or(|worst| worst <= examined.risk), "{line:?}");
    for rule in examined.rules() {
        assert!(examined.risk == Risk::High && !rule.is_empty(), "{line:?}");
    }
}
