//! What an agent wants to know, as a form, for editors that show forms.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema as acp;
use neco_proto::visible::{visible, visible_line};
use neco_proto::{ItemAnswer, QuestionItem, Reply};

/// The form for what is to be known.
pub(crate) fn form(
    session: &acp::SessionId,
    call: acp::ToolCallId,
    items: &[QuestionItem],
) -> acp::CreateElicitationRequest {
    let words: Vec<String> = items.iter().map(|item| visible(&item.text)).collect();
    let field = |schema: acp::ElicitationSchema, (at, item): (usize, &QuestionItem)| {
        let schema = schema.property(name(at), property(item), false);
        let other = acp::StringPropertySchema::new().title("Or another answer".to_owned());
        if item.options.is_empty() { schema } else { schema.property(other_name(at), other, false) }
    };
    let schema = items.iter().enumerate().fold(acp::ElicitationSchema::new(), field);
    let scope = acp::ElicitationSessionScope::new(session.clone()).tool_call_id(call);
    acp::CreateElicitationRequest::new(acp::ElicitationFormMode::new(scope, schema), words.join("\n"))
}

fn name(at: usize) -> String {
    format!("answer_{}", at + 1)
}

/// The field for what no option says.
fn other_name(at: usize) -> String {
    format!("{}_other", name(at))
}

fn property(item: &QuestionItem) -> acp::ElicitationPropertySchema {
    let title = if item.title.is_empty() { visible_line(&item.text) } else { visible_line(&item.title) };
    let about = Some(visible(&item.text)).filter(|_| !item.title.is_empty());
    let option = |option: &neco_proto::QuestionOption| {
        let about = Some(visible_line(&option.description)).filter(|about| !about.is_empty());
        acp::EnumOption::new(option.label.clone(), visible_line(&option.label)).description(about)
    };
    let options: Vec<acp::EnumOption> = item.options.iter().map(option).collect();
    match (options.is_empty(), item.multiple) {
        (true, _) => acp::StringPropertySchema::new().title(title).description(about).into(),
        (false, false) => acp::StringPropertySchema::new().title(title).description(about).one_of(options).into(),
        (false, true) => acp::MultiSelectPropertySchema::titled(options).title(title).description(about).into(),
    }
}

/// What the person answered.
pub(crate) fn reply(items: &[QuestionItem], answer: acp::CreateElicitationResponse) -> Reply {
    let content = match answer.action {
        acp::ElicitationAction::Accept(accepted) => accepted.content.unwrap_or_default(),
        _ => return Reply::Dismiss,
    };
    let answers = items.iter().enumerate().map(|(at, item)| answered(item, &content, at)).collect();
    Reply::Choices { answers }
}

fn answered(item: &QuestionItem, content: &BTreeMap<String, acp::ElicitationContentValue>, at: usize) -> ItemAnswer {
    let words = |name: String| match content.get(&name) {
        Some(acp::ElicitationContentValue::String(one)) => vec![one.clone()],
        Some(acp::ElicitationContentValue::StringArray(several)) => several.clone(),
        Some(acp::ElicitationContentValue::Integer(number)) => vec![number.to_string()],
        Some(acp::ElicitationContentValue::Number(number)) => vec![number.to_string()],
        Some(acp::ElicitationContentValue::Boolean(is)) => vec![is.to_string()],
        _ => Vec::new(),
    };
    let words = words(name(at)).into_iter().chain(words(other_name(at))).filter(|word| !word.trim().is_empty());
    let (chosen, written): (Vec<_>, Vec<_>) =
        words.partition(|word| item.options.iter().any(|option| option.label == *word));
    ItemAnswer { chosen, text: written.into_iter().next() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_has_a_field_for_each_question_and_brings_the_answers() {
        let items: Vec<QuestionItem> = serde_json::from_value(json!([
            { "title": "Store", "text": "Which store?", "options": [{ "label": "SQLite", "description": "one file" }, { "label": "None" }] },
            { "text": "And the name?" },
        ]))
        .unwrap();
        let form = serde_json::to_value(form(&"s".into(), "c".into(), &items)).unwrap();
        let fields = &form["requestedSchema"]["properties"];
        assert_eq!(fields["answer_1"]["oneOf"][0]["const"], "SQLite", "{form}");
        assert_eq!((&form["sessionId"], &fields["answer_2"]["type"]), (&json!("s"), &json!("string")), "{form}");
        assert_eq!(
            (&fields["answer_1_other"]["type"], fields.get("answer_2_other")),
            (&json!("string"), None),
            "{form}"
        );
        let other = json!({ "action": "accept", "content": { "answer_1_other": "MariaDB" } });
        let Reply::Choices { answers } = reply(&items, serde_json::from_value(other).unwrap()) else { panic!() };
        assert_eq!((answers[0].chosen.len(), answers[0].text.as_deref()), (0, Some("MariaDB")));
        let answer = json!({ "action": "accept", "content": { "answer_1": "None", "answer_2": "neco" } });
        let Reply::Choices { answers } = reply(&items, serde_json::from_value(answer).unwrap()) else { panic!() };
        assert_eq!(
            (answers[0].chosen.as_slice(), answers[1].text.as_deref()),
            (&["None".to_owned()][..], Some("neco"))
        );
        assert_eq!(reply(&items, serde_json::from_value(json!({ "action": "decline" })).unwrap()), Reply::Dismiss);
    }
}
