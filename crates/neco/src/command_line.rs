//! Reads the command line of this process, with what the parser alone does not do.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser};

use crate::args::{CommandLine, EverywhereArgs, ResumeArgs, RunArgs, Subcommands};
use crate::cmd::session::reads_as_id;
use crate::elsewhere;
use crate::misread::{in_our_words, told};
use crate::misuse::misuse;

impl CommandLine {
    /// Reads the command line of this process; ends it when help was asked for or a flag is wrong.
    pub fn of_process() -> Self {
        Self::read(std::env::args_os().collect()).unwrap_or_else(|error| error.exit())
    }

    /// Reads the words of a command line, the program's name among them.
    ///
    /// # Errors
    /// When help was asked for or something is wrong with the line.
    pub fn read(words: Vec<OsString>) -> Result<Self, clap::Error> {
        let words = match names_a_program(&words) {
            true => words,
            false => with_flags_behind(with_continue(elsewhere::translated(words))),
        };
        if let Some(mut line) = request(&words) {
            return match named_worktree(&words).or_else(|| settle(&mut line, &words)) {
                Some(misused) => Err(told(misused)),
                None => Ok(line),
            };
        }
        let matches = Self::command().try_get_matches_from(&words).map_err(|error| in_our_words(error, &words))?;
        let mut line = Self::from_arg_matches(&matches)?;
        let misused = named_worktree(&words).or_else(|| match line.command {
            Some(_) => flags_of_a_run(&matches).or_else(|| settle(&mut line, &words)),
            None => settle(&mut line, &words),
        });
        if let Some(misused) = misused {
            return Err(told(misused));
        }
        if line.command.is_some() && !line.everywhere.overrides.is_empty() {
            let before = settings_before_the_subcommand(&words);
            // Those behind the subcommand take the place of those before it; where there are none
            // behind it, the parser has passed them on.
            if before != line.everywhere.overrides {
                line.everywhere.overrides.splice(0..0, before);
            }
        }
        Ok(line)
    }
}

/// Whether a line holds the command line of another program, which is taken as it is.
fn names_a_program(words: &[OsString]) -> bool {
    words.windows(2).any(|two| matches!(two, [first, second] if first == "mcp" && second == "add"))
}

/// A command line without subcommands.
#[derive(Parser)]
#[command(disable_help_flag = true, disable_version_flag = true)]
struct RequestLine {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    everywhere: EverywhereArgs,
}

/// The words that name a subcommand.
const SUBCOMMANDS: &str = "\
    resume run exec chat session sessions login logout model models config doctor init import memory plan agents \
    agent workflow mcp acp serve web attach ps logs stop skill skills plugin plugins tools tool policy trust auth \
    prompt repl demo eval completions man help";

/// A line that is a request and nothing else: no word of it names a subcommand, or `--print` stands before the first that
/// does, so that its words are the request, whatever they are. The parser of all subcommands, which takes a while to
/// make, has no part in most of them. A line that can't be read so is left to be told about.
fn request(words: &[OsString]) -> Option<CommandLine> {
    let names_a_subcommand = words.iter().skip(1).any(|word| SUBCOMMANDS.split(' ').any(|name| word == name));
    let is_request = !names_a_subcommand || is_printed(words);
    let RequestLine { run, everywhere } = is_request.then(|| RequestLine::try_parse_from(words).ok()).flatten()?;
    Some(CommandLine { run, everywhere, acp: false, command: None })
}

/// Whether `--print` stands before anything else that could be a subcommand.
fn is_printed(words: &[OsString]) -> bool {
    let command = CommandLine::command().disable_help_subcommand(true).ignore_errors(true);
    let Ok(matches) = command.try_get_matches_from(words) else { return false };
    // Where something else is wrong with the line, flags have no values at all.
    matches.try_get_one("print").ok().flatten().copied().unwrap_or(false)
}

