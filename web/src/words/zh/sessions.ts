//! The words of the start page, in Chinese.

import type { sessions as english } from "../en/sessions";
import type { Like } from "../like";

export const sessions = {
  start: {
    title: (folder) => (folder === "" ? "要做什么？" : `要在 ${folder} 里做什么？`),
    folder: "文件夹",
    pickFolder: "位置",
    otherFolder: "其他文件夹：完整路径",
    gone: "文件夹已不存在",
    tryIt: "可以试试",
    things: ["说明这个项目做什么、怎么组织的", "找出测试失败的原因并修好", "检查还没有提交的改动"],
    placeholder: "说出你要做的事",
    begin: "开始",
    needsFolder: "请先选择文件夹，或写出它的路径。",
    needsModel: "请先在上面选择模型：你写的内容会保留。",
    modelAnswers: (model) => `${model} 有回应，已保存。说说你想做什么。`,
    wholePath: "文件夹要写完整路径，例如 /home/me/project。",
  },
} satisfies Like<typeof english>;
