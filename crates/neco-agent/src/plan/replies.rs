//! What a person's answer means: whether it fits the question, and what the model reads of it.

use neco_proto::{ItemAnswer, QuestionItem, Reply, Subject};

/// Why a reply does not answer a question; the words are for the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each one is")]
pub enum ReplyError {
    #[error("a plan is sent back with comments: say what should be different")]
    NoComments,
    #[error("an empty plan can't be carried out; drop it instead")]
    EmptyPlan,
    #[error("the question wants choices, or to be dismissed")]
    WantsChoices,
    #[error("a plan is accepted, sent back or dropped")]
    WantsPlanDecision,
    #[error("the agent may go on, or stay stopped")]
    WantsGoOn,
    #[error("{questions} questions want one to {questions} answers, not {answers}")]
    Count { questions: usize, answers: usize },
    #[error("{0:?} is not on offer")]
    NotOnOffer(String),
    #[error("{0:?} wants one answer")]
    WantsOne(String),
}

/// Whether a reply answers such a question.
pub fn check_reply(subject: &Subject, reply: &Reply) -> Result<(), ReplyError> {
    match (subject, reply) {
        (Subject::Choices { items }, Reply::Choices { answers }) => check_answers(items, answers),
        (Subject::Plan { .. }, Reply::RevisePlan { comments }) if comments.trim().is_empty() => {
            Err(ReplyError::NoComments)
        }
        (Subject::Plan { .. }, Reply::AcceptChangedPlan { plan }) if plan.trim().is_empty() => {
            Err(ReplyError::EmptyPlan)
        }
        (Subject::Choices { .. } | Subject::Loop { .. }, Reply::Dismiss)
        | (
            Subject::Plan { .. },
            Reply::AcceptPlan { .. } | Reply::AcceptChangedPlan { .. } | Reply::RevisePlan { .. } | Reply::DropPlan,
        )
        | (Subject::Loop { .. }, Reply::GoOn { .. }) => Ok(()),
        (Subject::Choices { .. }, _) => Err(ReplyError::WantsChoices),
        (Subject::Plan { .. }, _) => Err(ReplyError::WantsPlanDecision),
        (Subject::Loop { .. }, _) => Err(ReplyError::WantsGoOn),
    }
}

fn check_answers(items: &[QuestionItem], answers: &[ItemAnswer]) -> Result<(), ReplyError> {
    if answers.is_empty() || answers.len() > items.len() {
        return Err(ReplyError::Count { questions: items.len(), answers: answers.len() });
    }
    for (item, answer) in items.iter().zip(answers) {
        if let Some(unknown) =
            answer.chosen.iter().find(|label| !item.options.iter().any(|option| option.label == **label))
        {
            return Err(ReplyError::NotOnOffer(unknown.clone()));
        }
        if answer.chosen.len() > 1 && !item.multiple {
            return Err(ReplyError::WantsOne(item.text.clone()));
        }
    }
    Ok(())
}

/// Answers as the model reads them.
pub fn answer_text(items: &[QuestionItem], answers: &[ItemAnswer]) -> String {
    let none = ItemAnswer::default();
    let answered = items.iter().zip(answers.iter().chain(std::iter::repeat(&none)));
    let lines: Vec<String> =
        answered.map(|(item, answer)| format!("{}\n→ {}", item.text.trim(), words(answer))).collect();
    format!("The user answered:\n{}", lines.join("\n"))
}

fn words(answer: &ItemAnswer) -> String {
    let text = answer.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    match (answer.chosen.is_empty(), text) {
        (true, None) => "(no answer; decide yourself and say what you assumed)".to_owned(),
        (true, Some(text)) => text.to_owned(),
        (false, None) => answer.chosen.join(", "),
        (false, Some(text)) => format!("{}; {text}", answer.chosen.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::QuestionOption;

    use super::*;

    fn item(multiple: bool) -> QuestionItem {
        let option = |label: &str| QuestionOption { label: label.to_owned(), description: String::new() };
        QuestionItem {
            title: String::new(),
            text: "Which?".to_owned(),
            options: vec![option("a"), option("b")],
            multiple,
            empty: Default::default(),
            field: None,
        }
    }

    fn chosen(labels: &[&str]) -> ItemAnswer {
        ItemAnswer { chosen: labels.iter().map(ToString::to_string).collect(), text: None }
    }

    #[test]
    fn who_answers_no_more_keeps_what_was_answered() {
        let items = vec![item(false), item(false)];
        let subject = Subject::Choices { items: items.clone() };
        let answers = vec![chosen(&["a"])];
        assert!(check_reply(&subject, &Reply::Choices { answers: answers.clone() }).is_ok());
        let told = answer_text(&items, &answers);
        assert!(told.contains("→ a") && told.ends_with("say what you assumed)"), "{told}");
    }

    #[test]
    fn only_what_is_on_offer_is_an_answer() {
        let check = |multiple, answers: Vec<ItemAnswer>| {
            check_reply(&Subject::Choices { items: vec![item(multiple)] }, &Reply::Choices { answers }).is_ok()
        };
        assert!(check(false, vec![chosen(&["a"])]) && check(true, vec![chosen(&["a", "b"])]));
        assert!(check(false, vec![ItemAnswer { chosen: Vec::new(), text: Some("c".to_owned()) }]));
        assert!(!check(false, vec![chosen(&["a", "b"])]) && !check(true, vec![chosen(&["c"])]));
        assert!(!check(false, Vec::new()) && !check(false, vec![chosen(&["a"]), chosen(&["a"])]));
    }

    #[test]
    fn a_reply_fits_its_question() {
        let plan = Subject::Plan { plan: String::new() };
        let circle = Subject::Loop { text: String::new() };
        let accept = Reply::AcceptPlan { approval: None, comments: None };
        let go_on = Reply::GoOn { comments: None };
        assert!(check_reply(&plan, &accept).is_ok() && check_reply(&circle, &accept).is_err());
        assert!(check_reply(&circle, &go_on).is_ok() && check_reply(&plan, &go_on).is_err());
        assert!(check_reply(&circle, &Reply::Dismiss).is_ok() && check_reply(&plan, &Reply::Dismiss).is_err());
        let revise = |comments: &str| check_reply(&plan, &Reply::RevisePlan { comments: comments.to_owned() });
        assert!(revise("smaller steps").is_ok() && revise(" ").is_err());
    }

    #[test]
    fn the_model_reads_question_and_answer() {
        let both = ItemAnswer { text: Some(" but soon ".to_owned()), ..chosen(&["b"]) };
        let text = answer_text(&[item(false), item(false)], &[both, ItemAnswer::default()]);
        assert_eq!(
            text,
            "The user answered:\nWhich?\n→ b; but soon\nWhich?\n→ (no answer; decide yourself and say what you assumed)"
        );
    }
}
