//! The words of workflows as they are drawn, in Chinese.

import type { flow as english } from "../en/flow";
import type { Like } from "../like";

export const flow = {
  flow: {
    taskState: {
      pending: "等待中",
      ready: "下一个",
      running: "运行中",
      completed: "已完成",
      failed: "失败",
      cancelled: "已停止",
      skipped: "已跳过",
    },
    standing: { completed: "已完成", running: "运行中", waits: "等待中", failed: "失败", skipped: "未执行" },
    kind: { agent: "代理", tool: "工具", command: "命令" },
    strategy: (name) =>
      name === "continue" ? "失败时：继续" : name === "retry_then_continue" ? "失败时：重试，然后继续" : "失败时：停止",
    over: (over, all) => `${over} / ${all} 已结束`,
    running: (count) => `${count} 个运行中`,
    show: "显示为",
    graph: "图",
    list: "列表",
    graphLabel: (name) => `${name} 的图；方向键沿连线移动，列表用文字说明同样内容`,
    listLabel: (name) => `${name} 的任务`,
    noGraph: "这个浏览器画不出图；列表用文字说明同样内容。",
    filter: "只看这种状态的任务",
    zoomIn: "放大",
    zoomOut: "缩小",
    fit: "适合",
    needs: (count) => `需要 ${count} 个`,
    try: (count) => `第 ${count} 次`,
    task: "任务",
    does: "执行者",
    state: "状态",
    after: "先决任务",
    took: "用时",
    tries: "次数",
    started: "开始于",
    why: "原因",
    output: "结果",
    none: "没有这种状态的任务。",
    cancelRun: "彻底停止",
    cancelSure: "彻底停止：再按一次",
    resumeRun: "继续",
    pickRun: "哪次运行",
    toAgent: (name) => `查看 ${name}`,
    closeTask: "关闭",
  },
} satisfies Like<typeof english>;
