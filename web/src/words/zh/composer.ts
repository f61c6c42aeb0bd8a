//! The words of the field, in Chinese.

import type { composer as english } from "../en/composer";
import type { Like } from "../like";

export const composer = {
  composer: {
    label: "你的消息",
    idle: "说出你要做的事",
    working: "引导正在进行的工作；下一轮开始时会读到",
    answerOrChoose: "回答，或在上方选择",
    answer: "回答上方的问题",
    send: "发送",
    later: "稍后",
    waits: (when) => (when === "after_work" ? "工作完成后" : "下一轮"),
    sending: "正在发送",
    notSent: "尚未发送",
    refused: "未被接受",
    takeBack: "收回",
    mode: "模式",
    model: "模型",
    noModel: "选择模型",
    usualModel: "默认模型",
    approval: "何时询问你",
    level: "工具级别",
    levelShort: (level) => `级别 ${level}`,
    modes: { agent: "代理", plan: "计划", ask: "问答", debug: "调试" },
    approvals: { auto: "很少询问", accept_edits: "自由编辑", ask_first: "先询问", manual: "总是询问" },
    groups: "模型组",
    models: "模型",
  },
} satisfies Like<typeof english>;
