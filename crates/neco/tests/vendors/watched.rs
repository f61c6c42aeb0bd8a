//! The binary with a model of a test's own, and the most memory it took.

use std::io::Read;
use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use crate::format::Format;
use crate::support::{House, Ran};

/// Bytes that no answer may bring the process to.
pub const MOST: u64 = 300_000_000;

/// A house whose model is a server at `base`; `more` goes below its network settings.
pub fn house(format: Format, base: &str, more: &str) -> House {
    let house = House::empty();
    house.configure(&format!(
        "model = \"flood/m\"\n[agent.guards]\nloops = false\n[network]\nbackoff = 0.01\n{more}\n[model_providers.flood]\ntype = \"{}\"\nbase = \"{base}\"\napi_key = \"k\"\n",
        format.kind()
    ));
    house
}

/// A run, and the most memory that it took at a time.
pub fn run(house: &House, arguments: &[&str]) -> (Ran, u64) {
    let mut child = house.start(arguments);
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |mut from: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut text = String::new();
            from.read_to_string(&mut text).unwrap();
            text
        })
    };
    let (stdout, stderr) = (read(Box::new(stdout)), read(Box::new(stderr)));
    let mut most = 0;
    let status = loop {
        most = most.max(peak(&child));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let ran = Ran { code: status.code().unwrap_or(-1), stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() };
    (ran, most)
}

/// The kernel keeps the highest mark, so it does not matter when it is asked.
fn peak(child: &Child) -> u64 {
    memory(child.id(), "VmHWM:")
}

/// How much memory a process takes now.
pub fn now(process: u32) -> u64 {
    memory(process, "VmRSS:")
}

fn memory(process: u32, mark: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(mark));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The events of this type.
pub fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}
