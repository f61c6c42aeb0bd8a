//! The command line: which era the server speaks, and what it does wrong.

use std::path::PathBuf;

/// The versions without `initialize`.
const MODERN_VERSIONS: &[&str] = &["2026-07-28"];

/// The versions with `initialize`, newest first.
const LEGACY_VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A version that nobody knows.
const UNKNOWN_VERSION: &str = "2099-01-01";

/// An era of the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// A client sends `initialize` first.
    Legacy,
    /// Every request carries in `_meta` who asks.
    Modern,
}

/// Something that the server does wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// `junk`: lines that are no JSON, at the start and before every message.
    Junk,
    /// `hang-start`: `initialize` and `server/discover` are never answered.
    HangStart,
    /// `hang-call`: `tools/call` is never answered.
    HangCall,
    /// `crash-start`: the server exits with 3 and a line on stderr.
    CrashStart,
    /// `crash-call`: the server exits with 4 and half an answer.
    CrashCall,
    /// `crash-first N`: the first N starts crash; `--state` counts them.
    CrashFirst(usize),
    /// `flood`: a megabyte of junk lines a second on stdout.
    Flood,
    /// `big`: `echo` answers with 50 MB in one line.
    Big,
    /// `no-newline`: a call is answered with 100 MB that never end in a line break.
    NoNewline,
    /// `bad-schema-text`: an `inputSchema` that is no object.
    SchemaText,
    /// `bad-schema-type`: an `inputSchema` of type 7.
    SchemaType,
    /// `bad-schema-loop`: an `inputSchema` whose references go round.
    SchemaLoop,
    /// `bad-schema-deep`: an `inputSchema` of 5,000 levels.
    SchemaDeep,
    /// `wrong-id`: calls are answered under an id that was never asked.
    WrongId,
    /// `extra-id`: before the answer to a call there is another, under an id that was never asked.
    ExtraId,
    /// `twice`: every call is answered twice.
    Twice,
    /// `bad-version`: the server speaks only a version that nobody knows.
    BadVersion,
    /// `many-tools N`: there are N more tools.
    ManyTools(usize),
    /// `endless-pages`: the list of tools has always one more page.
    EndlessPages,
    /// `same-names`: two tools have one name.
    SameNames,
    /// `long-names`: names that no model accepts, two of which become one when they are cleaned.
    LongNames,
    /// `stderr-flood`: a megabyte on stderr before anything else, then one a second.
    StderrFlood,
    /// `ignore-term`: the server outlives SIGTERM and the end of its input.
    IgnoreTerm,
    /// `fork`: a `sleep 1000` in a process group of its own holds stdout and stderr open.
    Fork,
    /// `dies-on-unknown`: a method that the server does not know, before `initialize`, ends it.
    DiesOnUnknown,
    /// `nothing-on-unknown`: methods that the server does not know are answered with an empty object.
    NothingOnUnknown,
    /// `silent-on-unknown`: methods that the server does not know are never answered.
    SilentOnUnknown,
}

/// What the command line asks for.
pub struct Options {
    /// The eras that are spoken.
    pub eras: &'static [Era],
    /// The file that gets every received line.
    pub record: Option<PathBuf>,
    /// The file that counts crashed starts.
    pub state: Option<PathBuf>,
    /// How long lists stay fresh, in milliseconds.
    pub ttl: u64,
    /// Whether the server was started again with SIGTERM ignored.
    pub term_ignored: bool,
    faults: Vec<Fault>,
    protocol: Option<String>,
}

