//! Questions that an editor has no form for: what a choice does not answer, the person's next message does.

use neco_proto::visible::{visible, visible_line};
use neco_proto::{Attachment, Command, ItemAnswer, Question, QuestionId, QuestionItem, QuestionOption, Reply, Subject};

use crate::permission::{LATER, choice};
use crate::prompt::Said;

/// A question that waits for the person, and what they have answered of it.
pub(crate) struct OpenQuestion {
    question: Question,
    /// Of what is to be known, in order, what is known.
    answers: Vec<Option<ItemAnswer>>,
    /// Pictures that came with answers.
    pictures: Vec<Attachment>,
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
        let count = match &question.subject {
            Subject::Choices { items } => items.len(),
            Subject::Plan { .. } | Subject::Loop { .. } => 0,
        };
        Self { question, answers: vec![None; count], pictures: Vec::new() }
    }

    pub fn id(&self) -> QuestionId {
        self.question.question_id
    }

    /// What the person chose of each thing that is to be known.
    pub fn choose(&mut self, chosen: &[Option<String>]) {
        let Subject::Choices { items } = &self.question.subject else { return };
        let answer = |(item, chosen): (&QuestionItem, &Option<String>)| match chosen.as_deref() {
            Some(LATER) => None,
            chosen => Some(choice(item, chosen)),
        };
        self.answers = items.iter().zip(chosen).map(answer).collect();
    }

    /// Asks for what is to be known next.
    pub fn words(&self) -> String {
        match (&self.question.subject, self.next()) {
            (Subject::Choices { .. }, Some(item)) => {
                let options: String = item.options.iter().map(listed).collect();
                format!("{}{options}\n\nYour next message is the answer.", visible(&item.text))
            }
            (Subject::Plan { .. }, _) => "Your next message says what to change in the plan.".to_owned(),
            (Subject::Choices { .. } | Subject::Loop { .. }, _) => "Your next message is the answer.".to_owned(),
        }
    }

    fn next(&self) -> Option<&QuestionItem> {
        let Subject::Choices { items } = &self.question.subject else { return None };
        items.iter().zip(&self.answers).find(|(_, answer)| answer.is_none()).map(|(item, _)| item)
    }

    /// The person has said this to it.
    pub fn write(&mut self, said: Said) -> Answered {
        let words = said.whole();
        self.pictures.extend(said.pictures);
        let answer = self.next().map(|item| written(item, &words));
        if let (Some(answer), Some(open)) = (answer, self.answers.iter_mut().find(|answer| answer.is_none())) {
            *open = Some(answer);
        }
        if self.next().is_some() {
            return Answered::Asks(self.words());
        }
        let reply = match &self.question.subject {
            Subject::Choices { .. } => Reply::Choices {
                answers: self.answers.iter().map(|answer| answer.clone().unwrap_or_default()).collect(),
            },
            Subject::Plan { .. } => Reply::RevisePlan { comments: words },
            Subject::Loop { .. } => Reply::GoOn { comments: Some(words) },
        };
        Answered::Whole(self.reply(reply), std::mem::take(&mut self.pictures))
    }

    /// The person wants something else instead.
    pub fn dismissed(&self) -> Command {
        self.reply(match self.question.subject {
            Subject::Choices { .. } | Subject::Loop { .. } => Reply::Dismiss,
            Subject::Plan { .. } => Reply::DropPlan,
        })
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
        let later = || Some(LATER.to_owned());
        open.choose(&[Some("1".to_owned()), later(), later()]);
        assert_eq!(open.words(), "Its name?\n\nYour next message is the answer.");
        let picture = Attachment::Image { media_type: "image/png".to_owned(), data: "x".to_owned() };
        let Answered::Asks(words) = open.write(Said { pictures: vec![picture.clone()], ..said("neco") }) else {
            panic!()
        };
        assert!(words.starts_with("Why?"), "{words}");
        let Answered::Whole(Command::Answer { reply: Reply::Choices { answers }, .. }, pictures) =
            open.write(said("It is a cat."))
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
        assert_eq!(open.words(), "Which?\n- SQLite: one file\n\nYour next message is the answer.");
        let Answered::Whole(Command::Answer { reply, .. }, _) = open.write(said(" sqlite\n")) else { panic!() };
        let chosen = ItemAnswer { chosen: vec!["SQLite".to_owned()], text: None };
        assert_eq!(reply, Reply::Choices { answers: vec![chosen] });
    }

    #[test]
    fn a_plan_is_sent_back_and_an_agent_goes_on_with_what_is_said() {
        for (subject, words, reply) in [
            (json!({ "about": "plan", "plan": "x" }), "smaller", Reply::RevisePlan { comments: "smaller".to_owned() }),
            (json!({ "about": "loop", "text": "x" }), "try b", Reply::GoOn { comments: Some("try b".to_owned()) }),
        ] {
            let Answered::Whole(Command::Answer { reply: told, .. }, _) = open(subject).write(said(words)) else {
                panic!()
            };
            assert_eq!(told, reply);
        }
    }
}
