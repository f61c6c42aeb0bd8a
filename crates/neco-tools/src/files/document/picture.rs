//! Pictures, which models that see are shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use neco_proto::ErrorCode;
use neco_safety::path::Located;
use neco_toolkit::picture::{MOST_BYTES, points_shown};
use neco_toolkit::{Intent, Picture, ToolError, ToolOutput};

use crate::files::listing::size;

/// Shows a picture.
/// Fails when it is too big, or damaged: a vendor would refuse the whole conversation because of it.
pub fn picture(located: &Located, media_type: &str) -> Result<ToolOutput, ToolError> {
    let shown = located.shown();
    let (bytes, stamp) = located.read(MOST_BYTES + 1)?;
    let refused = |why: &str| {
        ToolError::new(
            ErrorCode::NotATextFile,
            format!("{shown} is a picture ({media_type}, {}) {why}", size(stamp.size())),
        )
    };
    if bytes.len() as u64 > MOST_BYTES {
        let why = "that is too big to be shown; make a smaller copy of it with a command, then read that";
        return Err(ToolError { code: ErrorCode::FileTooLarge, ..refused(why) });
    }
    let (width, height) = points_shown(media_type, &bytes).map_err(|why| refused(&why.to_string()))?;
    let words = format!("{shown} is a picture of {width}×{height} points ({media_type}, {}).", size(stamp.size()));
    let mut output = ToolOutput::text(words);
    let data = STANDARD.encode(&bytes);
    output.intents.push(Intent::ShowPicture(Picture { source: shown, media_type: media_type.to_owned(), data }));
    Ok(output)
}
