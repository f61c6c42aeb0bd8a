//! The words of the prompt, in Chinese.

import type { prompt as english } from "../en/prompt";
import type { Like } from "../like";

export const prompt = {
  promptRoom: {
    layers: "模型被告知的内容",
    layer: {
      base: "它是谁",
      mode: "模式",
      generation: "工具级别",
      role: "在智能体中的角色",
      rules: "规则",
      skills: "技能",
      agents: "智能体",
      memory: "记忆",
      repo_map: "仓库地图",
      files: "文件",
      environment: "环境",
      summary: "摘要",
      messages: "对话",
    },
    toolCount: (count: number) => `${count} 个工具`,
    messageCount: (count: number) => `${count} 条消息`,
    role: { user: "你", assistant: "Neco", tool: "工具" },
    tokens: (tokens: string) => `${tokens} 个 token`,
    ofWindow: (tokens: string, window: string) => `${tokens}，共 ${window} 个 token`,
    assumed: "窗口大小是假定的",
    free: (tokens: string) => `为回答留出 ${tokens}`,
    compacts: (tokens: string) => `从 ${tokens} 起缩短`,
    estimates: "token 数是估计值。",
    text: (name: string) => `${name} 的文本`,
    isNew: "上一轮之后新增",
    changed: (came: number, went: number) => `上一轮之后 +${came} −${went} 行`,
    same: "与上一轮相同",
    back: "全部层",
    notes: "略去的",
    failed: "现在不能得到提示词",
  },
} satisfies Like<typeof english>;
