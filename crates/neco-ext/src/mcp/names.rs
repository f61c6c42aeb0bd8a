//! What the tools of servers are called here.

use sha2::{Digest, Sha256};

/// The longest name that every vendor takes.
const LONGEST: usize = 64;

/// Hexadecimal digits that tell a name apart which was cut.
const DIGITS: usize = 8;

/// The name of a server's tool: `mcp__SERVER__TOOL`, with `_` for what no vendor takes. One that is too long is cut and
/// ends with digits that are its own.
///
/// ```
/// use neco_ext::mcp::tool_name;
///
/// assert_eq!(tool_name("github", "create_issue"), "mcp__github__create_issue");
/// assert_eq!(tool_name("my.server", "a b"), "mcp__my_server__a_b");
/// assert_eq!(tool_name("long", &"x".repeat(100)).len(), 64);
/// ```
pub fn tool_name(server: &str, tool: &str) -> String {
    let full = format!("mcp__{server}__{tool}");
    let fits = |char: char| if char.is_ascii_alphanumeric() || matches!(char, '_' | '-') { char } else { '_' };
    let mut name: String = full.chars().map(fits).collect();
    if name.len() > LONGEST {
        let hash = Sha256::digest(full.as_bytes());
        let digits: String = hash.iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
        name.truncate(LONGEST - DIGITS - 1);
        name = format!("{name}_{digits}");
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_name_is_one_that_vendors_take(server in "[A-Za-z0-9_-]{1,64}", tool in any::<String>()) {
            let name = tool_name(&server, &tool);
            prop_assert!(name.len() <= LONGEST && name.starts_with("mcp__"), "{name}");
            prop_assert!(name.chars().all(|char| char.is_ascii_alphanumeric() || "_-".contains(char)), "{name}");
        }
    }

    #[test]
    fn long_names_that_begin_alike_stay_apart() {
        let long = "x".repeat(80);
        assert_ne!(tool_name("s", &format!("{long}a")), tool_name("s", &format!("{long}b")));
    }
}
