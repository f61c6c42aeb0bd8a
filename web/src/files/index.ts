//! The files of a project, as they are now.

export { Files } from "./files";
