; Definitions
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(enum_variant name: (identifier) @name) @definition.variant
(trait_item name: (type_identifier) @name) @definition.interface
(type_item name: (type_identifier) @name) @definition.type
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant
(mod_item name: (identifier) @name) @definition.module
(macro_definition name: (identifier) @name) @definition.macro
(field_declaration name: (field_identifier) @name) @definition.field
(impl_item type: (_) @name) @scope

; Uses
(call_expression function: (identifier) @reference)
(call_expression function: (field_expression field: (field_identifier) @reference))
(call_expression function: (generic_function function: (identifier) @reference))
(call_expression function: (generic_function function: (field_expression field: (field_identifier) @reference)))
(scoped_identifier name: (identifier) @reference)
(scoped_identifier path: (identifier) @reference)
(macro_invocation macro: (identifier) @reference)
(use_declaration argument: (identifier) @reference)
(use_list (identifier) @reference)
(type_identifier) @reference
(identifier) @identifier
(field_identifier) @identifier
(shorthand_field_identifier) @identifier
