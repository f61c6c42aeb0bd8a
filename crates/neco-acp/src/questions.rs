//! Questions that wait for the person: what no form and no choice has answered, their next message does.

use neco_proto::visible::{visible, visible_line};
use neco_proto::{Attachment, Command, ItemAnswer, Question, QuestionId, QuestionItem, QuestionOption, Reply, Subject};

use crate::permission::{Asked, LATER, choice, replied};
use crate::prompt::Said;

/// A question that waits for the person, and all that they have answered of it.
pub(crate) struct OpenQuestion {
    question: Question,
    /// Of what is to be known, in order, what is known.
    parts: Vec<Part>,
    /// Pictures that came with answers.
    pictures: Vec<Attachment>,
}

/// One thing that is to be known.
#[derive(Clone)]
enum Part {
    /// Its choices are shown, or will be.
    Open,
    /// It is left to the person's next message.
    Left,
    /// This option was chosen, or none.
    Chosen(Option<String>),
    /// This was written.
    Written(ItemAnswer),
}

/// How a question goes on.
pub(crate) enum Next {
    /// The choices of this round are shown.
    Round(usize),
    /// The rest comes with the person's next message, which this asks for.
    Words(String),
    /// Everything is known.
    Whole(Command),
}

/// What a message comes to that answers a question.
pub(crate) enum Answered {
    /// Something else is to be known, which this asks for.
    Asks(String),
    /// Everything is known; an answer has no place for these pictures.
    Whole(Command, Vec<Attachment>),
}

impl OpenQuestion {
    pub fn new(question: Question) -> Self {
        let part = |item: &QuestionItem| if item.options.is_empty() { Part::Left } else { Part::Open };
        let parts = match &question.subject {
            Subject::Choices { items } => items.iter().map(part).collect(),
            Subject::Plan { .. } | Subject::Loop { .. } => vec![Part::Open],
        };
        Self { question, parts, pictures: Vec::new() }
    }

    pub fn id(&self) -> QuestionId {
        self.question.question_id
    }

    /// What waits for the person.
    pub fn asked(&self) -> Asked {
        Asked::Question(self.question.clone())
    }

    /// What the person chose in a round; whether that was still open.
    pub fn choose(&mut self, round: usize, chosen: Option<String>) -> bool {
        match self.parts.get_mut(round) {
            Some(part) if matches!(part, Part::Open) => {
                *part = if chosen.as_deref() == Some(LATER) { Part::Left } else { Part::Chosen(chosen) };
                true
            }
            _ => false,
        }
    }

    /// How it goes on.
    pub fn next(&self) -> Next {
        if let Some(round) = self.parts.iter().position(|part| matches!(part, Part::Open)) {
            return Next::Round(round);
        }
        match self.parts.iter().any(|part| matches!(part, Part::Left)) {
            true => Next::Words(self.words()),
            false => Next::Whole(self.reply(self.known(&self.parts))),
        }
    }

    /// Asks for what is to be known next.
    fn words(&self) -> String {
        match &self.question.subject {
            Subject::Choices { items } => {
                let mut parts = items.iter().zip(&self.parts);
                let Some((item, _)) = parts.find(|(_, part)| matches!(part, Part::Left)) else {
                    return "Your next message is the answer.".to_owned();
                };
                let options: String = item.options.iter().map(listed).collect();
                format!("{}{options}\n\nYour next message is the answer.", visible(&item.text))
            }
            Subject::Plan { .. } => "Your next message says what to change in the plan.".to_owned(),
            Subject::Loop { .. } => "Your next message is the answer.".to_owned(),
        }
    }

