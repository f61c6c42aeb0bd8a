//! The words of keys and the first model, in Chinese.

import type { models as english } from "../en/models";
import type { Like } from "../like";

export const models = {
  keyForm: {
    label: (provider) => `${provider} 的密钥`,
    paste: "粘贴到这里",
    testAndKeep: "测试并保存",
    testing: "正在测试",
    hasSpace: "密钥没有空格，只有一行：请重新复制。",
    stays: "先测试再保存；只为你保存在运行 Neco 的机器上，之后不再显示。",
    none: "还没有密钥？",
    getOne: (host) => `在 ${host} 获取`,
  },
  first: {
    title: "先选择一个模型",
    what: "下面任何一种都可以。选择之后会先问它一个很小的问题，通过才保存。",
    looking: "正在寻找本机上的服务",
    lookAgain: "重新寻找",
    here: "在本机上",
    withKey: "使用密钥",
    hasKey: (place) => `密钥来自 ${place}`,
    addKey: "添加密钥",
    moreProviders: (count) => `还有 ${count} 个提供商`,
    elsewhere: "其他地方",
    ownServer: "你自己的服务器",
    ownServerIs: "任何支持 OpenAI API 的服务",
    address: "服务器的地址",
    ask: "询问",
    asking: "正在询问它有什么",
    silent: (base) => `${base} 没有回应。请启动那里的服务，或填写另一个地址。`,
    keyWorks: (provider) => `${provider} 的密钥有效，已保存。`,
    keyKept: (provider) => `${provider} 的密钥已保存；提供商没有说明是否接受它。`,
    which: (provider) => `选择 ${provider} 的哪个模型？`,
    modelName: "搜索，或填写其他模型的名称",
    trying: (model) => `正在询问 ${model}`,
    cantUse: (model, why) => `${model} 无法使用：${why}`,
    another: "请选择另一个，或再试一次。",
    wantsKey: (provider) => `${provider} 需要密钥，或另一个密钥。`,
    namesNone: "它没有列出模型。请填写它提供的模型名称。",
    moreModels: (count) => `还有 ${count} 个：输入字母查找`,
    tryIt: (name) => `试试 ${name}`,
  },
} satisfies Like<typeof english>;
