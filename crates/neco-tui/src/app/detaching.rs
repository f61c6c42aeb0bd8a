//! A session on its way into the background.

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detaching {
    /// It stays.
    #[default]
    Not,
    /// It goes as soon as what runs is over.
    Asked,
    /// It has ended here.
    Ended,
}