impl Options {
    /// Reads the arguments after the program's name.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            eras: &[Era::Legacy],
            record: None,
            state: None,
            ttl: 60_000,
            term_ignored: false,
            faults: Vec::new(),
            protocol: None,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--era" => options.eras = eras(&value()?)?,
                "--misbehave" => {
                    let name = value()?;
                    options.faults.extend(faults(&name, value)?);
                }
                "--record" => options.record = Some(value()?.into()),
                "--state" => options.state = Some(value()?.into()),
                "--ttl" => options.ttl = number(&argument, &value()?)?,
                "--protocol" => options.protocol = Some(value()?),
                "--term-ignored" => options.term_ignored = true,
                _ => return Err(format!("unknown argument: {argument}")),
            }
        }
        Ok(options)
    }

    /// Whether the server does this wrong.
    pub fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// How many starts crash.
    pub fn crashes(&self) -> usize {
        let crashes = |fault: &Fault| if let Fault::CrashFirst(count) = fault { Some(*count) } else { None };
        self.faults.iter().find_map(crashes).unwrap_or(0)
    }

    /// How many tools there are beside the standard ones.
    pub fn more_tools(&self) -> usize {
        let more = |fault: &Fault| if let Fault::ManyTools(count) = fault { Some(*count) } else { None };
        self.faults.iter().find_map(more).unwrap_or(0)
    }

    /// The versions that the server says it speaks.
    pub fn versions(&self) -> Vec<&str> {
        if self.has(Fault::BadVersion) {
            return vec![UNKNOWN_VERSION];
        }
        if let Some(version) = &self.protocol {
            return vec![version.as_str()];
        }
        let versions = |era: &Era| match era {
            Era::Legacy => LEGACY_VERSIONS,
            Era::Modern => MODERN_VERSIONS,
        };
        self.eras.iter().flat_map(versions).copied().collect()
    }

    /// The version that answers an `initialize`: the one that is asked for, or the newest that has an `initialize`.
    pub fn handshake_version<'a>(&'a self, requested: &'a str) -> &'a str {
        let mut versions = self.versions();
        versions.retain(|version| !MODERN_VERSIONS.contains(version));
        if versions.contains(&requested) { requested } else { versions.first().copied().unwrap_or(UNKNOWN_VERSION) }
    }
}

fn eras(name: &str) -> Result<&'static [Era], String> {
    match name {
        "legacy" => Ok(&[Era::Legacy]),
        "modern" => Ok(&[Era::Modern]),
        "both" => Ok(&[Era::Modern, Era::Legacy]),
        _ => Err(format!("unknown era: {name}")),
    }
}

fn faults(name: &str, mut value: impl FnMut() -> Result<String, String>) -> Result<Vec<Fault>, String> {
    let fault = match name {
        "junk" => Fault::Junk,
        "hang-start" => Fault::HangStart,
        "hang-call" => Fault::HangCall,
        "crash-start" => Fault::CrashStart,
        "crash-call" => Fault::CrashCall,
        "crash-first" => Fault::CrashFirst(number(name, &value()?)?),
        "flood" => Fault::Flood,
        "big" => Fault::Big,
        "no-newline" => Fault::NoNewline,
        "bad-schema" => {
            return Ok(vec![Fault::SchemaText, Fault::SchemaType, Fault::SchemaLoop, Fault::SchemaDeep]);
        }
        "bad-schema-text" => Fault::SchemaText,
        "bad-schema-type" => Fault::SchemaType,
        "bad-schema-loop" => Fault::SchemaLoop,
        "bad-schema-deep" => Fault::SchemaDeep,
        "wrong-id" => Fault::WrongId,
        "extra-id" => Fault::ExtraId,
        "twice" => Fault::Twice,
        "bad-version" => Fault::BadVersion,
        "many-tools" => Fault::ManyTools(number(name, &value()?)?),
        "endless-pages" => Fault::EndlessPages,
        "same-names" => Fault::SameNames,
        "long-names" => Fault::LongNames,
        "stderr-flood" => Fault::StderrFlood,
        "ignore-term" => Fault::IgnoreTerm,
        "fork" => Fault::Fork,
        "dies-on-unknown" => Fault::DiesOnUnknown,
        "nothing-on-unknown" => Fault::NothingOnUnknown,
        "silent-on-unknown" => Fault::SilentOnUnknown,
        _ => return Err(format!("unknown misbehaviour: {name}")),
    };
    Ok(vec![fault])
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} needs a number, not {text}"))
}
