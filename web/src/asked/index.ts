//! What a person is asked, and their answers.

export { askerOf, openAsks } from "./asks";
export { Dock } from "./dock";
