//! What the index holds of a file.

/// What tells one state of a file from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Its bytes.
    pub size: i64,
    /// A hash of its content.
    pub hash: Vec<u8>,
    /// When it was read: a file that was written in the same moment may have been written again since.
    pub read_ns: i64,
}

/// An entry of the memory, as the index has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The folder of its file.
    pub folder: String,
    /// The file's name in the folder.
    pub file: String,
    /// The file's state when it was read.
    pub stamp: FileStamp,
    /// The id that the file says.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The same in a sentence or two.
    pub summary: String,
    /// Its kind.
    pub category: String,
    /// What a solution is about; else empty.
    pub topic: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who wrote it.
    pub source: String,
    /// The folder that it is about; empty when it is not about one.
    pub reach: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// What is wrong with its file; empty when nothing is.
    pub trouble: String,
    /// How often it was of use.
    pub uses: i64,
    /// When it last was, in milliseconds since 1970; 0 for never.
    pub last_ms: i64,
}

/// An entry for the index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRecord {
    /// What it says; its counts of use are not looked at.
    pub record: Record,
    /// The text that is only searched.
    pub body: String,
}
