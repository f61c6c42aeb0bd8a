//! The words of the files, in English.

export const files = {
  filesRoom: {
    tree: "Files of the project",
    filter: "Find a file",
    noFiles: "No files are here.",
    noneFits: "No file is called so.",
    choose: "Choose a file",
    what: "What git ignores is left out. What the session changed is marked.",
    content: (path: string) => `What stands in ${path}`,
    changed: "changed by the session",
    back: "All files",
    find: "Find in this file",
    findPart: "Find in what was read",
    places: (at: number, all: number) => `${at} of ${all}`,
    noPlace: "not found",
    before: "The one before",
    next: "The next one",
    read: (read: string, all: string) => `${read} of ${all}`,
    readOn: "Read on",
    again: "Read again",
    empty: "This file is empty.",
    binary: "This is no text.",
    refused: "This file can't be shown.",
    reading: "Reading",
  },
};
