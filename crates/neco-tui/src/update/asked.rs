//! The keys of questions.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::{ApprovalMode, Command, Decision, QuestionId, Reply};
use neco_view::ask::{Means, PlanMeans, Rule};

use super::effect::Effect;
use super::{silence, stopping};
use crate::app::{Place, Purpose, WindowState};
use crate::ask::{Asked, Esc, answer};
use crate::input::{Action, Edit, ViMode};
use crate::set_up::list;

/// Whoever typed so shortly before a question came is in the middle of a sentence, in milliseconds.
const WRITING_MS: i64 = 3000;

/// What is said of a key that nobody can have meant for the question.
const TOO_SOON: &str = "That key was ignored: the question had just appeared";

/// What a key means to the question on the screen; none when it is for the field. A question takes keys only once
/// it has been read, and none while the person writes: words never decide by their letters. Until then Esc stops the
/// work, as it does without a question.
pub(super) fn question_key(window: &mut WindowState, key: KeyEvent) -> Option<Vec<Effect>> {
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    if window.purpose != Purpose::Message || held || window.panels.help || window.prompt.completion.is_some() {
        return None;
    }
    let question = window.asking()?;
    if question_place(window) == Place::Field {
        if key.code == KeyCode::Esc && !window.facing.is_read(question, window.now_ms) {
            return too_soon(window, key, question);
        }
        return leave_field(window, key, question);
    }
    if window.desk.is_answered() {
        // What is written while the answer is on its way is written; a key that repeats the answer is not.
        if matches!(key.code, KeyCode::Char(_)) && !window.facing.just_answered(window.now_ms) {
            window.facing.go(question, Place::Field);
            return None;
        }
        return (key.code != KeyCode::Esc).then(Vec::new);
    }
    // Until it can be read that the keys are for the question again, Esc does what was read before: it goes there.
    if key.code == KeyCode::Esc && window.facing.was_just_given_back(question, window.now_ms) {
        window.facing.go(question, Place::Box);
        return Some(Vec::new());
    }
    let typed_ms = window.person.typed_ms;
    if !window.facing.takes_key(question, typed_ms, window.now_ms) {
        return too_soon(window, key, question);
    }
    // A word that was begun before the question could be read goes on.
    if let KeyCode::Char(letter) = key.code
        && let Some(before) = window.facing.held_before(question, letter, window.now_ms)
    {
        return write_on(window, before, question);
    }
    let meant = match window.desk.present()? {
        Asked::Approval(_) => approval_key(window, key, question),
        Asked::Choices(..) => choices_key(window, key),
        Asked::Plan(..) => plan_key(window, key, question),
        Asked::Loop(..) => loop_key(window, key),
        Asked::NoModel(_) => silence::no_model_key(window, key),
    };
    match (meant, key.code) {
        (Some(effects), _) => Some(answers(window, effects)),
        (None, KeyCode::Tab) => {
            window.facing.go(question, Place::Field);
            Some(Vec::new())
        }
        // Whoever looks at the keys is back at the question afterwards.
        (None, KeyCode::Char(_))
            if window.prompt.text.is_empty() && window.keymap.action(key) == Some(Action::Help) =>
        {
            None
        }
        (None, KeyCode::Char('0'..='9')) if window.prompt.text.is_empty() => Some(no_such_number(window)),
        // Whoever writes, writes.
        (
            None,
            KeyCode::Char(_) | KeyCode::Up | KeyCode::Down | KeyCode::Backspace | KeyCode::Left | KeyCode::Right,
        ) => {
            window.facing.go(question, Place::Field);
            None
        }
        (None, _) => None,
    }
}

/// What keys are for while a question waits: for what was begun, until the person says otherwise.
pub(crate) fn question_place(window: &WindowState) -> Place {
    let Some(question) = window.asking().filter(|_| !window.desk.wants_words()) else { return Place::Field };
    let writes = !window.prompt.text.is_empty() || window.prompt.vi_mode() == Some(ViMode::Normal);
    let goes_on = writes && window.facing.came_upon_words(question).unwrap_or_else(|| is_writing(window));
    let went = window.facing.place(question, writes, window.now_ms);
    went.unwrap_or(if goes_on { Place::Field } else { Place::Box })
}

