//! Declarations of C and C++, whose names stand deep inside what they are declared as.

use tree_sitter::Node;

use super::kind::SymbolKind;

/// How deep a name may stand: `int **(*name)[3]` is rare enough.
const DEEPEST: usize = 12;

/// What a declaration declares first.
pub(super) struct Declared<'tree> {
    pub(super) name: Node<'tree>,
    /// The type that it belongs to, where it is named: `Order` of `Order::total`.
    pub(super) container: Option<Node<'tree>>,
    pub(super) kind: SymbolKind,
}

/// What a `function_definition`, `declaration` or `field_declaration` declares; nothing when that is local.
pub(super) fn declared(node: Node<'_>) -> Option<Declared<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    let (mut container, mut is_function) = (None, false);
    for _ in 0..DEEPEST {
        match at.kind() {
            "identifier" | "field_identifier" => {
                let kind = kind(node, is_function, container.is_some())?;
                return Some(Declared { name: at, container, kind });
            }
            "qualified_identifier" => {
                container = at.child_by_field_name("scope");
                at = at.child_by_field_name("name")?;
            }
            kind => {
                is_function |= kind == "function_declarator";
                // A reference has no field for what it refers to.
                at = at.child_by_field_name("declarator").or_else(|| at.named_child(0))?;
            }
        }
    }
    None
}

fn kind(node: Node<'_>, is_function: bool, is_qualified: bool) -> Option<SymbolKind> {
    match node.kind() {
        "function_definition" if is_qualified => Some(SymbolKind::Method),
        "function_definition" => Some(SymbolKind::Function),
        _ if is_function => Some(SymbolKind::Declaration),
        "field_declaration" => Some(SymbolKind::Field),
        _ => {
            let around = node.parent()?.kind();
            let is_shared = matches!(around, "translation_unit" | "declaration_list" | "linkage_specification");
            let is_set = node.child_by_field_name("declarator")?.kind() == "init_declarator";
            (is_shared && is_set).then_some(SymbolKind::Variable)
        }
    }
}
