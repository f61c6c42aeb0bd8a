//! The list: each program with the options it may have.

/// What the words that are no options mean to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// Nothing is read: any text will do.
    Text,
    /// Files, of which only names and sizes are told.
    Names,
    /// Files that are read.
    Contents,
    /// A pattern or program first, then files that are read.
    PatternThenContents,
    /// One file that is read; a second would be written.
    OneContents,
    /// There must be none.
    None,
}

/// A program that only looks.
pub(super) struct Safe {
    pub(super) name: &'static str,
    /// Letters of options, those that take a value included.
    pub(super) letters: &'static str,
    /// Letters of options that take a value, which may stand apart.
    pub(super) valued: &'static str,
    /// Long options, without the dashes.
    pub(super) long: &'static str,
    pub(super) operands: Operands,
}

const fn safe(
    name: &'static str,
    letters: &'static str,
    valued: &'static str,
    long: &'static str,
    operands: Operands,
) -> Safe {
    Safe { name, letters, valued, long, operands }
}

use Operands::{Contents, Names, OneContents, PatternThenContents, Text};

/// Every program on the list. `git`, `find`, `sed`, `awk`, `test` and the shell's own words are judged beside it.
pub(super) const TABLE: [Safe; 62] = [
    safe(":", "", "", "", Text),
    safe("true", "", "", "help version", Text),
    safe("false", "", "", "help version", Text),
    safe("echo", "neE", "", "", Text),
    safe("pwd", "LP", "", "", Operands::None),
    safe("basename", "asz", "s", "multiple suffix zero", Text),
    safe("dirname", "z", "", "zero", Text),
    safe("seq", "fsw", "fs", "format separator equal-width", Text),
    safe("expr", "", "", "", Text),
    safe("sleep", "", "", "", Text),
    safe("exit", "", "", "", Text),
    safe("return", "", "", "", Text),
    safe("break", "", "", "", Text),
    safe("continue", "", "", "", Text),
    safe("shift", "", "", "", Text),
    safe("wait", "n", "", "", Text),
    safe("type", "afptP", "", "", Text),
    safe("which", "as", "", "all", Text),
    safe("whereis", "bms", "", "", Text),
    safe("whoami", "", "", "", Operands::None),
    safe("id", "Ggnruz", "", "group groups name real user", Text),
    safe("groups", "", "", "", Text),
    safe(
        "uname",
        "asnrvmpio",
        "",
        "all kernel-name nodename kernel-release kernel-version machine operating-system",
        Operands::None,
    ),
    safe("hostname", "fsidIA", "", "fqdn short", Operands::None),
    safe("arch", "", "", "", Operands::None),
    safe("nproc", "", "", "all ignore", Operands::None),
    safe("uptime", "ps", "", "pretty since", Operands::None),
    safe("free", "bkmghtw", "", "human bytes mega giga total wide", Operands::None),
    safe("ps", "AaefFlLmNopruUwxTHdjstv", "opuUt", "forest sort no-headers format pid ppid user", Text),
    safe("pgrep", "aflnoxiu", "u", "full list-name list-full exact", Text),
    safe("df", "ahHikTlPt", "t", "all human-readable inodes type local total output", Names),
    safe(
        "du",
        "abcdhkmsxLPS0",
        "d",
        "all apparent-size bytes total max-depth human-readable summarize one-file-system exclude time",
        Names,
    ),
    safe(
        "ls",
        "aAbBcCdfFgGhHiIklLmnNopqQrRsStTuUvwxXZ1",
        "ITw",
        "all almost-all author block-size classify color color directory full-time group-directories-first human-readable inode indicator-style ignore hide literal numeric-uid-gid recursive reverse size sort time time-style width format no-group si file-type",
        Names,
    ),
    safe(
        "tree",
        "adfiaDFghIJLlnNpPQrsStuvXCAx",
        "ILP",
        "dirsfirst prune noreport filelimit gitignore du si charset sort level",
        Names,
    ),
    safe("stat", "cfLtx", "c", "format printf dereference file-system terse", Names),
    safe("file", "bchikLNprsvz0", "F", "brief mime mime-type mime-encoding dereference no-dereference", Names),
    safe(
        "realpath",
        "eLmPqsz",
        "",
        "canonicalize-existing canonicalize-missing relative-to relative-base strip no-symlinks",
        Names,
    ),
    safe("readlink", "efmnqsvz", "", "canonicalize canonicalize-existing canonicalize-missing no-newline", Names),
    safe(
        "cat",
        "AbeEnstTuv",
        "",
        "number number-nonblank show-all show-ends show-tabs squeeze-blank show-nonprinting",
        Contents,
    ),
    safe("tac", "brs", "s", "before regex separator", Contents),
    safe("nl", "bdfhilnpsvw", "bdfhilnsvw", "body-numbering number-format number-width starting-line-number", Contents),
    safe("head", "cnqvz0123456789", "cn", "bytes lines quiet silent verbose", Contents),
    safe("tail", "cnqvzr0123456789", "cn", "bytes lines quiet silent verbose", Contents),
    safe("wc", "clLmw", "", "bytes chars lines words max-line-length", Contents),
    safe(
        "cut",
        "bcdfnsz",
        "bcdf",
        "bytes characters delimiter fields only-delimited complement output-delimiter",
        Contents,
    ),
    safe("paste", "dsz", "d", "delimiters serial", Contents),
    safe("column", "cestxnNRJ", "csN", "table separator columns", Contents),
    safe("fold", "bsw", "w", "bytes spaces width", Contents),
    safe("rev", "", "", "", Contents),
    safe(
        "uniq",
        "cdDfiswuz",
        "fsw",
        "count repeated all-repeated skip-fields ignore-case skip-chars unique check-chars",
        OneContents,
    ),
    safe(
        "sort",
        "bcCdfghikMmnrRstuVz",
        "kt",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort numeric-sort random-sort reverse version-sort check merge key field-separator stable unique zero-terminated",
        Contents,
    ),
    safe("tr", "cCdst", "", "complement delete squeeze-repeats truncate-set1", Text),
    safe(
        "diff",
        "abBcdEipqstTuUwWyx",
        "UWCx",
        "brief unified context color ignore-case ignore-all-space ignore-blank-lines ignore-space-change side-by-side report-identical-files suppress-common-lines stat strip-trailing-cr minimal width exclude text",
        Contents,
    ),
    safe("cmp", "bilns", "in", "print-bytes verbose quiet silent bytes", Contents),
    safe("comm", "123z", "", "check-order nocheck-order output-delimiter total", Contents),
    safe("md5sum", "btz", "", "binary text tag", Contents),
    safe("sha1sum", "btz", "", "binary text tag", Contents),
    safe("sha256sum", "btz", "", "binary text tag", Contents),
    safe(
        "grep",
        "abcEFGHhiIlLmnoPqsvwxyABCeZz0123456789",
        "ABCem",
        "after-context before-context context basic-regexp extended-regexp fixed-strings perl-regexp regexp ignore-case invert-match word-regexp line-regexp count color colour files-with-matches files-without-match max-count only-matching quiet silent no-messages byte-offset with-filename no-filename line-number text include exclude exclude-dir null",
        PatternThenContents,
    ),
    safe(
        "rg",
        "abcFHIilmNnoPqsSUvwxABCetT0",
        "ABCemtTd",
        "after-context before-context context fixed-strings pcre2 regexp ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches color colors files files-with-matches files-without-match max-count max-depth only-matching quiet no-messages with-filename no-filename heading no-heading line-number no-line-number glob iglob type type-not type-list multiline stats trim json column sort sortr vimgrep",
        PatternThenContents,
    ),
    safe(
        "jq",
        "acCeMnrRsSj",
        "",
        "compact-output raw-output raw-input slurp sort-keys color-output monochrome-output null-input exit-status tab arg argjson join-output",
        PatternThenContents,
    ),
    safe("date", "uIR", "", "utc universal iso-8601 rfc-3339 rfc-email", Text),
];
