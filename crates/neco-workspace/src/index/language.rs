//! Which files are code that the index understands, and by which grammar. What is not is searched as text.

use std::path::Path;

/// A language whose definitions and references are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// TypeScript.
    TypeScript,
    /// TypeScript with markup.
    Tsx,
    /// JavaScript, with markup or without.
    JavaScript,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++, and headers, which may be either.
    Cpp,
    /// Shell scripts.
    Bash,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Rust,
        Self::Python,
        Self::TypeScript,
        Self::Tsx,
        Self::JavaScript,
        Self::Go,
        Self::Java,
        Self::C,
        Self::Cpp,
        Self::Bash,
    ];

    /// The language of a file, by its name.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|language| language.named().1.split(' ').any(|known| known == extension))
    }

    /// Its name as people write it.
    pub fn name(self) -> &'static str {
        self.named().0
    }

    /// Its name, and the endings of its files.
    fn named(self) -> (&'static str, &'static str) {
        match self {
            Self::Rust => ("rust", "rs"),
            Self::Python => ("python", "py pyi"),
            Self::TypeScript => ("typescript", "ts mts cts"),
            Self::Tsx => ("tsx", "tsx"),
            Self::JavaScript => ("javascript", "js jsx mjs cjs"),
            Self::Go => ("go", "go"),
            Self::Java => ("java", "java"),
            Self::C => ("c", "c"),
            Self::Cpp => ("c++", "cc cpp cxx c++ h hh hpp hxx ipp inl"),
            Self::Bash => ("bash", "sh bash"),
        }
    }
}

/// Endings of files that hold no text anyone would search; they are not even opened.
const NO_TEXT: &str = "\
    png jpg jpeg gif bmp ico webp tif tiff avif heic psd pdf zip gz tgz bz2 xz zst 7z rar tar jar war class o a \
    so dylib dll exe obj lib rlib rmeta pyc pyo wasm bin dat db sqlite mp3 mp4 m4a wav ogg flac avi mov mkv \
    webm woff woff2 ttf otf eot docx xlsx pptx odt parquet npy npz pkl pt onnx gguf safetensors map lock min.js \
    snap.new";

/// Whether a file's name says that there is nothing in it to search.
pub(super) fn holds_no_text(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let mut rest = name;
    while let Some((_, ending)) = rest.split_once('.') {
        if NO_TEXT.split(' ').any(|known| known.eq_ignore_ascii_case(ending)) {
            return true;
        }
        rest = ending;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_known_by_extension() {
        for (path, language) in [
            ("a.rs", Some(Language::Rust)),
            ("a.test.tsx", Some(Language::Tsx)),
            ("a/b.h", Some(Language::Cpp)),
            ("a.mjs", Some(Language::JavaScript)),
            ("README.md", None),
            ("rs", None),
        ] {
            assert_eq!(Language::of(Path::new(path)), language, "{path}");
        }
    }

    #[test]
    fn some_files_are_never_opened() {
        for path in ["a.PNG", "x/Cargo.lock", "jquery.min.js", "a.tar.gz"] {
            assert!(holds_no_text(Path::new(path)), "{path}");
        }
        for path in ["a.js", "lock", "min.json", "Makefile", "map.rs", ".lockfile"] {
            assert!(!holds_no_text(Path::new(path)), "{path}");
        }
    }
}
