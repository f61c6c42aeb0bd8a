//! Where providers give out keys: only for the person's own click, nothing is fetched from there.

const PAGES: Readonly<Record<string, string>> = {
  anthropic: "https://console.anthropic.com/settings/keys",
  "azure-openai": "https://portal.azure.com/",
  deepseek: "https://platform.deepseek.com/api_keys",
  gemini: "https://aistudio.google.com/apikey",
  groq: "https://console.groq.com/keys",
  mistral: "https://console.mistral.ai/api-keys",
  moonshot: "https://platform.moonshot.ai/console/api-keys",
  openai: "https://platform.openai.com/api-keys",
  openrouter: "https://openrouter.ai/settings/keys",
  together: "https://api.together.ai/settings/api-keys",
  xai: "https://console.x.ai/",
  zhipuai: "https://open.bigmodel.cn/usercenter/apikeys",
};

export const pageOfKeys = (provider: string): string | undefined => PAGES[provider];
