//! The words of the files, in Chinese.

import type { files as english } from "../en/files";
import type { Like } from "../like";

export const files = {
  filesRoom: {
    tree: "项目的文件",
    filter: "查找文件",
    noFiles: "这里没有文件。",
    noneFits: "没有这样名字的文件。",
    choose: "选择一个文件",
    what: "git 忽略的不在其中。会话改过的有标记。",
    content: (path: string) => `${path} 的内容`,
    changed: "会话改过",
    back: "全部文件",
    find: "在文件中查找",
    findPart: "在已读的部分中查找",
    places: (at: number, all: number) => `${at} / ${all}`,
    noPlace: "没有找到",
    before: "上一个",
    next: "下一个",
    read: (read: string, all: string) => `${read}，共 ${all}`,
    readOn: "继续读",
    again: "重新读",
    empty: "这个文件是空的。",
    binary: "这不是文本。",
    refused: "不能显示这个文件。",
    reading: "正在读",
  },
} satisfies Like<typeof english>;
