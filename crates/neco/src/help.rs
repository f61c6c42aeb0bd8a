//! What `neco --help` teaches beyond the list of flags.

/// After `neco -h`.
pub const SHORT: &str = "\
Try:  neco demo                      a whole task, offline, in two seconds
      neco -m \"why does the build fail?\"
      neco --help                    examples, exit codes, variables, settings";

/// Of `--tools`.
pub const TOOLS: &str = "Only these tools exist for the agent, separated by commas; there are read_file, \
write_file, edit_file, list_directory, glob, grep, bash, process";

/// After `neco --help`.
pub const LONG: &str = "\
Examples:
  neco -m \"fix the failing test\"               one task; you are asked before files are written and
                                               commands are run
  neco -m \"rename Foo to Bar\" --yes            without being asked, except for what is critical
  neco -m \"how does login work?\" --mode ask    a question; nothing is written or run
  git diff | neco -m \"review this\"             stdin is added to the message
  neco -m \"and now the docs\" --continue        goes on with the last session of this folder
  neco -m \"list the TODOs\" --output-format json | jq -r .result
  neco -m \"what is in here?\" --model ollama/qwen3:8b --tools read_file,grep,glob
  neco model test                              does the model answer, how fast, does it call tools?
  neco demo                                    a whole task, offline, with a scripted model

Exit codes:
  0  done                                4  limit of turns or budget reached
  1  failed                              5  model unreachable, key missing or refused, rate limited
  2  wrong usage or configuration        130  cancelled (Ctrl-C once cancels, twice quits)
  3  done, but refused: of the last      141  the reader of the output left (neco … | head)
     calls that the model made, one or
     more were refused by policy or by
     you. What was refused and then
     done another way does not count.

Input:
  When stdin is a pipe or a file it is added to the message; without a message, or with `neco -`, it
  is the message. It is read to its end. Without a terminal, a pipe that stays open and silent for
  10 minutes is an error: add </dev/null when nothing is piped in.
  Without a terminal, when CI is set, and with --output-format json or stream-json, nobody is asked:
  what would be asked is refused; --yes allows it.

Output:
  On a terminal the model's words are shown as they come. When stdout is no terminal, only the answer
  goes there, once it is final; what the model says on the way goes to stderr with all the rest.
  json is one object, also when nothing could begin. stream-json is the session's log; when nothing
  could begin there is none, so stdout is empty and the exit code and stderr say why.

Keys:
  neco auth set openai             keeps a key, typed unseen or piped in, in ~/.config/neco/keys.toml
  neco auth login github-copilot   logs in with a browser
  neco auth list                   who has keys, and where; the first of configuration, environment,
                                   keys.toml and keyring counts

Environment:
  OPENAI_API_KEY, DEEPSEEK_API_KEY, …  keys; `neco doctor` lists them all and which are set
  NECO_MODEL, NECO_AGENT__MAX_TURNS, … any setting, sections joined by two underscores
  NECO_HOME   folder of settings and sessions, instead of ~/.config/neco and ~/.local/share/neco
  NECO_LOG    writes a log file, as --debug does: NECO_LOG=debug, NECO_LOG=trace, NECO_LOG=neco=info;
              requests, calls, retries and times are in it, words and keys are not
  NO_COLOR    no colours
  VISUAL, EDITOR   the editor that `e` opens when you are asked
  PAGER            what `d` shows long changes in; less when it is there

Settings:
  ~/.config/neco/config.toml, then .neco/config.toml of the project, then its .agents/config.toml,
  then .neco/config.local.toml, then NECO_* variables, then -c key=value; later ones win. `neco config show --origin` prints
  every value and where it comes from.";
