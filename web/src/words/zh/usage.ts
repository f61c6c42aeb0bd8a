//! The words of what was used, in Chinese.

import type { usage as english } from "../en/usage";
import type { Like } from "../like";

export const usage = {
  usage: {
    title: "用量",
    span: "时间范围",
    days: (count) => `${count} 天`,
    what: "显示内容",
    whats: { tokens: "令牌", money: "费用" },
    nothing: (days) => `最近 ${days} 天没有用量。`,
    byDay: "按天",
    byModel: "按模型",
    byAgent: "按代理",
    session: "标题、摘要等会话自身的工作",
    cut: "较早的会话仍在统计中，请稍后再看。",
    byFolder: "按文件夹",
    bySession: "按会话",
    chart: (days, day, most) => `最近 ${days} 天；最多的是 ${day}：${most}`,
    cachedInput: "来自缓存的输入",
    freshInput: "新的输入",
    input: "输入",
    output: "输出",
    money: "费用",
    noPrice: "价格未知",
    unpriced: (calls) => `${calls} 次调用没有价格`,
    cached: (percent) => `${percent} % 来自缓存`,
    cachedShort: "缓存",
    thoughts: (tokens) => `其中思考 ${tokens}`,
    sessions: "会话",
    name: "名称",
    share: "占比",
    tokens: "令牌",
    more: (count) => `还有 ${count} 个`,
  },
} satisfies Like<typeof english>;
