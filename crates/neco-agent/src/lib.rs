//! One agent: the loop machine, the tool scheduler, the context engine; no I/O.
