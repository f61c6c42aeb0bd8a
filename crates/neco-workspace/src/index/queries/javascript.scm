; Definitions
(class_declaration name: (identifier) @name) @definition.class
(class name: (identifier) @name) @definition.class
(method_definition name: (property_identifier) @name) @definition.function
(method_definition name: (private_property_identifier) @name) @definition.function
(field_definition property: (property_identifier) @name) @definition.field
(class_heritage (identifier) @reference)
