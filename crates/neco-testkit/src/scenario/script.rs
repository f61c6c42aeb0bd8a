//! What the model will answer: the lines of a script block.
//!
//! `say TEXT` (`\n` in it begins a line), `call TOOL JSON`, `raw TOOL TEXT` (arguments that are no JSON), `empty` and
//! `fault STATUS [SECONDS]` open a turn. `also TOOL JSON`, `saying TEXT`, `think TEXT`, `id ID`,
//! `drop N`, `break N`, `stall N`, `finish REASON`, `usage IN OUT`, `expect JSON` and `repeat N` belong to the turn before them.
//! `agent ROLE [WORDS OF ITS TASK]` begins the part of an agent below the root; `*` is any role.

use neco_model::scripted::{AgentPart, Fault, Script, ScriptCall, ScriptUsage, Turn};

/// The script of a block.
///
/// # Errors
/// The line that is wrong.
pub(super) fn compile(lines: &str) -> Result<Script, String> {
    let mut parts: Vec<(Option<&str>, Vec<&str>)> = vec![(None, Vec::new())];
    for line in lines.lines() {
        match (line.trim().strip_prefix("agent "), parts.last_mut()) {
            (Some(whose), _) => parts.push((Some(whose.trim()), Vec::new())),
            (None, Some((_, part))) => part.push(line),
            (None, None) => {}
        }
    }
    let mut script = Script::new();
    for (whose, part) in parts {
        let turns = compile_part(&part.join("\n"))?;
        match whose {
            None => script = turns,
            Some(whose) => {
                let (role, task) = whose.split_once(' ').unwrap_or((whose, ""));
                let given = |text: &str| (!text.trim().is_empty() && text != "*").then(|| text.trim().to_owned());
                script.agents.push(AgentPart { role: given(role), task: given(task), turns: turns.turns });
            }
        }
    }
    Ok(script)
}

fn compile_part(lines: &str) -> Result<Script, String> {
    let mut script = Script::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        script = match word {
            "say" => script.say(rest.replace("\\n", "\n")),
            "call" => {
                let (name, arguments) = call(rest)?;
                script.call(name, arguments)
            }
            "raw" => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let call = ScriptCall {
                    arguments_raw: Some(text.to_owned()),
                    ..ScriptCall::new(name, serde_json::Value::Null)
                };
                script.turn(Turn { calls: vec![call], ..Turn::default() })
            }
            "empty" => script.fault(Fault::Empty),
            "fault" => script.fault(status(rest)?),
            _ => {
                change(&mut script, word, rest)?;
                script
            }
        };
    }
    Ok(script)
}

fn change(script: &mut Script, word: &str, rest: &str) -> Result<(), String> {
    let turn = script.turns.last_mut().ok_or_else(|| format!("{word:?} belongs to no turn"))?;
    match word {
        "also" => {
            let (name, arguments) = call(rest)?;
            turn.calls.push(ScriptCall::new(name, arguments));
        }
        "saying" => rest.clone_into(&mut turn.say),
        "think" => rest.clone_into(&mut turn.reasoning),
        "id" => {
            let call = turn.calls.last_mut().ok_or("an id without a call")?;
            call.id = Some((!rest.is_empty()).then(|| rest.to_owned()));
        }
        "drop" => turn.fault = Some(Fault::DropAfter(number(rest)?)),
        "break" => turn.fault = Some(Fault::ErrorAfter(number(rest)?)),
        "stall" => turn.fault = Some(Fault::StallAfter(number(rest)?)),
        "usage" => {
            let (input, output) = rest.split_once(' ').unwrap_or((rest, "0"));
            turn.usage = Some(ScriptUsage { input: number(input)?, output: number(output)?, ..ScriptUsage::default() });
        }
        "repeat" => turn.repeat = Some(number(rest)?),
        "finish" => turn.finish = Some(json(&format!("{rest:?}"))?),
        "expect" => turn.expect = Some(json(rest)?),
        _ => return Err(format!("a script has no {word:?}")),
    }
    Ok(())
}

fn call(rest: &str) -> Result<(&str, serde_json::Value), String> {
    let (name, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
    Ok((name, json(arguments)?))
}

fn status(rest: &str) -> Result<Fault, String> {
    let (code, seconds) = rest.split_once(' ').unwrap_or((rest, ""));
    let retry_after = if seconds.is_empty() { None } else { Some(number(seconds)?) };
    Ok(Fault::Status { code: number(code)?, retry_after, message: None })
}

fn json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("{text}: {error}"))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a number"))
}
