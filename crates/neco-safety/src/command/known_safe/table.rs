//! The list: each program with the options it may have.

use crate::listed::row;

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
    /// Letters of options, those that take a value included.
    pub(super) letters: &'static str,
    /// Letters of options that take a value, which may stand apart.
    pub(super) valued: &'static str,
    /// Long options, without the dashes.
    pub(super) long: &'static str,
    pub(super) operands: Operands,
}

/// The row of a program on the list.
pub(super) fn find(name: &str) -> Option<Safe> {
    TABLE.iter().find_map(|(operands, rows)| {
        let [letters, valued, long] = row(rows, name)?;
        Some(Safe { letters, valued, long, operands: *operands })
    })
}

/// Every program on the list, a row each: its names, its letters, those of them that take a value, its long options; `-`
/// where there are none. `git`, `find`, `sed`, `awk`, `test` and the shell's own words are judged beside it.
const TABLE: &[(Operands, &str)] = &[
    (
        Operands::Text,
        ":,expr,sleep,exit,return,break,continue,shift,groups - -
         true,false - - help version
         echo neE -
         basename asz s multiple suffix zero
         dirname z - zero
         seq fsw fs format separator equal-width
         wait n -
         type afptP -
         which as - all
         whereis bms -
         id Ggnruz - group groups name real user
         ps AaefFlLmNopruUwxTHdjstv opuUt forest sort no-headers format pid ppid user
         pgrep aflnoxiu u full list-name list-full exact
         tr cCdst - complement delete squeeze-repeats truncate-set1
         date uIR - utc universal iso-8601 rfc-3339 rfc-email",
    ),
    (
        Operands::None,
        "pwd LP -
         whoami,arch - -
         uname asnrvmpio - all kernel-name nodename kernel-release kernel-version machine operating-system
         hostname fsidIA - fqdn short
         nproc - - all ignore
         uptime ps - pretty since
         free bkmghtw - human bytes mega giga total wide",
    ),
    (
        Operands::Names,
        "df ahHikTlPt t all human-readable inodes type local total output
         du abcdhkmsxLPS0 d all apparent-size bytes total max-depth human-readable summarize one-file-system exclude \
           time
         ls aAbBcCdfFgGhHiIklLmnNopqQrRsStTuUvwxXZ1 ITw all almost-all author block-size classify color color \
           directory full-time group-directories-first human-readable inode indicator-style ignore hide literal \
           numeric-uid-gid recursive reverse size sort time time-style width format no-group si file-type
         tree adfiaDFghIJLlnNpPQrsStuvXCAx ILP dirsfirst prune noreport filelimit gitignore du si charset sort level
         stat cfLtx c format printf dereference file-system terse
         file bchikLNprsvz0 F brief mime mime-type mime-encoding dereference no-dereference
         realpath eLmPqsz - canonicalize-existing canonicalize-missing relative-to relative-base strip no-symlinks
         readlink efmnqsvz - canonicalize canonicalize-existing canonicalize-missing no-newline",
    ),
    (
        Operands::Contents,
        "cat AbeEnstTuv - number number-nonblank show-all show-ends show-tabs squeeze-blank show-nonprinting
         tac brs s before regex separator
         nl bdfhilnpsvw bdfhilnsvw body-numbering number-format number-width starting-line-number
         head cnqvz0123456789 cn bytes lines quiet silent verbose
         tail cnqvzr0123456789 cn bytes lines quiet silent verbose
         wc clLmw - bytes chars lines words max-line-length
         cut bcdfnsz bcdf bytes characters delimiter fields only-delimited complement output-delimiter
         paste dsz d delimiters serial
         column cestxnNRJ csN table separator columns
         fold bsw w bytes spaces width
         rev - -
         sort bcCdfghikMmnrRstuVz kt ignore-leading-blanks dictionary-order ignore-case general-numeric-sort \
           human-numeric-sort month-sort numeric-sort random-sort reverse version-sort check merge key \
           field-separator stable unique zero-terminated
         diff abBcdEipqstTuUwWyx UWCx brief unified context color ignore-case ignore-all-space ignore-blank-lines \
           ignore-space-change side-by-side report-identical-files suppress-common-lines stat strip-trailing-cr \
           minimal width exclude text
         cmp bilns in print-bytes verbose quiet silent bytes
         comm 123z - check-order nocheck-order output-delimiter total
         md5sum,sha1sum,sha256sum btz - binary text tag",
    ),
    (
        Operands::PatternThenContents,
        "grep abcEFGHhiIlLmnoPqsvwxyABCeZz0123456789 ABCem after-context before-context context basic-regexp \
           extended-regexp fixed-strings perl-regexp regexp ignore-case invert-match word-regexp line-regexp count \
           color colour files-with-matches files-without-match max-count only-matching quiet silent no-messages \
           byte-offset with-filename no-filename line-number text include exclude exclude-dir null
         rg abcFHIilmNnoPqsSUvwxABCetT0 ABCemtTd after-context before-context context fixed-strings pcre2 regexp \
           ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches color \
           colors files files-with-matches files-without-match max-count max-depth only-matching quiet no-messages \
           with-filename no-filename heading no-heading line-number no-line-number glob iglob type type-not \
           type-list multiline stats trim json column sort sortr vimgrep
         jq acCeMnrRsSj - compact-output raw-output raw-input slurp sort-keys color-output monochrome-output \
           null-input exit-status tab arg argjson join-output",
    ),
    (
        Operands::OneContents,
        "uniq cdDfiswuz fsw count repeated all-repeated skip-fields ignore-case skip-chars unique check-chars",
    ),
];