    /// The person has said this to it: that answers the first thing that is open, and the others are asked for in
    /// words. Where everything is known, nothing is kept of it, as the session may refuse the answer.
    pub fn write(&mut self, said: &Said) -> Answered {
        let words = match said.whole() {
            words if words.trim().is_empty() && !said.pictures.is_empty() => "(pictures)".to_owned(),
            words => words,
        };
        let pictures: Vec<Attachment> = self.pictures.iter().chain(&said.pictures).cloned().collect();
        let reply = match &self.question.subject {
            Subject::Choices { items } => {
                let is_open = |part: &Part| matches!(part, Part::Open | Part::Left);
                let mut parts = self.parts.clone();
                let mut open = items.iter().zip(&mut parts).filter(|(_, part)| is_open(part));
                if let Some((item, first)) = open.next() {
                    *first = Part::Written(written(item, &words));
                }
                let mut is_whole = true;
                for (_, part) in open {
                    *part = Part::Left;
                    is_whole = false;
                }
                if !is_whole {
                    (self.parts, self.pictures) = (parts, pictures);
                    return Answered::Asks(self.words());
                }
                self.known(&parts)
            }
            Subject::Plan { .. } => Reply::RevisePlan { comments: words },
            Subject::Loop { .. } => Reply::GoOn { comments: Some(words) },
        };
        Answered::Whole(self.reply(reply), pictures)
    }

    /// The person wants something else instead.
    pub fn dismissed(&self) -> Command {
        self.reply(match self.question.subject {
            Subject::Choices { .. } | Subject::Loop { .. } => Reply::Dismiss,
            Subject::Plan { .. } => Reply::DropPlan,
        })
    }

    /// The answer that these parts are.
    fn known(&self, parts: &[Part]) -> Reply {
        let subject = &self.question.subject;
        let Subject::Choices { items } = subject else {
            let chosen = parts.first().and_then(|part| match part {
                Part::Chosen(chosen) => chosen.as_deref(),
                Part::Open | Part::Left | Part::Written(_) => None,
            });
            return replied(subject, chosen, &[]);
        };
        let answer = |(item, part): (&QuestionItem, &Part)| match part {
            Part::Chosen(chosen) => choice(item, chosen.as_deref()),
            Part::Written(answer) => answer.clone(),
            Part::Open | Part::Left => ItemAnswer::default(),
        };
        let answers: Vec<ItemAnswer> = items.iter().zip(parts).map(answer).collect();
        let is_answered = answers.iter().any(|answer| *answer != ItemAnswer::default());
        if is_answered { Reply::Choices { answers } } else { Reply::Dismiss }
    }

    fn reply(&self, reply: Reply) -> Command {
        Command::Answer { question_id: self.id(), reply }
    }
}

/// An option of a list.
fn listed(option: &QuestionOption) -> String {
    let about = visible_line(&option.description);
    let about = if about.is_empty() { String::new() } else { format!(": {about}") };
    format!("\n- {}{about}", visible_line(&option.label))
}

