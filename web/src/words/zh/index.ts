//! The words of the page in Chinese.

import type { Words } from "../index";
import { agents } from "./agents";
import { app } from "./app";
import { asked } from "./asked";
import { changes } from "./changes";
import { chat } from "./chat";
import { composer } from "./composer";
import { files } from "./files";
import { flow } from "./flow";
import { models } from "./models";
import { prompt } from "./prompt";
import { sessions } from "./sessions";
import { settings } from "./settings";
import { tasks } from "./tasks";
import { terminal } from "./terminal";
import { usage } from "./usage";

export const zh = {
  ...app,
  ...sessions,
  ...composer,
  ...asked,
  ...chat,
  ...agents,
  ...flow,
  ...tasks,
  ...models,
  ...settings,
  ...usage,
  ...terminal,
  ...files,
  ...prompt,
  ...changes,
} satisfies Words;
