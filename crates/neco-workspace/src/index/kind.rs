//! What kind of thing a definition is.

/// What kind of thing a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A function that belongs to no type.
    Function,
    /// A function of a type.
    Method,
    /// A class.
    Class,
    /// A struct or union.
    Struct,
    /// An enum.
    Enum,
    /// One case of an enum.
    Variant,
    /// An interface, trait or concept.
    Interface,
    /// Another type, such as an alias.
    Type,
    /// A constant.
    Constant,
    /// A module or namespace.
    Module,
    /// A macro.
    Macro,
    /// A variable that is not local.
    Variable,
    /// A field of a type.
    Field,
    /// A function that is only declared, as in a header.
    Declaration,
}

impl SymbolKind {
    /// All of them, with their names; in the queries a definition of a kind is captured as `definition.` and its name.
    const ALL: [(Self, &'static str); 14] = [
        (Self::Function, "function"),
        (Self::Method, "method"),
        (Self::Class, "class"),
        (Self::Struct, "struct"),
        (Self::Enum, "enum"),
        (Self::Variant, "variant"),
        (Self::Interface, "interface"),
        (Self::Type, "type"),
        (Self::Constant, "constant"),
        (Self::Module, "module"),
        (Self::Macro, "macro"),
        (Self::Variable, "variable"),
        (Self::Field, "field"),
        (Self::Declaration, "declaration"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.get(self as usize).map_or("", |(_, name)| name)
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(kind, _)| kind)
    }

    /// Whether functions inside are methods.
    #[cfg(feature = "grammars")]
    pub(super) fn has_methods(self) -> bool {
        matches!(self, Self::Class | Self::Struct | Self::Enum | Self::Interface)
    }

    /// Whether it is worth a line where only the shape of the code is shown.
    pub fn is_shape(self) -> bool {
        !matches!(self, Self::Variant | Self::Field)
    }

    pub(super) fn number(self) -> u64 {
        self as u64
    }

    pub(super) fn from_number(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).map(|(kind, _)| *kind)
    }
}
