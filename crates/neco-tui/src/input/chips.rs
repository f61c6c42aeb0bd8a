//! Big pastes and pictures stand in the text as a word; pastes are put back when it is sent.

use neco_proto::Attachment;

/// A paste with more lines is folded.
const LINES: usize = 8;

/// A paste with more characters is folded.
const CHARACTERS: usize = 800;

/// The pastes and pictures of one message.
#[derive(Clone, Debug, Default)]
pub struct Chips {
    pasted: Vec<(String, String)>,
    pictures: Vec<(String, Attachment)>,
}

impl Chips {
    /// What stands in the text for `paste`: itself when it is short.
    pub fn fold(&mut self, paste: &str) -> String {
        if paste.lines().count() <= LINES && paste.chars().count() <= CHARACTERS {
            return paste.to_owned();
        }
        self.fold_all(paste)
    }

    /// The same, however short it is.
    pub fn fold_all(&mut self, paste: &str) -> String {
        let lines = paste.lines().count();
        let chip = format!("[paste {}: {lines} lines]", self.pasted.len() + 1);
        self.pasted.push((chip.clone(), paste.to_owned()));
        chip
    }

    /// What stands in the text for a picture.
    pub fn picture(&mut self, picture: Attachment) -> String {
        let chip = format!("[image {}]", self.pictures.len() + 1);
        self.pictures.push((chip.clone(), picture));
        chip
    }

    /// Whether `text` begins with a paste.
    pub fn begins(&self, text: &str) -> bool {
        self.pasted.iter().any(|(chip, _)| text.starts_with(chip.as_str()))
    }

    /// A text that was sent with pictures, with chips that stand for them again.
    pub fn restore(&mut self, text: &str, pictures: Vec<Attachment>) -> String {
        let mut done = String::new();
        let mut rest = text;
        for picture in pictures {
            let chip = self.picture(picture);
            match image_chip(rest) {
                Some((before, after)) => {
                    done.push_str(before);
                    done.push_str(&chip);
                    rest = after;
                }
                None => {
                    done.push_str(rest);
                    done.push_str(&format!(" {chip}"));
                    rest = "";
                }
            }
        }
        done + rest
    }

    /// The chip that `text` ends with.
    pub fn at_end_of(&self, text: &str) -> Option<&str> {
        let chips = self.pasted.iter().map(|(chip, _)| chip).chain(self.pictures.iter().map(|(chip, _)| chip));
        chips.map(String::as_str).find(|chip| text.ends_with(chip))
    }

    /// What was pasted and stands in the text as a chip.
    pub fn pastes<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let pasted = self.pasted.iter().filter(move |(chip, _)| text.contains(chip.as_str()));
        pasted.map(|(_, paste)| paste.as_str())
    }

    /// The text with every paste in its place, and the pictures it still names; all are forgotten.
    pub fn unfold(&mut self, text: &str) -> (String, Vec<Attachment>) {
        let pictures = self.pictures.drain(..).filter(|(chip, _)| text.contains(chip.as_str()));
        let pictures = pictures.map(|(_, picture)| picture).collect();
        let text = self.unfolded(text);
        self.pasted.clear();
        (text, pictures)
    }

    /// The text with every paste in its place.
    pub fn unfolded(&self, text: &str) -> String {
        let unfold = |text: String, (chip, paste): &(String, String)| text.replacen(chip, paste, 1);
        self.pasted.iter().fold(text.to_owned(), unfold)
    }
}

/// What stands before and behind the first chip of a picture.
fn image_chip(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find("[image ")?;
        let digits = text.get(at + "[image ".len()..)?;
        let rest = digits.trim_start_matches(|char: char| char.is_ascii_digit());
        match rest.strip_prefix(']').filter(|_| rest.len() < digits.len()) {
            Some(after) => return Some((text.get(..at)?, after)),
            None => from = at + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_big_paste_is_a_word_until_it_is_sent() {
        let mut chips = Chips::default();
        let paste = "line\n".repeat(20);
        assert_eq!(chips.fold("short"), "short");
        let chip = chips.fold(&paste);
        assert_eq!(chip, "[paste 1: 20 lines]");
        let picture = Attachment::Image { media_type: "image/png".into(), data: "AA==".into() };
        assert_eq!(chips.picture(picture.clone()), "[image 1]");
        assert_eq!(chips.picture(picture.clone()), "[image 2]");
        assert_eq!(chips.at_end_of("see [image 2]"), Some("[image 2]"));
        let (text, pictures) = chips.unfold(&format!("look: {chip}! [image 2]"));
        assert_eq!(text, format!("look: {paste}! [image 2]"));
        assert_eq!(pictures, std::slice::from_ref(&picture));
        // It comes back beside another one.
        assert_eq!(chips.picture(picture.clone()), "[image 1]");
        assert_eq!(chips.restore("see [image x] [image 7] now", vec![picture.clone()]), "see [image x] [image 2] now");
        assert_eq!(chips.restore("no name", vec![picture.clone()]), "no name [image 3]");
        assert_eq!(chips.unfold("[image 2][image 3]").1.len(), 2);
    }
}
