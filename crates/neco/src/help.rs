//! What `neco --help` teaches beyond the list of flags.

/// What `neco -h` and `neco --help` look like: what people do daily comes first.
pub const TEMPLATE: &str = "\
{about-with-newline}
  neco                             the window, in this folder
  neco \"fix the failing test\"      the same, with the first message
  neco -m \"why does it fail?\"      one request: answers and ends
  git diff | neco -p \"review\"      what is piped in is added
  neco -c                          continues the last session here
  neco resume                      continues one that you choose
  neco login openai                adds a key; neco doctor checks everything
  neco demo                        a whole task, offline, in a minute

{usage-heading} {usage}

{all-args}{after-help}";

/// After `neco -h`.
pub const SHORT: &str = "neco --help has all flags, examples, exit codes, variables and settings.";

/// Of `--tools` in `-h`.
pub const TOOLS_SHORT: &str = "Only these tools exist for the agent, separated by commas; --help names all";

/// Of `--tools` in `--help`.
pub const TOOLS: &str = "Only these tools exist for the agent, separated by commas; there are read_file, \
write_file, edit_file, apply_patch, delete_file, list_directory, glob, grep, bash, process, git, code_index, \
code_search, diagnostics, web_fetch, web_search, todo_write, ask_user, enter_plan_mode, exit_plan_mode, memory_store, \
memory_search, memory_get, task, spawn_agent, agent_message, agent_status, agent_wait, agent_cancel, report, \
complete_task, state_get, state_set, skill, workflow";