/// A word behind `--worktree` that is the name of one elsewhere, and would be a message or a part of it here. Where a
/// request was announced before and no sentence is written anywhere, the word is the request.
fn named_worktree(words: &[OsString]) -> Option<String> {
    let asks = |word: &OsString| ["-p", "--print", "-m", "--message"].iter().any(|ask| word == ask);
    let is_sentence = |word: &OsString| word.to_str().is_some_and(|word| word.contains(char::is_whitespace));
    let at = words.iter().position(|word| word == "--worktree")?;
    let behind = words.get(at + 1)?;
    let name = behind.to_str().filter(|name| !name.starts_with('-') && !is_sentence(behind))?;
    let is_announced = words.iter().take(at).any(|word| asks(word) || REQUESTS.iter().any(|request| word == request));
    let (before, after) = (words.iter().take(at), || words.iter().skip(at + 2));
    let is_said = before.skip(1).chain(after()).any(is_sentence) || after().any(asks);
    let goes_on = words.get(at + 2).is_some_and(|next| !next.to_str().is_some_and(|next| next.starts_with('-')));
    (is_said || (!is_announced && !goes_on)).then(|| {
        format!("--worktree takes no name: leave `{name}` out, or write --worktree=branch or --worktree=patch")
    })
}

/// The subcommands that take all flags of a run.
const REQUESTS: &[&str] = &["run", "exec", "chat", "resume", "repl"];

/// Moves the flags of a run that stand before a subcommand that takes them behind it, where they are read.
fn with_flags_behind(mut words: Vec<OsString>) -> Vec<OsString> {
    let is = |at: usize, names: &[&str]| {
        words.get(at).and_then(|word| word.to_str()).is_some_and(|word| names.contains(&word))
    };
    let takes_them = |at: &usize| is(*at, REQUESTS) && words.get(..*at).is_some_and(are_flags);
    let Some(at) = (2..words.len()).find(takes_them) else { return words };
    // `exec resume` continues a session with one request.
    let continues = is(at, &["run", "exec"]) && is(at + 1, &["resume"]);
    let mut behind = words.split_off(at);
    let flags = words.split_off(1);
    if continues {
        behind.splice(..2, ["resume".into(), "--print".into()]);
    }
    let rest = behind.split_off(if continues { 2 } else { 1 });
    words.extend(behind.into_iter().chain(flags).chain(rest));
    words
}

/// Whether words behind the program's name are flags of a run and nothing that is asked.
fn are_flags(words: &[OsString]) -> bool {
    let asks_nothing =
        |RequestLine { run, .. }: RequestLine| run.words.is_empty() && run.message.is_none() && !run.print;
    !words.iter().any(|word| word == "--") && RequestLine::try_parse_from(words).is_ok_and(asks_nothing)
}

/// Spells out a `-c` without a setting behind it: elsewhere that continues the last session.
fn with_continue(words: Vec<OsString>) -> Vec<OsString> {
    let mut spelt = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--") => {
                spelt.push(word);
                spelt.extend(words.by_ref());
            }
            Some("-c") if !words.peek().and_then(|next| next.to_str()).is_some_and(reads_as_setting) => {
                spelt.push("--continue".into());
            }
            Some(short) => match short.strip_prefix("-c").filter(|rest| !rest.is_empty() && !rest.contains('=')) {
                // Several short flags in one word.
                Some(rest) => spelt.extend(["--continue".into(), format!("-{rest}").into()]),
                None => spelt.push(word),
            },
            None => spelt.push(word),
        }
    }
    spelt
}

/// Whether a word is `KEY=VALUE`, or a key whose value was forgotten.
fn reads_as_setting(word: &str) -> bool {
    let key = word.split('=').next().unwrap_or(word);
    let is_key = key.starts_with(|char: char| char.is_ascii_alphabetic()) && !key.contains(char::is_whitespace);
    is_key && (word.contains('=') || key.split('.').filter(|part| !part.is_empty()).count() > 1)
}

/// Brings every way to write a request into one form; gives what is wrong with it, if anything is, in the words that it
/// was written with.
fn settle(line: &mut CommandLine, words: &[OsString]) -> Option<String> {
    match &mut line.command {
        None => name_session(&mut line.run).or_else(|| misuse(&line.run)),
        Some(Subcommands::Run(run)) => {
            run.print = true;
            let name = if words.get(1).is_some_and(|word| word == "exec") { "exec" } else { "run" };
            let said = run.words.join(" ");
            let several = run.words.len() > 1 && run.message.is_none();
            let told = format!(
                "quote the message: neco {name} \"{said}\"; or, if that is what it says: neco \"{name} {said}\""
            );
            name_session(run).or_else(|| several.then_some(told)).or_else(|| misuse(run))
        }
        // Behind `chat` nothing but a message is meant.
        Some(Subcommands::Chat(run)) => name_session(run),
        Some(Subcommands::Resume(args)) => {
            let ResumeArgs { id, last, run } = args.as_mut();
            match id.take() {
                Some(word) if *last => run.words.insert(0, word),
                Some(id) => run.resume = Some(id),
                None if *last || run.session.is_some() => {}
                None => run.resume = run.resume.take().or_else(|| Some(String::new())),
            }
            run.continue_latest |= *last;
            if run.continue_latest {
                run.resume = None;
            }
            name_session(run).or_else(|| misuse(run))
        }
        Some(_) => None,
    }
}

