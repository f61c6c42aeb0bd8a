//! Says what a tool is: the trait, what it is handed, what it gives back, the registry.
