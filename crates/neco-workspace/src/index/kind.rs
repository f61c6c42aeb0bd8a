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
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Struct,
        Self::Enum,
        Self::Variant,
        Self::Interface,
        Self::Type,
        Self::Constant,
        Self::Module,
        Self::Macro,
        Self::Variable,
        Self::Field,
        Self::Declaration,
    ];

    /// Its name; in the queries a definition of the kind is captured as `definition.` and this.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Variant => "variant",
            Self::Interface => "interface",
            Self::Type => "type",
            Self::Constant => "constant",
            Self::Module => "module",
            Self::Macro => "macro",
            Self::Variable => "variable",
            Self::Field => "field",
            Self::Declaration => "declaration",
        }
    }

    /// Whether functions inside are methods.
    #[cfg(feature = "grammars")]
    pub(super) fn has_methods(self) -> bool {
        match self {
            Self::Class | Self::Struct | Self::Enum | Self::Interface => true,
            Self::Function
            | Self::Method
            | Self::Variant
            | Self::Type
            | Self::Constant
            | Self::Module
            | Self::Macro
            | Self::Variable
            | Self::Field
            | Self::Declaration => false,
        }
    }

    /// Whether it is worth a line where only the shape of the code is shown.
    #[must_use]
    pub fn is_shape(self) -> bool {
        match self {
            Self::Variant | Self::Field => false,
            Self::Function
            | Self::Method
            | Self::Class
            | Self::Struct
            | Self::Enum
            | Self::Interface
            | Self::Type
            | Self::Constant
            | Self::Module
            | Self::Macro
            | Self::Variable
            | Self::Declaration => true,
        }
    }

    pub(super) fn number(self) -> u64 {
        Self::ALL.iter().position(|kind| *kind == self).unwrap_or_default() as u64
    }

    pub(super) fn from_number(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    #[cfg(feature = "grammars")]
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