/// Whether the person is in the middle of a sentence. What stands in the field since longer waits, as a draft does.
pub(crate) fn is_writing(window: &WindowState) -> bool {
    // Whoever has answered a question since then is at the questions.
    let typed = window.person.typed_ms.filter(|typed| window.facing.has_not_answered_since(*typed));
    let just_now = typed.is_some_and(|typed| window.now_ms - typed < WRITING_MS);
    just_now && (!window.prompt.text.is_empty() || window.prompt.vi_mode() == Some(ViMode::Normal))
}

/// Something was put into the field: the keys are for that now.
pub(super) fn go_to_field(window: &mut WindowState) {
    if let Some(question) = window.asking() {
        window.facing.go(question, Place::Field);
    }
}

/// What was being written for something else than the question is put away: the keys are for that now.
pub(super) fn go_to_box(window: &mut WindowState) -> Vec<Effect> {
    let Some(question) = window.asking() else { return Vec::new() };
    let is_read = window.facing.is_read(question, window.now_ms);
    window.facing.go(question, Place::Box);
    // Whoever wrote elsewhere has not read what came meanwhile.
    if !is_read {
        window.facing.unseen(window.now_ms);
    }
    if window.prompt.text.is_empty() {
        return Vec::new();
    }
    window.prompt.put_away();
    window.only_tell("Put away: Tab, then ↑ restores it")
}

/// A key was written where the name of a model goes: it is neither tried nor kept, and the list has the keys again.
pub(super) fn refuse_key(window: &mut WindowState) -> Vec<Effect> {
    window.prompt.forget();
    if let Some(question) = window.desk.front() {
        window.facing.go(question, Place::Box);
    }
    window.only_tell(list::NO_KEY)
}

/// A digit that is the number of no answer is no message.
fn no_such_number(window: &mut WindowState) -> Vec<Effect> {
    window.only_tell("No answer has that number; Tab goes to the field")
}

/// Esc in the field goes back to the question; where only words answer it, what is written goes first.
fn leave_field(window: &mut WindowState, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
    let puts_away = key.code == KeyCode::Esc && window.desk.wants_words() && !window.prompt.text.is_empty();
    if puts_away && window.prompt.vi_mode() != Some(ViMode::Insert) {
        window.prompt.put_away();
        let again = if window.set_up { "Esc again goes back" } else { "Esc again gives no answer" };
        return Some(window.only_tell(format!("↑ restores it   {again}")));
    }
    if key.code == KeyCode::Esc && window.desk.wants_words() && window.prompt.text.is_empty() {
        let effects = choices_key(window, key)?;
        return Some(answers(window, effects));
    }
    if key.code != KeyCode::Esc || window.prompt.vi_mode() == Some(ViMode::Insert) || window.desk.wants_words() {
        return None;
    }
    window.facing.go(question, Place::Box);
    Some(Vec::new())
}

/// A key that comes before the question could be read decides nothing and is no message; whoever writes a word
/// loses nothing of it, and whoever stops what works stops it.
fn too_soon(window: &mut WindowState, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
    if key.code == KeyCode::Esc && (window.shell.runs() || stopping::works(window)) {
        return None;
    }
    if let KeyCode::Char(letter) = key.code
        && !window.facing.just_answered(window.now_ms)
        && let Some(before) = window.facing.hold(question, letter, window.now_ms)
    {
        return write_on(window, before, question);
    }
    Some(window.only_tell(TOO_SOON))
}

/// The letter before this one was the beginning of a word.
fn write_on(window: &mut WindowState, before: char, question: u64) -> Option<Vec<Effect>> {
    window.facing.go(question, Place::Field);
    window.prompt.edit(Edit::Insert(before));
    None
}

/// Notes what was answered: the question takes no more keys.
pub(crate) fn answers(window: &mut WindowState, effects: Vec<Effect>) -> Vec<Effect> {
    for effect in &effects {
        if let Effect::Send(command @ (Command::Approve { .. } | Command::Answer { .. })) = effect {
            window.desk.answer(command);
            window.facing.answered(window.now_ms);
            window.word = None;
        }
    }
    effects
}

