//! The words of the start page, in English.

export const sessions = {
  start: {
    title: (folder: string) => (folder === "" ? "What shall be done?" : `What shall be done in ${folder}?`),
    folder: "Folder",
    pickFolder: "Where",
    otherFolder: "Another folder: its whole path",
    gone: "the folder is gone",
    tryIt: "Things to try",
    things: [
      "Explain what this project does and how it is built",
      "Find out why the tests fail, and mend it",
      "Review what is not committed",
    ],
    placeholder: "Say what you want done",
    begin: "Begin",
    needsFolder: "Choose a folder first, or write its path.",
    needsModel: "Choose a model first, above: what you wrote stays here.",
    modelAnswers: (model: string) => `${model} answers, and is kept. Say what you want done.`,
    wholePath: "A folder is named by its whole path, such as /home/me/project.",
  },
};
