//! The page: head, contents, what happened, foot.

use jiff::Timestamp;
use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NotificationLevel};
use neco_proto::{Message, Part};

use super::page::Page;
use super::prose::prose;
use super::{asides, card, style};
use crate::figures;
use crate::paint::document::{self, DocumentPainter, Head, LastPlan, Progress};
use crate::reduce::block::{BlockBody, Said};
use crate::reduce::{Outline, Seen};

/// Lines of a person's message that are shown before the rest is folded.
const LINES: usize = 18;

/// A session as an HTML page.
#[derive(Debug, Default)]
pub struct Html {
    page: Page,
    so_far: Progress,
    day: Option<jiff::civil::Date>,
}

impl DocumentPainter for Html {
    fn head(&mut self, head: &Head<'_>) -> String {
        let (page, outline, title) = (&mut self.page, head.outline, head.title());
        self.so_far.last_todos = outline.last_todos;
        page.tag("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
            .element("<meta http-equiv=\"Content-Security-Policy\" content=\"", &style::policy(), "\">\n")
            .tag("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
            .tag("<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"robots\" content=\"noindex\">\n")
            .tag("<meta name=\"color-scheme\" content=\"light dark\">\n")
            .element("<title>", title, "</title>\n")
            .tag(style::STYLE)
            .tag("\n</head>\n<body>\n")
            .tag(if outline.asked.len() > 1 { "<div class=\"page\">\n" } else { "<div class=\"page alone\">\n" })
            .element("<header class=\"about\"><h1 dir=\"auto\">", title, "</h1><dl>");
        for (name, value) in head.facts() {
            page.element("<dt>", name, "</dt>").element("<dd>", &value, "</dd>");
        }
        page.tag("</dl></header>\n");
        contents(page, outline);
        page.tag("<main class=\"log\">\n").take()
    }

    fn block(&mut self, seen: &Seen<'_>) -> String {
        self.new_day(document::at(seen));
        match &seen.block.body {
            BlockBody::Message(said) if self.so_far.below => return self.told(&said.text),
            BlockBody::Message(said) => self.person(seen, said),
            BlockBody::Thinking(written) => {
                self.model(seen);
                let begin =
                    "<details class=\"fold thoughts\"><summary>Thoughts</summary><div class=\"words\" dir=\"auto\">";
                self.page.element(begin, written.text.trim(), "</div></details></article>\n");
            }
            BlockBody::Answer(written) if written.over => {
                self.model(seen);
                self.page.tag("<div class=\"prose\">");
                prose(&mut self.page, &written.text);
                self.page.tag("</div>");
                pictures(&mut self.page, seen.message);
                self.page.tag("</article>\n");
            }
            BlockBody::Answer(written) => {
                self.page.tag("<article class=\"said model\"><div class=\"prose\">");
                prose(&mut self.page, &written.text);
                let end =
                    "</div></article><div class=\"note warning\"><span>!</span><span>Not finished.</span></div>\n";
                self.page.tag(end);
            }
            BlockBody::Call(call) => card::card(&mut self.page, seen, call),
            BlockBody::Question(asked) => asides::question(&mut self.page, asked),
            BlockBody::Todos(update) => {
                asides::todos(&mut self.page, update, self.so_far.last_todos == Some(seen.block.seq));
            }
            BlockBody::Plan(planned) => {
                let changed = self.so_far.plan.changed(planned);
                asides::plan(&mut self.page, changed, &planned.found);
            }
            BlockBody::Error(error) => {
                let begin = "<div class=\"note error\"><span>✗</span><span dir=\"auto\">";
                self.page.element(begin, &error.message, "");
                self.page.element(" (", &error.code.to_string(), ")</span></div>\n");
            }
            BlockBody::End(end) => {
                self.page.element("<div class=\"done\">", &document::end(end), "</div>\n");
            }
            body => {
                if let Some((level, text)) = document::line(body) {
                    asides::line(&mut self.page, body, level, &text);
                }
            }
        }
        self.page.take()
    }

    fn note(&mut self, level: NotificationLevel, text: &str) -> String {
        asides::note(&mut self.page, level, text);
        self.page.take()
    }

    fn told(&mut self, text: &str) -> String {
        let mut lines = text.trim().lines();
        let first = lines.next().unwrap_or_default();
        if lines.next().is_none() {
            return self.note(NotificationLevel::Info, first);
        }
        self.page
            .element("<details class=\"fold\"><summary dir=\"auto\">", first, "</summary>")
            .element("<div class=\"words soft\" dir=\"auto\">", text.trim(), "</div></details>\n")
            .take()
    }

    fn taken_back(&mut self, messages: u64) -> String {
        self.so_far.speaker = None;
        let begin = "<details class=\"undone\"><summary>Removed by a rewind · ";
        self.page.element(begin, &figures::count(messages, "message"), "</summary>\n").take()
    }

    fn agent(&mut self, node: &AgentNode, is_first: bool) -> String {
        (self.so_far.below, self.day, self.so_far.plan) = (true, None, LastPlan::default());
        let facts = [Some(node.state.to_string()), figures::usage(&node.usage)];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        self.page
            .tag(if is_first { "<h2 class=\"agents\" id=\"agents\">Agents</h2>\n" } else { "" })
            .element("<details class=\"agent\" id=\"a", &node.id.to_string(), "\"><summary>")
            .element("<span class=\"name\">", &node.name, "</span>")
            .element("<span class=\"task\" dir=\"auto\">", &clean_line(&node.task_for_people()), "</span>")
            .element("<span class=\"facts\">", &facts.join(" · "), "</span></summary>\n")
            .take()
    }

    fn close(&mut self) -> String {
        self.so_far.speaker = None;
        "</details>\n".to_owned()
    }

    fn foot(&mut self, outline: &Outline) -> String {
        let page = &mut self.page;
        page.tag("</main>\n<footer class=\"foot\">");
        if outline.models.len() > 1 {
            page.tag("<div class=\"wide\"><table><tr><th>Model</th><th>Used</th></tr>");
            for (model, usage) in &outline.models {
                page.element("<tr><td>", model, "</td>");
                page.element("<td>", &figures::usage(usage).unwrap_or_default(), "</td></tr>");
            }
            page.tag("</table></div>");
        }
        page.tag("Exported by Neco. Times are in UTC.</footer>\n</div>\n</body>\n</html>\n").take()
    }
}

impl Html {
    /// What the person says: as it was typed.
    fn person(&mut self, seen: &Seen<'_>, said: &Said) {
        self.so_far.number += 1;
        self.so_far.speaker = None;
        let (page, seq) = (&mut self.page, seen.block.seq.to_string());
        page.element("<article class=\"said person\" id=\"e", &seq, "\"><header><b>You</b>")
            .element("<a class=\"soft\" href=\"#e", &seq, "\">#")
            .element("", &self.so_far.number.to_string(), "</a>");
        time(page, document::at(seen));
        page.tag("</header>");
        words(page, &said.text);
        pictures(page, seen.message);
        page.tag("</article>\n");
    }

    /// Begins words of the model, with its name where that is not plain from what stands above.
    fn model(&mut self, seen: &Seen<'_>) {
        let Some(name) = self.so_far.new_speaker(seen) else {
            self.page.tag("<article class=\"said model follows\">");
            return;
        };
        self.page.element("<article class=\"said model\"><header><b>", name, "</b>");
        time(&mut self.page, document::at(seen));
        self.page.tag("</header>");
    }

    fn new_day(&mut self, at: Timestamp) {
        let day = at.to_zoned(jiff::tz::TimeZone::UTC).date();
        let before = self.day.replace(day);
        if before.is_some_and(|before| before != day) {
            self.page.element("<div class=\"day\">", &day.to_string(), "</div>\n");
        }
    }
}

fn contents(page: &mut Page, outline: &Outline) {
    if outline.asked.len() < 2 {
        return;
    }
    let gone = outline.taken_back();
    page.tag("<nav class=\"contents\"><details open><summary>What was asked</summary><ol>\n");
    for (asked, number) in outline.asked.iter().zip(1_u64..) {
        let begin = match gone.iter().any(|range| range.contains(&asked.seq)) {
            true => "<span class=\"gone\" dir=\"auto\">",
            false => "<span dir=\"auto\">",
        };
        let text = if asked.text.is_empty() { "(a picture)" } else { &asked.text };
        page.element("<li><a href=\"#e", &asked.seq.to_string(), "\"><span>")
            .element("", &number.to_string(), "</span>")
            .element(begin, text, "</span></a></li>\n");
    }
    if !outline.agents.is_empty() {
        let agents = figures::count(outline.agents.len() as u64, "agent");
        page.element("<li><a href=\"#agents\"><span>⤷</span><span>", &agents, "</span></a></li>\n");
    }
    page.tag("</ol></details></nav>\n");
}

/// A moment of the day.
fn time(page: &mut Page, at: Timestamp) {
    let clock = at.strftime("%H:%M:%S").to_string();
    page.element("<time datetime=\"", &at.to_string(), "\">").element("", &clock, "</time>");
}

/// Text as it was typed; what is long is folded behind its beginning.
fn words(page: &mut Page, text: &str) {
    let text = text.trim_end();
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= LINES + LINES / 3 {
        page.element("<div class=\"words\" dir=\"auto\">", text, "</div>");
        return;
    }
    let (beginning, rest) = lines.split_at(LINES);
    let more = figures::count(rest.len() as u64, "more line");
    page.element("<div class=\"words\" dir=\"auto\">", &beginning.join("\n"), "</div>")
        .element("<details class=\"fold\"><summary>", &more, "</summary>")
        .element("<div class=\"words\" dir=\"auto\">", &rest.join("\n"), "</div></details>");
}

fn pictures(page: &mut Page, message: Option<&Message>) {
    for part in message.iter().flat_map(|message| &message.parts) {
        if let Part::Image { media_type, data } = part {
            picture(page, media_type, data);
        }
    }
}

/// A picture of a kind that browsers draw and that can hold no script.
fn picture(page: &mut Page, media_type: &str, data: &str) {
    let begin = match media_type {
        "image/png" => "<img class=\"picture\" alt=\"picture\" src=\"data:image/png;base64,",
        "image/jpeg" => "<img class=\"picture\" alt=\"picture\" src=\"data:image/jpeg;base64,",
        "image/gif" => "<img class=\"picture\" alt=\"picture\" src=\"data:image/gif;base64,",
        "image/webp" => "<img class=\"picture\" alt=\"picture\" src=\"data:image/webp;base64,",
        _ => {
            page.element("<p class=\"soft\">[picture, ", media_type, "]</p>");
            return;
        }
    };
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if data.is_empty() || !data.bytes().all(is_base64) {
        page.element("<p class=\"soft\">[picture, ", media_type, ", not readable]</p>");
        return;
    }
    page.element(begin, data, "\">");
}