fn approval_key(window: &mut WindowState, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
    if let Some(armed) = window.facing.armed(question) {
        let is_word = window.facing.is_word(window.now_ms);
        window.facing.disarm();
        let Some(Asked::Approval(approval)) = window.desk.present() else { return None };
        let meant = if armed == Rule::Session { approval.for_session() } else { Means::Rule(armed) };
        // Arrows go on from it.
        if matches!(key.code, KeyCode::Up | KeyCode::Down) {
            approval.step(key.code == KeyCode::Down);
            return Some(Vec::new());
        }
        approval.go_back();
        match key.code {
            KeyCode::Enter => return decide(window, meant),
            // It was the beginning of a word.
            KeyCode::Char(_) if is_word => {
                window.prompt.edit(Edit::Insert(armed.letter()));
                return None;
            }
            // Another answer is taken instead.
            KeyCode::Char('y' | 'n' | 's' | 'a' | 'e' | 'd' | 'Y' | 'N' | '1'..='9') => {}
            KeyCode::Char(_) => return Some(window.only_tell("Nothing was answered: Enter confirms")),
            _ => return Some(Vec::new()),
        }
    }
    let esc = esc(window);
    let writes = !window.prompt.text.is_empty();
    let Some(Asked::Approval(approval)) = window.desk.present() else { return None };
    let means = match key.code {
        KeyCode::Up | KeyCode::Down => {
            approval.step(key.code == KeyCode::Down);
            return Some(Vec::new());
        }
        KeyCode::PageUp if approval.details.scroll(false) => return Some(Vec::new()),
        KeyCode::PageDown if approval.details.scroll(true) => return Some(Vec::new()),
        KeyCode::Left | KeyCode::Right => {
            window.desk.turn(key.code == KeyCode::Right);
            return Some(Vec::new());
        }
        // A draft stands in the field: Enter may be meant to send it.
        KeyCode::Enter if writes && !approval.is_gone_to() => {
            return Some(window.only_tell("Your draft waits: y or 1 answers, Tab goes to it"));
        }
        KeyCode::Enter => approval.chosen()?,
        KeyCode::Char(digit @ '1'..='9') => {
            let means = approval.numbered(digit.to_digit(10)? as usize)?;
            if let Some(rule) = means.rule() {
                approval.go_to(means);
                window.facing.arm(question, rule, None);
                return Some(Vec::new());
            }
            means
        }
        KeyCode::Char('y') => Means::Yes,
        // A rule holds for longer than the moment in which a letter is typed.
        KeyCode::Char(letter @ ('s' | 'a')) => {
            let rule = if letter == 's' { Rule::Session } else { Rule::Always };
            if approval.rule(rule).is_some() {
                let means = if rule == Rule::Session { approval.for_session() } else { Means::Rule(rule) };
                approval.go_to(means);
                window.facing.arm(question, rule, Some(window.now_ms));
            }
            return Some(Vec::new());
        }
        KeyCode::Char('e') => Means::Edit,
        KeyCode::Char('d') => {
            approval.toggle_details();
            return Some(Vec::new());
        }
        KeyCode::Char('Y') => Means::YesToNamed,
        KeyCode::Char('N') => Means::NoToAll,
        KeyCode::Char('n') => Means::No,
        // It goes back from all of it before it stops anything.
        KeyCode::Esc if approval.details.is_whole() => {
            approval.toggle_details();
            return Some(Vec::new());
        }
        KeyCode::Esc if esc == Esc::No => {
            return Some(vec![Effect::Send(approval.asked.decide(Decision::Reject { reason: None }))]);
        }
        _ => return None,
    };
    decide(window, means)
}

/// What Esc does while a request waits. What the person runs with `!` stops first. An agent asks while the root rests:
/// there is no work that it could stop, unless it was just offered to stop whoever still works. Otherwise it stops the
/// work, as it does without a question.
pub(crate) fn esc(window: &WindowState) -> Esc {
    match window.standing().works() {
        _ if window.shell.runs() => Esc::StopsShell,
        true if window.desk.is_of_child() => Esc::StopsRoot,
        true => Esc::StopsCall,
        false if stopping::offers_stop(window) => Esc::Pauses,
        false => Esc::No,
    }
}

