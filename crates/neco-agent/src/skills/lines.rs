//! What a model is told of skills beforehand: a line for each, as many as there is room for, and the names of the rest.

use neco_model::tokens::{Family, estimate};

use super::shelf::SkillLine;

/// Characters of what is told of a skill.
const LONGEST: usize = 250;

/// Tokens of all lines, however big the window is.
const MOST: u64 = 4000;

/// Of the room this part is for lines; the rest is for names.
const OF_LINES: u64 = 75;

const HEAD: &str = "\nSkills are guides for a kind of task; activate one by its name before such a task:";

/// The lines for a model in `room` tokens; empty where there are no skills.
pub(crate) fn lines(skills: &[SkillLine], room: u64, family: Family) -> String {
    let room = room.min(MOST);
    if skills.is_empty() || room == 0 {
        return String::new();
    }
    let mut text = HEAD.to_owned();
    let mut taken = estimate(HEAD, family);
    let most_of_lines = room * OF_LINES / 100;
    // Where the lines of all fit, nobody has to be named only; those that fit for sure are written on the way.
    let (mut described, mut at_most) = (None, text.clone());
    for (at, skill) in skills.iter().enumerate() {
        let line = line(skill);
        let tokens = taken + estimate(&line, family);
        if tokens > most_of_lines && described.is_none() {
            described = Some((at, taken));
            text.clone_from(&at_most);
        }
        if tokens > room {
            let (at, taken) = described.unwrap_or((at, taken));
            let named: Vec<&SkillLine> = skills.iter().skip(at).collect();
            text.push_str(&names(&named, room.saturating_sub(taken), family));
            return text;
        }
        taken = tokens;
        at_most.push_str(&line);
    }
    at_most
}

/// A line for each skill in at most so many bytes, for a model that asks for all of them.
pub(crate) fn all_lines(skills: &[SkillLine], most: usize) -> String {
    let mut text = "There are these skills; activate one by its name:".to_owned();
    for (at, skill) in skills.iter().enumerate() {
        let line = line(skill);
        if text.len() + line.len() > most {
            text.push_str(&format!("\n[{} more are left out]", skills.len() - at));
            break;
        }
        text.push_str(&line);
    }
    text
}

/// The names of skills that there is no room to describe.
fn names(skills: &[&SkillLine], room: u64, family: Family) -> String {
    if skills.is_empty() {
        return String::new();
    }
    let mut text = "\n- by name only:".to_owned();
    let mut taken = estimate(&text, family) + 12;
    for (at, skill) in skills.iter().enumerate() {
        let name = format!(" {},", skill.name);
        taken += estimate(&name, family);
        if taken > room {
            let more = skills.len() - at;
            return format!("{} and {more} more; activate skills lists all", text.trim_end_matches(','));
        }
        text.push_str(&name);
    }
    text.trim_end_matches(',').to_owned()
}

fn line(skill: &SkillLine) -> String {
    let mut told: String = skill.description.chars().take(LONGEST).collect();
    if told.len() < skill.description.len() {
        told.push('…');
    }
    format!("\n- {}: {told}", skill.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skills(count: usize) -> Vec<SkillLine> {
        let skill = |number| SkillLine { name: format!("skill-{number}"), description: "Does a thing. ".repeat(9) };
        (0..count).map(skill).collect()
    }

    #[test]
    fn the_share_is_kept_and_the_last_are_only_named() {
        assert_eq!(lines(&[], 1000, Family::Other), "");
        assert_eq!(lines(&skills(3), 0, Family::Other), "");
        let few = lines(&skills(3), 1000, Family::Other);
        assert_eq!(few.matches("Does a thing").count(), 27, "{few}");
        for (count, room) in [(500, 4000), (500, 300), (40, 500), (500, u64::MAX)] {
            let text = lines(&skills(count), room, Family::Other);
            let tokens = estimate(&text, Family::Other);
            assert!(tokens <= room.min(MOST) + 20, "{count} in {room}: {tokens}");
            assert!(text.contains("- skill-0: Does") && text.contains("by name only"), "{text}");
        }
        let cut = lines(&skills(500), 300, Family::Other);
        assert!(cut.contains(" more; activate skills lists all"), "{cut}");
        assert!(!lines(&skills(3), 4000, Family::Other).contains("by name only"));
    }
}
