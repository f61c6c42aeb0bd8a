//! Commands as they are shown wherever they stand: how they end, what is said of those that the person runs, and when
//! none can be run.

export { commandIn } from "./command";
export { EndGlyph, type Ends, endWords } from "./ends";
export { commandsOf, earlier, later, type Recalled } from "./history";
export { ShellNotes } from "./notes";
export { useShellOff } from "./off";
