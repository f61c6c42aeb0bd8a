//! The words of the terminal, in Chinese.

import type { terminal as english } from "../en/terminal";
import type { Like } from "../like";

export const terminal = {
  terminal: {
    list: "命令",
    none: "还没有运行过命令。",
    whatItIs: "智能体运行的命令打印的全部内容都在这里，包括后台的命令。",
    output: (command: string) => `${command} 的输出`,
    running: "运行中",
    inBackground: (name: string) => `在后台，名为 ${name}`,
    exit: (code: number) => `退出码 ${code}`,
    stopped: "已停止",
    killed: "被信号结束",
    lost: "不知道怎样结束的",
    failed: "失败",
    refused: "未运行",
    by: (agent: string) => `由 ${agent}`,
    stop: "停止",
    goOn: "转到后台",
    nothingPrinted: "它什么也没有打印。",
    nothingYet: "还没有打印什么。",
    onlyTheEnd: "输出的末尾",
    back: "全部命令",
    more: (read: string, all: string) => `${read}，共 ${all}`,
    readOn: "继续读",
    trouble: (why: string) => `没有做到：${why}`,
  },
} satisfies Like<typeof english>;