/// Does what an answer to a request comes to.
fn decide(window: &mut WindowState, means: Means) -> Option<Vec<Effect>> {
    let Some(Asked::Approval(approval)) = window.desk.present() else { return None };
    let request = &approval.asked.request;
    Some(match means {
        Means::Yes => vec![Effect::Send(approval.asked.decide(approval.asked.yes()))],
        Means::YesToNamed if window.facing.named.is_empty() => {
            let why = window.desk.why_alone();
            window.only_tell(why)
        }
        Means::YesToNamed => window.desk.allow_named(&window.facing.named).into_iter().map(Effect::Send).collect(),
        Means::AcceptEdits => vec![
            Effect::Send(approval.asked.decide(approval.asked.yes())),
            Effect::Send(Command::SetApproval { approval: ApprovalMode::AcceptEdits }),
        ],
        Means::Rule(rule) => return make_rule(window, rule),
        Means::Edit => vec![Effect::EditCall(request.call_id.clone(), request.tool.clone(), request.args.clone())],
        Means::No => {
            window.purpose = Purpose::Reason(request.call_id.clone());
            Vec::new()
        }
        Means::NoToAll => window.desk.refuse_all().into_iter().map(Effect::Send).collect(),
    })
}

fn make_rule(window: &mut WindowState, rule: Rule) -> Option<Vec<Effect>> {
    let Some(Asked::Approval(approval)) = window.desk.present() else { return None };
    Some(approval.yes_always(rule).map(Effect::Send).into_iter().collect())
}

fn choices_key(window: &mut WindowState, key: KeyEvent) -> Option<Vec<Effect>> {
    let Some(Asked::Choices(id, choices)) = window.desk.present() else { return None };
    let id = *id;
    if key.code == KeyCode::Esc {
        let reply = choices.no_more().map_or(Reply::Dismiss, |answers| Reply::Choices { answers });
        return Some(vec![Effect::Send(answer(id, reply))]);
    }
    if choices.wants_words() {
        return None;
    }
    let answers = match key.code {
        KeyCode::Up | KeyCode::Down => {
            choices.step(key.code == KeyCode::Down);
            None
        }
        KeyCode::Char(' ') => {
            choices.mark();
            None
        }
        KeyCode::Left => {
            choices.back();
            None
        }
        // What none of the options says is written.
        KeyCode::Enter if choices.is_own_words() => return own_words(window),
        KeyCode::Char(digit @ '0'..='9') => {
            let number = digit.to_digit(10)? as usize;
            if !choices.has_number(number) {
                return Some(no_such_number(window));
            }
            let answers = choices.number(number);
            if choices.is_own_words() {
                return own_words(window);
            }
            answers
        }
        KeyCode::Enter => choices.choose(),
        _ => return None,
    };
    Some(answers.map(|answers| Effect::Send(answer(id, Reply::Choices { answers }))).into_iter().collect())
}

/// The field is for the answer.
fn own_words(window: &mut WindowState) -> Option<Vec<Effect>> {
    go_to_field(window);
    Some(Vec::new())
}

fn plan_key(window: &mut WindowState, key: KeyEvent, question: u64) -> Option<Vec<Effect>> {
    if let Some(armed) = window.facing.armed(question) {
        let is_word = window.facing.is_word(window.now_ms);
        window.facing.disarm();
        let Some(Asked::Plan(_, plan)) = window.desk.present() else { return None };
        match key.code {
            // Enter takes it, and arrows go on from it.
            KeyCode::Enter | KeyCode::Up | KeyCode::Down => {}
            // It was the beginning of a word.
            KeyCode::Char(_) if is_word => {
                plan.go_back();
                window.prompt.edit(Edit::Insert(armed.letter()));
                return None;
            }
            // Another answer is taken instead.
            KeyCode::Char(_) => plan.go_back(),
            _ => {
                plan.go_back();
                return Some(Vec::new());
            }
        }
    }
    let Some(Asked::Plan(id, plan)) = window.desk.present() else { return None };
    let id = *id;
    let means = match key.code {
        KeyCode::Up | KeyCode::Down => {
            plan.step(key.code == KeyCode::Down);
            return Some(Vec::new());
        }
        KeyCode::Char(digit @ '1'..='9') => {
            let answer = plan.answer(Some(digit.to_digit(10)? as usize))?;
            if answer.asks_less() {
                plan.go_to(answer.key);
                window.facing.arm(question, Rule::Session, None);
                return Some(Vec::new());
            }
            answer.means.clone()
        }
        KeyCode::Enter => plan.answer(None)?.means.clone(),
        KeyCode::PageUp | KeyCode::PageDown if plan.details.scroll(key.code == KeyCode::PageDown) => {
            return Some(Vec::new());
        }
        KeyCode::Char('d') if window.prompt.text.is_empty() => {
            plan.details.toggle();
            return Some(Vec::new());
        }
        // It goes back from all of it before it answers anything.
        KeyCode::Esc if plan.details.is_whole() => {
            plan.details.toggle();
            return Some(Vec::new());
        }
        // What asks less from then on takes Enter as well: a sentence may begin with its letter.
        KeyCode::Char(letter) if window.prompt.text.is_empty() && plan.go_to(letter) => {
            let answer = plan.answer(None)?;
            if answer.asks_less() {
                window.facing.arm(question, Rule::Session, Some(window.now_ms));
                return Some(Vec::new());
            }
            answer.means.clone()
        }
        KeyCode::Esc => PlanMeans::Send(Reply::DropPlan),
        _ => return None,
    };
    Some(match means {
        PlanMeans::Send(reply) => vec![Effect::Send(answer(id, reply))],
        PlanMeans::Revise => {
            window.purpose = Purpose::Revision(id);
            Vec::new()
        }
        PlanMeans::Edit => vec![Effect::EditPlan(id, plan.plan.clone())],
    })
}

