//! Pictures that go with a message.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use neco_proto::Attachment;
use neco_proto::app::AppError;
use neco_toolkit::picture::{MOST_BYTES, media_type, points_shown};

use crate::error::invalid;

/// The most of all of them: they are sent again with every turn.
const MOST_IN_ALL: usize = 20 * 1024 * 1024;

/// The pictures in these files, as a message carries them.
///
/// # Errors
/// When one can't be read, is none, or is too big.
pub fn attachments(files: &[PathBuf]) -> Result<Vec<Attachment>, AppError> {
    together(files.iter().map(|file| picture(file)).collect::<Result<_, _>>()?)
}

/// Pictures that were sent in base64, each with what it is called, as a message carries them.
///
/// # Errors
/// When one is none, or too big.
pub fn sent(pictures: Vec<(String, String)>) -> Result<Vec<Attachment>, AppError> {
    // What is too big, alone or with the others, is not decoded first.
    for (shown, data) in &pictures {
        if least(data) as u64 > MOST_BYTES {
            return Err(too_big(shown));
        }
    }
    check_all(pictures.iter().map(|(_, data)| least(data)).sum())?;
    let picture = |(shown, data): (String, String)| -> Result<(&'static str, Vec<u8>), AppError> {
        let bytes = STANDARD.decode(data).map_err(|error| invalid(format!("{shown} is damaged: {error}")))?;
        Ok((checked(&bytes, &shown)?, bytes))
    };
    together(pictures.into_iter().map(picture).collect::<Result<_, _>>()?)
}

/// The least that base64 of this length has of bytes.
fn least(data: &str) -> usize {
    (data.len() / 4 * 3).saturating_sub(2)
}

fn together(pictures: Vec<(&'static str, Vec<u8>)>) -> Result<Vec<Attachment>, AppError> {
    check_all(pictures.iter().map(|(_, bytes)| bytes.len()).sum())?;
    Ok(pictures.iter().map(|(media_type, bytes)| image(media_type, bytes)).collect())
}

/// Fails where pictures have more bytes than all of them may have.
fn check_all(bytes: usize) -> Result<(), AppError> {
    if bytes > MOST_IN_ALL {
        let (all, most) = (megabytes(bytes as u64), megabytes(MOST_IN_ALL as u64));
        return Err(invalid(format!("the pictures have {all} MB together; {most} MB is the most")));
    }
    Ok(())
}

/// The picture that `bytes` are, as a message carries it; `shown` is what it is called.
///
/// # Errors
/// When it is none, or too big.
pub fn attachment(bytes: &[u8], shown: &str) -> Result<Attachment, AppError> {
    Ok(image(checked(bytes, shown)?, bytes))
}

fn image(media_type: &str, bytes: &[u8]) -> Attachment {
    Attachment::Image { media_type: media_type.to_owned(), data: STANDARD.encode(bytes) }
}

fn picture(file: &Path) -> Result<(&'static str, Vec<u8>), AppError> {
    let shown = file.display();
    let unreadable = |error: std::io::Error| invalid(format!("the picture {shown} can't be read: {error}"));
    let facts = std::fs::metadata(file).map_err(unreadable)?;
    // A pipe could keep us waiting for ever.
    if !facts.is_file() {
        return Err(invalid(format!("{shown} is not a file")));
    }
    let bigger = |size: u64| {
        let (size, most) = (megabytes(size), megabytes(MOST_BYTES));
        invalid(format!("the picture {shown} has {size} MB; {most} MB is the most"))
            .hint("Make it smaller: models scale pictures down to about 1500 pixels anyway.")
    };
    if facts.len() > MOST_BYTES {
        return Err(bigger(facts.len()));
    }
    let mut bytes = Vec::new();
    let file = File::open(file).map_err(unreadable)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    // It may have grown meanwhile.
    if bytes.len() as u64 > MOST_BYTES {
        return Err(bigger(bytes.len() as u64));
    }
    Ok((checked(&bytes, &shown.to_string())?, bytes))
}

/// What kind of picture `bytes` are, if models take it.
fn checked(bytes: &[u8], shown: &str) -> Result<&'static str, AppError> {
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_big(shown));
    }
    let none = || invalid(format!("{shown} is no picture that models take: PNG, JPEG, WebP or GIF"));
    let media_type = media_type(bytes).ok_or_else(none)?;
    // With a damaged one the vendor would refuse every later request too.
    points_shown(media_type, bytes).map_err(|why| invalid(format!("{shown} is a picture ({media_type}) {why}")))?;
    Ok(media_type)
}