/// The session that `--resume` names is the one that is asked for.
fn name_session(run: &mut RunArgs) -> Option<String> {
    let id = run.resume.take_if(|id| !id.is_empty())?;
    if !reads_as_id(&id) {
        let said = std::iter::once(&id).chain(&run.words).map(String::as_str).collect::<Vec<_>>().join(" ");
        // With a message of its own, the word was meant as an id.
        let instead = match run.message {
            None => format!(" To say it to the last session here: neco --continue \"{said}\""),
            Some(_) => String::new(),
        };
        return Some(format!(
            "`{id}` is not the id of a session; `neco session list` shows them, and four characters or more of one \
             will do.{instead}"
        ));
    }
    run.session = Some(id);
    None
}

/// The settings that stand before the subcommand.
fn settings_before_the_subcommand(words: &[OsString]) -> Vec<String> {
    let command = CommandLine::command().mut_arg("overrides", |arg| arg.global(false)).ignore_errors(true);
    let Ok(matches) = command.try_get_matches_from(words) else { return Vec::new() };
    matches.get_many("overrides").map(|values| values.cloned().collect()).unwrap_or_default()
}

/// Flags of a run that stand before a subcommand, and where they belong.
fn flags_of_a_run(matches: &ArgMatches) -> Option<String> {
    let command = CommandLine::command();
    let is_written = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    // An editor that starts `neco --acp` writes `login` behind that.
    let is_of_a_run = |arg: &&clap::Arg| !arg.is_global_set() && arg.get_id() != "acp";
    let written = command.get_arguments().filter(is_of_a_run).find(|arg| is_written(arg.get_id().as_str()))?;
    let (path, subcommand) = innermost(&command, matches);
    let flag = match (written.get_long(), written.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => return Some(format!("quote the message: neco -m \"… {path}\"")),
    };
    let takes_it =
        subcommand.get_arguments().any(|arg| arg.get_long().is_some_and(|long| written.get_long() == Some(long)));
    Some(match takes_it {
        true => format!("{flag} belongs behind the subcommand: neco {path} {flag} …"),
        false => format!(
            "{flag} is a flag of a run and can't be combined with the subcommand `{path}`; what that takes is listed by neco {path} --help"
        ),
    })
}