/// The answer that words are: an option, or what stands there.
fn written(item: &QuestionItem, words: &str) -> ItemAnswer {
    let words = words.trim();
    match item.options.iter().find(|option| option.label.eq_ignore_ascii_case(words)) {
        Some(option) => ItemAnswer { chosen: vec![option.label.clone()], text: None },
        None => ItemAnswer { chosen: Vec::new(), text: Some(words.to_owned()) },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn open(subject: serde_json::Value) -> OpenQuestion {
        let mut question = subject;
        question["question_id"] = json!("0199a1b2-0000-7000-8000-000000000001");
        OpenQuestion::new(serde_json::from_value(question).unwrap())
    }

    fn said(words: &str) -> Said {
        Said { words: words.to_owned(), ..Said::default() }
    }

    #[test]
    fn what_is_left_open_is_asked_one_after_the_other_and_nothing_is_lost() {
        let store = json!({ "text": "Which store?", "options": [{ "label": "SQLite" }, { "label": "None" }] });
        let mut open =
            open(json!({ "about": "choices", "items": [store, { "text": "Its name?" }, { "text": "Why?" }] }));
        assert!(matches!(open.next(), Next::Round(0)));
        assert!(open.choose(0, Some("1".to_owned())));
        let Next::Words(words) = open.next() else { panic!() };
        assert_eq!(words, "Its name?\n\nYour next message is the answer.");
        let picture = Attachment::Image { media_type: "image/png".to_owned(), data: "x".to_owned() };
        let Answered::Asks(words) = open.write(&Said { pictures: vec![picture.clone()], ..said("neco") }) else {
            panic!()
        };
        assert!(words.starts_with("Why?"), "{words}");
        let Answered::Whole(Command::Answer { reply: Reply::Choices { answers }, .. }, pictures) =
            open.write(&said("It is a cat."))
        else {
            panic!()
        };
        let text = |text: &str| ItemAnswer { chosen: Vec::new(), text: Some(text.to_owned()) };
        assert_eq!(answers[0].chosen, ["None"]);
        assert_eq!((&answers[1..], pictures), (&[text("neco"), text("It is a cat.")][..], vec![picture]));
    }

    #[test]
    fn the_words_of_an_option_choose_it() {
        let store = json!({ "text": "Which?", "options": [{ "label": "SQLite", "description": "one file" }] });
        let mut open = open(json!({ "about": "choices", "items": [store] }));
        assert!(open.choose(0, Some(LATER.to_owned())));
        assert_eq!(open.words(), "Which?\n- SQLite: one file\n\nYour next message is the answer.");
        let Answered::Whole(Command::Answer { reply, .. }, _) = open.write(&said(" sqlite\n")) else { panic!() };
        let chosen = ItemAnswer { chosen: vec!["SQLite".to_owned()], text: None };
        assert_eq!(reply, Reply::Choices { answers: vec![chosen] });
    }

    #[test]
    fn words_fill_what_is_open_and_what_was_chosen_stays() {
        let store = json!({ "text": "Which?", "options": [{ "label": "SQLite" }, { "label": "None" }] });
        let sure = json!({ "text": "Sure?", "options": [{ "label": "Yes" }] });
        let mut open = open(json!({ "about": "choices", "items": [store, sure, { "text": "Why?" }] }));
        assert!(open.choose(0, Some("1".to_owned())));
        let Answered::Asks(words) = open.write(&said("hardly")) else { panic!() };
        assert!(words.starts_with("Why?"), "{words}");
        assert!(!open.choose(1, Some("0".to_owned())), "the choices are taken back");
        for _ in 0..2 {
            // One that the session refuses leaves everything as it was.
            let Answered::Whole(Command::Answer { reply: Reply::Choices { answers }, .. }, _) =
                open.write(&said("It is a cat."))
            else {
                panic!()
            };
            assert_eq!(answers[0].chosen, ["None"]);
            let written: Vec<_> = answers[1..].iter().map(|answer| answer.text.as_deref()).collect();
            assert_eq!(written, [Some("hardly"), Some("It is a cat.")]);
        }
    }

    #[test]
    fn pictures_alone_are_words_too() {
        let picture = Attachment::Image { media_type: "image/png".to_owned(), data: "x".to_owned() };
        let said = Said { pictures: vec![picture], ..said(" ") };
        let mut plan = open(json!({ "about": "plan", "plan": "x" }));
        let Answered::Whole(Command::Answer { reply, .. }, pictures) = plan.write(&said) else { panic!() };
        assert_eq!((reply, pictures.len()), (Reply::RevisePlan { comments: "(pictures)".to_owned() }, 1));
    }

    #[test]
    fn a_plan_is_sent_back_and_an_agent_goes_on_with_what_is_said() {
        for (subject, words, reply) in [
            (json!({ "about": "plan", "plan": "x" }), "smaller", Reply::RevisePlan { comments: "smaller".to_owned() }),
            (json!({ "about": "loop", "text": "x" }), "try b", Reply::GoOn { comments: Some("try b".to_owned()) }),
        ] {
            let Answered::Whole(Command::Answer { reply: told, .. }, _) = open(subject).write(&said(words)) else {
                panic!()
            };
            assert_eq!(told, reply);
        }
    }
}
