//! The words of the terminal, in Chinese.

import type { terminal as english } from "../en/terminal";
import type { Like } from "../like";

export const terminal = {
  terminal: {
    list: "命令",
    none: "还没有运行过命令。",
    whatItIs: "智能体和你自己运行的命令打印的全部内容都在这里，包括后台的命令。",
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
    byYou: "由你",
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

  shell: {
    label: "你自己的命令",
    placeholder: "运行你自己的命令",
    run: "运行",
    stop: "停止",
    runs: "还在运行；按 Esc 停止",
    busy: "你的另一个命令还在运行；按 Esc 停止它。",
    offline: "未连接：能连上服务器时才能运行命令。",
    ended: "这个会话已关闭：重新打开后才能在其中运行命令。",
    refused: (why: string) => `你不能在这里运行命令：${why}`,
    ran: (command: string) => `你运行了 ${command}`,
    failed: (why: string) => `没有做到：${why}`,
    moved: (folder: string) => `你的命令现在在 ${folder} 中运行。`,
    masked: "在沙箱中，命令没有指明的含有机密的文件看起来是空的。",
    isTold: "会随你的下一条消息告诉智能体。",
    whole: "全部输出",
    putAway: "收起",
  },
} satisfies Like<typeof english>;
