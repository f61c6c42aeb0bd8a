; Definitions
(class_specifier name: (type_identifier) @name body: (_)) @definition.class
(namespace_definition name: (namespace_identifier) @name) @definition.module
(concept_definition name: (identifier) @name) @definition.interface
(alias_declaration name: (type_identifier) @name) @definition.type

; Uses
(qualified_identifier name: (identifier) @reference)
(template_function name: (identifier) @reference)
(template_method name: (field_identifier) @reference)
