//! What the doctor found, as lines.

use std::fmt::Write;

use neco_proto::app::doctor::{Finding, Health};
use neco_proto::clean::clean_line;

use crate::figures;
use crate::paint::colour::Paint;

/// What was found, a line each.
pub fn as_lines(findings: &[Finding], paint: Paint) -> String {
    let mut text = String::new();
    for finding in findings {
        let health = match finding.health {
            Health::Ok => paint.green("ok  "),
            Health::Info | Health::Other => paint.dim("info"),
            Health::Warn => paint.yellow("warn"),
            Health::Fail => paint.red("fail"),
        };
        let _ = writeln!(text, "{health}  {:<11} {}", finding.subject, clean_line(&finding.words));
        if let Some(fix) = &finding.fix {
            let _ = writeln!(text, "{:18}{}", "", paint.cyan(&format!("→ {}", clean_line(fix))));
        }
    }
    text
}

/// What it comes to.
pub fn end(findings: &[Finding]) -> String {
    let count = |health| findings.iter().filter(|finding| finding.health == health).count();
    match (count(Health::Fail), count(Health::Warn)) {
        (0, 0) => "No problems. No model was asked; neco model test asks one\n".to_owned(),
        (0, warned) => format!(
            "No problems, {}. No model was asked; neco model test asks one\n",
            figures::count(warned as u64, "note")
        ),
        (failed, _) => format!("{} to fix\n", figures::count(failed as u64, "problem")),
    }
}
