//! What a model would be told, as text.

use std::fmt::Write;

use neco_proto::clean::clean;
use neco_proto::{ContextReport, LayerSize, Message, Part, PromptReport, Role};

use crate::figures;
use crate::wording::layers::name;
use crate::wording::notices;

/// What stands for a model where none is configured.
const NO_MODEL: &str = "no/model";

/// Everything, part by part under headings.
pub fn whole(report: &PromptReport) -> String {
    let mut text = sizes(&report.context);
    for layer in &report.system {
        let size = report.context.layers.iter().find(|size| size.layer == layer.layer);
        let tokens = size.map_or(0, |size| size.tokens);
        let _ = writeln!(text, "\n=== {} · {} ===\n{}", name(layer.layer), tokens_in_words(tokens), clean(&layer.text));
    }
    for tool in &report.tools {
        let (name, tokens) = (clean(&tool.name), tokens_in_words(tool.tokens));
        let _ = writeln!(text, "\n=== tool {name} · {tokens} ===\n{}\n{}", clean(&tool.description), tool.schema);
    }
    for (message, size) in report.messages.iter().zip(&report.context.messages) {
        let tokens = tokens_in_words(size.tokens);
        let _ = writeln!(text, "\n=== {} · {tokens} ===\n{}", role(message.role), clean(&spoken(message)));
    }
    text
}

/// A table: which part, how many tokens, which share.
pub fn sizes(context: &ContextReport) -> String {
    let model = if context.model == NO_MODEL { "none is configured".to_owned() } else { clean(&context.model) };
    let mut text = format!("model: {model}\n");
    if let Some(window) = context.window {
        let compact_at = context.compact_at.map(|at| format!(", compacted at {}", figures::tokens(at)));
        let _ = writeln!(
            text,
            "window: {} tokens, {} of them for the answer{}",
            figures::tokens(window),
            figures::tokens(context.reserve),
            compact_at.unwrap_or_default()
        );
        notices::unknown_window(context).iter().for_each(|words| text.push_str(&format!("{words}\n")));
    }
    let _ = writeln!(text, "\n{:<14} {:>8} {:>7}", "part", "tokens", "share");
    let tools = context.tools.tokens as f64 * 100.0 / context.tokens.max(1) as f64;
    let _ =
        writeln!(text, "{:<14} {:>8} {tools:>6.1}%", figures::count(context.tools.count, "tool"), context.tools.tokens);
    let more = notices::of_servers(&context.tools).chain(notices::looked_up(&context.tools));
    more.for_each(|words| text.push_str(&format!("  {words}\n")));
    for LayerSize { layer, tokens, share, notes } in &context.layers {
        let layer = name(*layer);
        let _ = writeln!(text, "{layer:<14} {tokens:>8} {share:>6.1}%");
        notes.iter().for_each(|note| text.push_str(&format!("  {}\n", clean(note))));
    }
    let _ = writeln!(text, "{:<14} {:>8}", "together", context.tokens);
    context.given.iter().for_each(|used| text.push_str(&format!("{}\n", notices::given(used))));
    text.push_str(&fits(context));
    text
}

/// How full the window is with it.
fn fits(context: &ContextReport) -> String {
    let Some(window) = context.window else { return String::new() };
    let usable = window.saturating_sub(context.reserve);
    let share = context.tokens as f64 * 100.0 / usable.max(1) as f64;
    let room = figures::tokens(usable);
    if context.tokens < usable {
        return format!("{:<14} {:>8} {share:>6.1}% of the {room} beside the answer\n", "", "");
    }
    format!(
        "\nThis does not fit: {room} tokens are left beside the answer. Fewer tools (--tools …), a lower tool level \
         (--gen 1) or a model with a bigger window make it fit.\n"
    )
}

fn tokens_in_words(tokens: u64) -> String {
    figures::count(tokens, "token")
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "results",
    }
}

fn spoken(message: &Message) -> String {
    let part = |part: &Part| match part {
        Part::Text { text } | Part::Reasoning { text, .. } => text.clone(),
        Part::Image { media_type, .. } => format!("[picture, {media_type}]"),
        Part::ToolCall(call) => format!("[call {}] {}", call.name, call.arguments),
        Part::ToolResult(result) => format!("[result]\n{}", result.output),
    };
    message.parts.iter().map(part).collect::<Vec<_>>().join("\n")
}
