; Definitions
(class_declaration name: (type_identifier) @name) @definition.class
(abstract_class_declaration name: (type_identifier) @name) @definition.class
(class name: (type_identifier) @name) @definition.class
(interface_declaration name: (type_identifier) @name) @definition.interface
(type_alias_declaration name: (type_identifier) @name) @definition.type
(enum_declaration name: (identifier) @name) @definition.enum
(enum_body name: (property_identifier) @name @definition.variant)
(enum_assignment name: (property_identifier) @name) @definition.variant
(module name: (identifier) @name) @definition.module
(internal_module name: (identifier) @name) @definition.module
(function_signature name: (identifier) @name) @definition.function
(method_definition name: (property_identifier) @name) @definition.function
(method_definition name: (private_property_identifier) @name) @definition.function
(method_signature name: (property_identifier) @name) @definition.function
(abstract_method_signature name: (property_identifier) @name) @definition.function
(public_field_definition name: (property_identifier) @name) @definition.field
(property_signature name: (property_identifier) @name) @definition.field

; Uses
(extends_clause value: (identifier) @reference)
(type_identifier) @reference
