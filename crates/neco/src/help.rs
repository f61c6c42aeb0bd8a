//! What `neco --help` teaches beyond the list of flags.

/// After `neco -h`.
pub const SHORT: &str = "\
Try:  neco demo                      a whole task, offline, in two seconds
      neco -m \"why does the build fail?\"
      neco --help                    examples, exit codes, variables, settings";

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
  neco demo                                    a whole task, offline, with a scripted model

Exit codes:
  0  done                                4  limit of turns or budget reached
  1  failed                              5  model unreachable, key missing or refused, rate limited
  2  wrong usage or configuration        130  cancelled (Ctrl-C once cancels, twice quits)
  3  stopped by policy or by your rejection

Input:
  When stdin is a pipe or a file it is added to the message; without a message it is the message.
  When no terminal is there and a pipe stays silent for 5 seconds, Neco goes on without it.
  Without a terminal, or when CI is set, nobody can be asked: what would be asked is refused.

Environment:
  OPENAI_API_KEY, DEEPSEEK_API_KEY, …  keys; `neco doctor` lists them all and which are set
  NECO_MODEL, NECO_AGENT__MAX_TURNS, … any setting, sections joined by two underscores
  NECO_HOME   folder of settings and sessions, instead of ~/.config/neco and ~/.local/share/neco
  NECO_LOG    writes a log file, such as NECO_LOG=debug or NECO_LOG=neco_model=trace
  NO_COLOR    no colours
  VISUAL, EDITOR   the editor that `e` opens when you are asked

Settings:
  ~/.config/neco/config.toml, then .neco/config.toml of the project, then .neco/config.local.toml,
  then NECO_* variables, then -c key=value; later ones win. `neco config show --origin` prints
  every value and where it comes from.";
