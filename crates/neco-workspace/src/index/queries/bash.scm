; Definitions
(function_definition name: (word) @name) @definition.function
(program (variable_assignment name: (variable_name) @name) @definition.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name) @definition.variable))

; Uses
(command name: (command_name (word) @reference))
(variable_name) @identifier