/// The subcommand that was written last, and its words.
fn innermost<'a>(command: &'a Command, matches: &ArgMatches) -> (String, &'a Command) {
    let (mut command, mut matches, mut path) = (command, matches, Vec::new());
    while let Some((name, inner)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else { break };
        path.push(name);
        (command, matches) = (found, inner);
    }
    (path.join(" "), command)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::cmd::mcp::McpCommand;

    fn read(words: &[&str]) -> Result<CommandLine, String> {
        let words = [&["neco"], words].concat().into_iter().map(OsString::from).collect();
        CommandLine::read(words).map_err(|error| error.to_string())
    }

    fn overrides(words: &[&str]) -> Vec<String> {
        read(words).unwrap().everywhere.overrides
    }

    #[test]
    fn settings_count_before_and_behind_a_subcommand() {
        assert_eq!(overrides(&["-c", "a=1", "config", "show"]), ["a=1"]);
        assert_eq!(overrides(&["config", "show", "-c", "a=1"]), ["a=1"]);
        assert_eq!(overrides(&["-c", "a=1", "config", "show", "-c", "b=2", "-c", "c=3"]), ["a=1", "b=2", "c=3"]);
        assert_eq!(overrides(&["-c", "a=1", "-c", "b=2", "repl", "-c", "a=3"]), ["a=1", "b=2", "a=3"]);
        assert_eq!(overrides(&["-c", "a=1", "-m", "x", "-c", "b=2"]), ["a=1", "b=2"]);
    }

    #[test]
    fn the_command_line_of_a_server_is_taken_as_it_is() {
        let program = ["sh", "-c", "a", "-p", "-s", "full", "--yes"];
        match read(&[&["mcp", "add", "x"][..], &program].concat()).unwrap().command {
            Some(Subcommands::Mcp(McpCommand::Add(args))) => assert_eq!(args.command, program),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_flag_of_a_run_before_a_subcommand_is_named() {
        let moved = read(&["--mode", "ask", "prompt", "show"]).unwrap_err();
        assert!(moved.contains("--mode belongs behind the subcommand: neco prompt show --mode …"), "{moved}");
        let foreign = read(&["--max-turns", "3", "doctor"]).unwrap_err();
        assert!(foreign.contains("--max-turns is a flag of a run"), "{foreign}");
        assert!(foreign.contains("neco doctor --help"), "{foreign}");
        assert!(read(&["-m", "x", "doctor"]).unwrap_err().contains("--message is a flag of a run"));
    }

    #[test]
    fn flags_before_a_request_count_for_it() {
        let run = |words: &[&str]| match read(words).unwrap() {
            CommandLine { command: Some(Subcommands::Run(run) | Subcommands::Chat(run)), .. } => run,
            CommandLine { command: Some(Subcommands::Resume(args)), .. } => Box::new(args.run),
            line => panic!("{line:?}"),
        };
        for words in [
            &["--full-auto", "exec", "a b"][..],
            &["--yes", "--model", "run", "run", "a b"],
            &["-y", "--model", "a/b", "chat", "a b"],
            &["--full-auto", "exec", "resume", "--last", "a b"],
            &["--yes", "resume", "c41f", "a b"],
        ] {
            let run = run(words);
            assert!(run.yes && run.message().as_deref() == Some("a b"), "{words:?}: {run:?}");
        }
        assert_eq!(run(&["-s", "danger-full-access", "exec", "hi"]).box_args.sandbox, Some("full"));
        let both = read(&["-c", "a=1", "--yes", "exec", "a b", "-c", "b=2"]).unwrap();
        assert_eq!(both.everywhere.overrides, ["a=1", "b=2"]);
        assert_eq!(read(&["--yes", "--", "run", "the tests"]).unwrap().run.words, ["run", "the tests"]);
        assert!(read(&["exec", "the", "tests"]).unwrap_err().contains("neco exec \"the tests\""));
    }

    #[test]
    fn every_subcommand_is_known_without_its_parser() {
        let mut command = CommandLine::command();
        command.build();
        let all: Vec<&str> = command
            .get_subcommands()
            .flat_map(|one| std::iter::once(one.get_name()).chain(one.get_all_aliases()))
            .collect();
        assert_eq!(HashSet::<&str>::from_iter(all), SUBCOMMANDS.split(' ').collect());
        for word in SUBCOMMANDS.split(' ') {
            assert_eq!(request(&["neco", word].map(OsString::from)).map(|line| line.run), None, "{word}");
        }
    }

    #[test]
    fn a_request_is_read_the_same_with_and_without_subcommands() {
        for words in [
            &[][..],
            &["fix", "it"],
            &["-m", "x", "-yC", "/tmp", "-c", "a=1", "--server", "http://h", "--debug"],
            &["--yes", "--image", "a.png", "--file", "b", "--", "-x", "y"],
            &["--resume"],
            &["--tools", "read_file,bash", "--allow", "a", "--allow=b", "x"],
            &["--no-such-flag"],
            &["--acp"],
            &["-V"],
            &["--mode", "none"],
        ] {
            let words: Vec<OsString> = std::iter::once(&"neco").chain(words).map(OsString::from).collect();
            let whole = CommandLine::command().try_get_matches_from(&words);
            let whole = whole.and_then(|matches| CommandLine::from_arg_matches(&matches)).ok();
            // What only the whole parser reads is left to it.
            match (request(&words), whole) {
                (Some(line), Some(whole)) => assert_eq!(format!("{line:?}"), format!("{whole:?}")),
                (line, whole) => assert!(line.is_none() && whole.is_none_or(|whole| whole.acp), "{words:?}"),
            }
        }
    }

    #[test]
    fn behind_print_every_word_is_the_request() {
        for said in ["run", "init", "doctor", "help", "version", "session list", "plan"] {
            for print in ["-p", "--print"] {
                let line = read(&[&[print][..], &said.split(' ').collect::<Vec<_>>()].concat()).unwrap();
                assert!(line.command.is_none() && line.run.print, "{line:?}");
                assert_eq!(line.run.message().as_deref(), Some(said));
            }
        }
        let line = read(&["--yes", "-p", "--model", "a/b", "doctor", "-c", "agent.max_turns=3"]).unwrap();
        assert_eq!((line.run.message().as_deref(), line.run.model.as_deref()), (Some("doctor"), Some("a/b")));
        assert_eq!(line.everywhere.overrides, ["agent.max_turns=3"]);
        assert_eq!(read(&["-m", "run"]).unwrap().run.message().as_deref(), Some("run"));
        assert!(matches!(read(&["run", "-p", "doctor"]).unwrap().command, Some(Subcommands::Run(_))));
        assert!(read(&["-p", "doctor", "--no-such-flag"]).unwrap_err().contains("--no-such-flag"));
        assert!(read(&["-p", "--help"]).unwrap_err().contains("neco [OPTIONS]"));
        assert!(read(&["doctor"]).unwrap().command.is_some());
    }

    #[test]
    fn c_alone_continues_and_with_a_setting_sets() {
        for line in [&["-c"][..], &["-c", "-m", "x"], &["-cm", "x"], &["-c", "and the docs"], &["-c", "a b=c"]] {
            let line = read(line).unwrap();
            assert!(line.run.continue_latest && line.everywhere.overrides.is_empty(), "{line:?}");
        }
        assert_eq!(read(&["-c", "and the docs"]).unwrap().run.words, ["and the docs"]);
        assert_eq!(overrides(&["-c", "model=a/b", "-c", "agent.max_turns=3", "-m", "x"]).len(), 2);
        assert_eq!(overrides(&["-c", "agent.max_turns", "-m", "x"]), ["agent.max_turns"], "not a message");
        assert!(!read(&["-p", "--", "-c"]).unwrap().run.continue_latest, "behind -- everything is a message");
    }

    #[test]
    fn a_session_is_named_or_chosen() {
        let run = |words: &[&str]| match read(words).unwrap() {
            CommandLine { command: Some(Subcommands::Resume(args)), .. } => args.run,
            line => line.run,
        };
        for words in [&["--resume", "c41f"][..], &["-r", "c41f"], &["resume", "c41f"], &["resume", "--session", "c41f"]]
        {
            let run = run(words);
            assert_eq!((run.session.as_deref(), run.picks()), (Some("c41f"), false), "{words:?}");
        }
        for words in [&["--resume"][..], &["-r"], &["resume"], &["--resume", "-m", "x"]] {
            assert!(run(words).picks(), "{words:?}");
        }
        assert_eq!(run(&["-r", "c41f", "and", "the docs"]).message().as_deref(), Some("and the docs"));
        let last = run(&["resume", "--last", "and the docs"]);
        assert_eq!((last.continue_latest, last.message().as_deref()), (true, Some("and the docs")));
        for words in [&["resume", "the", "work"][..], &["--resume", "fix it"]] {
            assert!(read(words).unwrap_err().contains("is not the id of a session"), "{words:?}");
        }
        // So few characters may be a word: `neco -r add the docs` names no session.
        assert!(read(&["-r", "add", "the docs"]).unwrap_err().contains("four characters or more"));
        let told = read(&["-r", "zzzz", "-m", "say x"]).unwrap_err();
        assert!(told.contains("four characters or more") && !told.contains("--continue"), "{told}");
    }

    #[test]
    fn run_and_exec_are_requests() {
        for words in [&["run", "fix it"][..], &["exec", "fix it"], &["run", "-m", "fix it"]] {
            let Some(Subcommands::Run(run)) = read(words).unwrap().command else { panic!("{words:?}") };
            assert_eq!((run.message().as_deref(), run.print), (Some("fix it"), true));
        }
        assert!(read(&["run", "the", "tests"]).unwrap_err().contains("neco \"run the tests\""));
    }

    #[test]
    fn flags_of_other_agents_name_ours() {
        for (words, ours) in [
            (&["-p", "x", "--dangerously-skip-permissions"][..], "--yes"),
            (&["exec", "x", "--yolo"], "--yes"),
            (&["exec", "-a", "on-request", "x"], "--approval ask_first"),
            (&["-p", "x", "--api-key=sk-123"], "neco login PROVIDER"),
            (&["--worktree", "feature", "-p", "x"], "--worktree takes no name"),
            (&["--worktree", "feature"], "--worktree takes no name"),
            (&["--worktree", "feature", "fix the bug"], "--worktree takes no name"),
            (&["--worktree", "feature", "--yes", "fix the bug"], "--worktree takes no name"),
            (&["-p", "--worktree", "feature", "fix the bug"], "--worktree takes no name"),
            (&["-p", "fix the bug", "--worktree", "feature"], "--worktree takes no name"),
            (&["exec", "--worktree", "feature", "fix the bug"], "--worktree takes no name"),
            (&["--allowedTools", "-m", "x"], "--allow RULE"),
            (&["-p", "x", "--disallowedTools", "Read", "server__delete"], "--deny RULE"),
            (&["-s", "c41f", "-p", "x"], "--session ID"),
            (&["-p", "x", "--json"], "--output-format stream-json"),
            (&["--yolo"], "--sandbox full"),
            (&["--permission-mode=bypassPermissions"], "--mode plan"),
            (&["--permission-mode", "bypassPermissions", "-p", "x"], "--yes"),
            (&["--permission-mode", "dontAsk"], "takes plan, default or acceptEdits here"),
            (&["-s", "everything", "-p", "x"], "takes read-only, workspace-write or danger-full-access here"),
            (&["--ask-for-approval", "never"], "--approval"),
            (&["-p", "x", "--approval", "never"], "auto only about what is high risk"),
            (&["model", "set", "a/b"], "neco config set model"),
            (&["session", "list", "--yes"], "`neco session list` takes no --yes"),
            (&["-p", "x", "--max-turns", "0"], "at least 1"),
            (&["-C", "-m", "x"], "-c or --continue"),
        ] {
            let told = read(words).unwrap_err();
            assert!(told.contains(ours), "{told}");
            assert!(!told.contains("sk-123") && !told.contains("Usage"), "{told}");
        }
    }

    #[test]
    fn what_is_missing_or_no_number_is_told_in_a_sentence() {
        let told = read(&["session", "rm"]).unwrap_err();
        assert!(told.contains("`neco session rm` needs <ID>...; `neco session rm --help` explains it"), "{told}");
        let told = read(&["config", "set"]).unwrap_err();
        assert!(told.contains("`neco config set` needs <KEY> and <VALUE>"), "{told}");
        let told = read(&["session", "list", "--limit", "abc"]).unwrap_err();
        assert!(told.contains("--limit <N> takes a whole number") && !told.contains("digit"), "{told}");
    }

    #[test]
    fn a_misspelt_flag_is_told_by_the_nearest() {
        for (words, meant) in [
            (&["--modle", "x"][..], "'--model'"),
            (&["--mod", "plan"], "'--mode'"),
            (&["session", "list", "--limti", "3"], "'--limit'"),
        ] {
            let told = read(words).unwrap_err();
            assert!(told.contains(meant), "{words:?}: {told}");
        }
        assert!(!read(&["--zzzz"]).unwrap_err().contains("similar"));
    }

    #[test]
    fn flags_of_other_agents_that_say_the_same_are_taken() {
        for words in [
            &["-p", "x", "--allowedTools", "Bash(git log:*)", "Read", "-s", "read-only"][..],
            &["-p", "x", "--full-auto", "--verbose"],
            &["-p", "x", "--permission-mode", "acceptEdits", "--sandbox", "workspace-write"],
            &["--prompt", "x", "--sandbox=danger-full-access", "--approval", "ask-first"],
            &["exec", "--skip-git-repo-check", "-i", "a.png", "x", "--directory", "/tmp", "--max-budget-usd", "1"],
            &["exec", "resume", "--last", "x"],
            &["config", "list"],
            &["auth", "status"],
            &["agent", "list"],
            &["sessions", "list"],
            &["models"],
            &["models", "anthropic"],
            &["models", "show"],
            &["session", "delete", "c41f"],
            &["session", "resume", "--yes"],
            &["exec", "-s", "read_only", "x"],
            &["-p", "x", "--worktree", "explain"],
            &["-p", "--worktree", "explain"],
            &["--worktree", "fix", "the", "bug"],
            &["exec", "--json", "x"],
            &["exec", "resume", "--last", "--json", "x"],
            &["-p", "x", "--append-system-prompt", "be kind"],
        ] {
            assert!(read(words).is_ok(), "{words:?}: {:?}", read(words));
        }
        let Some(Subcommands::Resume(args)) = read(&["exec", "resume", "--last", "x"]).unwrap().command else {
            panic!()
        };
        assert!(args.run.print && args.run.continue_latest && args.run.words == ["x"], "{args:?}");
    }

    #[test]
    fn an_amount_below_zero_is_an_amount() {
        let told = read(&["-m", "x", "--max-cost", "-1"]).unwrap_err();
        assert!(told.contains("give an amount above 0"), "{told}");
    }
}