/// After `neco policy list --help`.
pub const POLICY_LIST: &str = "\
Later sources outrank earlier ones: built-in, user, project, command line, session. Within a source
the higher priority is looked at first; at the same priority deny beats ask beats allow. A project's
rules only narrow, and count only when the folder is trusted.
Rules are written in ~/.config/neco/policy/*.toml, under [[policy.rules]] in config.toml, and in
.neco/policy/*.toml of a project.";

/// After `neco policy explain --help`.
pub const POLICY_EXPLAIN: &str = "\
Examples:
  neco policy explain bash 'git log | head'
  neco policy explain bash '{\"command\": \"make\", \"cwd\": \"sub\"}' --approval auto
  neco policy explain read_file .env --no-person
  neco policy explain bash 'npm test' --allow 'bash(npm test *)'";

/// After `neco policy remove --help`.
pub const POLICY_REMOVE: &str = "\
Examples:
  neco policy remove          lists what was allowed with \"always\", numbered
  neco policy remove 2 3      deletes the second and the third
Rules that you wrote yourself are in your files; `neco policy list` says where.";

/// After `neco policy test --help`.
pub const POLICY_TEST: &str = "\
A file of cases:
  [[case]]
  tool = \"bash\"
  command = \"git push\"             # or args = { path = \"src/a.rs\" }
  expect = \"ask\"                   # allow, ask or deny
  approval = \"auto\"                # optional, as are mode, person and name";

/// After `neco --help`. No line is wider than a usual terminal: a line that is broken again looks torn.
pub const LONG: &str = "\
Examples:
  neco -m \"rename Foo to Bar\" --yes
      without being asked, except for what is high risk and for web pages
  neco -m \"how does login work?\" --mode ask
      a question; nothing is written or run
  neco -p \"why is it cut off?\" --file a.png --file log.txt
      with a picture, if the model sees any, and a file
  neco -c -m \"and now the docs\"
      continues the last session of this folder; --resume ID any other
  neco session rewind --to 3
      rewinds the last session to before your third message, files
      included, after showing what would change; --undo undoes it
  neco -m \"list the TODOs\" --output-format json | jq -r .result
  neco -m \"what is in here?\" --model ollama/qwen3:8b --tools read_file,grep
  neco -m \"think hard\" --model \"openai/gpt-5?reasoning=high\" --max-cost 0.50
  neco config set model deepseek/deepseek-chat
      writes a setting to your config.toml
  neco model test
      does the model answer, how fast, does it call tools?

Exit codes:
  0    done
  1    failed
  2    wrong usage or configuration
  3    done, but of the last calls that the model made one or more were
       refused, by policy, a hook or you, or for a path outside the
       workspace, or a hook ended the work; what was refused and then done
       another way does not count
  4    limit of turns, time or budget reached
  5    no model is set, it can't be reached, its key is missing or refused,
       rate limited, no credit left
  129  stopped because the terminal is gone (SIGHUP)
  130  cancelled (Ctrl-C once cancels, twice quits)
  141  the reader of the output left (neco … | head)
  143  stopped from outside (SIGTERM: kill, timeout)

Input:
  When stdin is a pipe or a file it is added to the message; without a
  message, or with `neco -`, it is the message. It is read to its end.
  Without a terminal, a pipe that stays open and silent for 10 minutes is an
  error: add </dev/null when nothing is piped in.
  Without a terminal, when CI is set, and with any --output-format but
  text, nobody is asked: what would be asked is refused; --yes allows
  it, except for what is high risk and, unless --network is given, for the web:
  --allow 'web_fetch(domain:docs.rs)' opens a host.

Output:
  On a terminal the model's words are shown as they come. When stdout is no
  terminal, only the answer goes there, once it is final; what the model says
  on the way goes to stderr with all the rest.
  json is one object, also when nothing could begin. stream-json is the
  session's log; when nothing could begin there is none, so stdout is empty
  and the exit code and stderr say why. claude-stream-json is what Claude
  Code prints, for programs that read that.

Models:
  --model takes provider/model or the name of a group. A model may have
  parameters behind it: provider/model?name=value&name=value (quote it for
  the shell). They are
    temperature  0 to 2          top_p  0 to 1          seed  a whole number
    max_tokens   the most that one answer may have
    reasoning    none, minimal, low, medium, high, xhigh or max
  --max-cost counts what has a known price; `neco model show` prints it, and
  [models.\"provider/model\"] sets it.

Keys:
  neco login openai
      saves a key, typed hidden or piped in, in ~/.config/neco/keys.toml;
      neco auth set openai --replace replaces the keys there are
  neco login github-copilot
      logs in with a browser
  neco auth list
      who has keys, and where; the first of configuration, environment,
      keys.toml and keyring is used
  neco auth remove openai 2
      deletes the second key; without a number, all of them

Environment:
  OPENAI_API_KEY, DEEPSEEK_API_KEY, …
      keys; `neco doctor` lists them all and which are set
  NECO_MODEL, NECO_AGENT__MAX_TURNS, …
      any setting, sections joined by two underscores
  AGENT_MODEL_PLANNER, AGENT_MODEL_CODER, …
      the model of agents of that name
  NECO_HOME
      folder of settings and sessions, instead of ~/.config/neco and
      ~/.local/share/neco
  NECO_LOG
      writes a log file, as --debug does: NECO_LOG=debug, NECO_LOG=trace,
      NECO_LOG=neco=info; requests, calls, retries and times are in it, words
      and keys are not
  NO_COLOR
      no colours
  VISUAL, EDITOR
      the editor that `e` opens when you are asked, and Ctrl-G in the window
  PAGER
      what `d` shows long changes in; less when it is there

Settings:
  ~/.config/neco/config.toml, then .neco/config.toml of the project, then its
  .agents/config.toml, then .neco/config.local.toml, then NECO_* variables,
  then -c key=value; later ones win. `neco config show --origin` prints every
  value and where it comes from.";

#[cfg(test)]
mod tests {
    use neco_model::route::Parameters;

    use super::*;
    use crate::exit::Exit;
    use crate::print::wrap::columns;
    use crate::signals::Signal;

    #[test]
    fn no_line_is_broken_again() {
        for line in LONG.lines().chain(SHORT.lines()).chain(TEMPLATE.lines()) {
            assert!(columns(line) < 80, "{line}");
        }
    }

    #[test]
    fn every_exit_code_is_named() {
        use Signal::{HangUp, Interrupt, Terminate};
        let signals = [HangUp, Interrupt, Terminate].map(Exit::Stopped);
        let others = [Exit::Done, Exit::Failed, Exit::Usage, Exit::Refused, Exit::Limit, Exit::Provider, Exit::Unread];
        let page = include_str!("../../../docs/reference/cli.md");
        for number in signals.into_iter().chain(others).map(Exit::number) {
            assert!(LONG.contains(&format!("\n  {number:<3}  ")), "{number} in the help");
            assert!(page.contains(&format!("\n| {number} | ")), "{number} in docs/reference/cli.md");
        }
    }

    #[test]
    fn every_parameter_of_a_model_is_named() {
        for name in Parameters::NAMES {
            assert!(LONG.contains(&format!(" {name}  ")), "{name}");
        }
    }
}