/// A plan came back from the editor: what was changed is carried out, and what was not is asked about again.
pub(super) fn edited_plan(window: &mut WindowState, edited: QuestionId, text: String) -> Vec<Effect> {
    window.facing.unseen(window.now_ms);
    let before = match window.desk.present() {
        Some(Asked::Plan(id, plan)) if *id == edited => plan.plan.clone(),
        _ => {
            window.prompt.restore(&text, Vec::new());
            return window.only_tell("The plan was answered meanwhile; your text is in the field");
        }
    };
    if text.trim() == before.trim() || text.trim().is_empty() {
        return window.only_tell("The plan is as it was");
    }
    let reply = Reply::AcceptChangedPlan { plan: text };
    answers(window, vec![Effect::Send(answer(edited, reply))])
}

/// Whether what is written is the answer to the question on the screen: what was begun before it was there is not.
pub(crate) fn is_answer(window: &WindowState) -> bool {
    let Some(question) = window.asking() else { return false };
    let begun_before = window.facing.is_interrupted(question) && !window.set_up;
    window.desk.takes_words() && !window.desk.is_answered() && !begun_before
}

/// Words that were sent while a question waits answer it; none when they are a message.
pub(super) fn answer_in_words(window: &mut WindowState, text: &str) -> Option<Vec<Effect>> {
    match window.desk.present()? {
        Asked::Choices(id, choices) => {
            let id = *id;
            let answers = choices.words(text.to_owned());
            Some(answers.map(|answers| Effect::Send(answer(id, Reply::Choices { answers }))).into_iter().collect())
        }
        Asked::Plan(id, _) => Some(vec![Effect::Send(answer(*id, Reply::RevisePlan { comments: text.to_owned() }))]),
        Asked::Loop(id, _) => Some(vec![Effect::Send(answer(*id, Reply::GoOn { comments: Some(text.to_owned()) }))]),
        Asked::Approval(_) | Asked::NoModel(_) => None,
    }
}

/// Enter in an empty field leaves a question without an answer that only words can answer; none where it is for
/// something else.
pub(super) fn answer_with_nothing(window: &mut WindowState) -> Option<Vec<Effect>> {
    let question = window.asking().filter(|_| window.desk.wants_words() && !window.desk.is_answered())?;
    if window.purpose != Purpose::Message || window.set_up {
        return None;
    }
    if !window.facing.is_read(question, window.now_ms) {
        return Some(window.only_tell(TOO_SOON));
    }
    let Some(Asked::Choices(id, choices)) = window.desk.present() else { return None };
    let (id, given) = (*id, choices.nothing());
    let sent = given.map(|answers| Effect::Send(answer(id, Reply::Choices { answers })));
    Some(answers(window, sent.into_iter().collect()))
}

fn loop_key(window: &mut WindowState, key: KeyEvent) -> Option<Vec<Effect>> {
    let Some(Asked::Loop(id, repeats)) = window.desk.present() else { return None };
    let reply = match key.code {
        KeyCode::Up | KeyCode::Down => {
            repeats.step();
            return Some(Vec::new());
        }
        KeyCode::Enter => repeats.reply(None)?,
        KeyCode::Char(digit @ '1'..='9') => repeats.reply(Some(digit.to_digit(10)? as usize))?,
        KeyCode::Char('y') => Reply::GoOn { comments: None },
        KeyCode::Char('n') | KeyCode::Esc => Reply::Dismiss,
        _ => return None,
    };
    Some(vec![Effect::Send(answer(*id, reply))])
}