fn too_big(shown: &str) -> AppError {
    invalid(format!("{shown} has more than {} MB", megabytes(MOST_BYTES)))
}

fn megabytes(bytes: u64) -> String {
    let tenths = (bytes * 10).div_ceil(1024 * 1024);
    if tenths.is_multiple_of(10) { (tenths / 10).to_string() } else { format!("{}.{}", tenths / 10, tenths % 10) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        std::fs::write(&file, bytes).unwrap();
        attachments(&[file]).unwrap_err().message
    }

    #[test]
    fn a_picture_is_known_by_its_bytes() {
        let table: [(&[u8], Option<&str>); 8] = [
            (b"\x89PNG\r\n\x1a\n\0\0", Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a..", Some("image/gif")),
            (b"GIF87a..", Some("image/gif")),
            (b"RIFF\x01\x02\x03\x04WEBPVP8 ", Some("image/webp")),
            (b"RIFF\x01\x02\x03\x04WAVE", None),
            (b"<svg xmlns=", None),
            (b"", None),
        ];
        for (bytes, expected) in table {
            assert_eq!(media_type(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn what_can_not_be_sent_is_refused_in_words() {
        assert!(refused(b"hello").ends_with("is no picture that models take: PNG, JPEG, WebP or GIF"));
        let big = [b"\x89PNG\r\n\x1a\n".as_slice(), &vec![0; 5 * 1024 * 1024]].concat();
        assert!(refused(&big).ends_with("has 5.1 MB; 5 MB is the most"), "{}", refused(&big));
        assert!(attachments(&["/no/such.png".into()]).unwrap_err().message.contains("/no/such.png can't be read"));
        assert!(attachments(&["/".into()]).unwrap_err().message.contains("is not a file"));
    }

    /// A picture as far as anybody looks at one, with so much in it.
    fn png(bytes: usize) -> Vec<u8> {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01";
        [head.as_slice(), &vec![0; bytes], b"IEND\xaeB`\x82"].concat()
    }

    #[test]
    fn a_damaged_picture_is_refused() {
        let whole = png(100);
        assert_eq!(checked(&whole, "a.png").unwrap(), "image/png");
        let said = checked(&whole[..60], "a.png").unwrap_err().message;
        assert!(said.contains("a.png is a picture (image/png) that is damaged"), "{said}");
    }

    #[test]
    fn what_is_sent_is_checked_as_what_lies_in_a_file() {
        let sent = |bytes: &[u8]| sent(vec![("picture 2".to_owned(), STANDARD.encode(bytes))]);
        let whole = png(100);
        let Attachment::Image { media_type, data } = sent(&whole).unwrap().remove(0);
        assert_eq!((media_type.as_str(), data), ("image/png", STANDARD.encode(&whole)));
        for (bytes, why) in [
            (&whole[..60], "picture 2 is a picture (image/png) that is damaged"),
            (b"hello", "picture 2 is no picture that models take"),
            (&png(6 * 1024 * 1024), "picture 2 has more than 5 MB"),
        ] {
            let error = sent(bytes).unwrap_err().message;
            assert!(error.contains(why), "{error}");
        }
        let error = super::sent(vec![("picture 2".to_owned(), "no base64!".to_owned())]).unwrap_err().message;
        assert!(error.contains("picture 2 is damaged: "), "{error}");
    }

    #[test]
    fn all_together_have_a_limit_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        std::fs::write(&file, png(4 * 1024 * 1024)).unwrap();
        let four = vec![file; 6];
        assert!(attachments(&four).unwrap_err().message.contains("together; 20 MB is the most"));
        assert_eq!(attachments(&four[..2]).unwrap().len(), 2);
        // They are not even decoded.
        let sent = vec![("picture".to_owned(), "!".repeat(5 * 1024 * 1024)); 6];
        assert!(super::sent(sent).unwrap_err().message.contains("together; 20 MB is the most"));
    }
}
