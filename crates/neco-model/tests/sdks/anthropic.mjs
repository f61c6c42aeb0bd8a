import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ apiKey: "none", baseURL: process.env.ADDRESS, maxRetries: 0 });
const answers = [];
for (let turn = 0; turn < 2; turn++) {
  const request = { model: "script", max_tokens: 100, messages: [{ role: "user", content: "hi" }] };
  const { content } = await client.messages.stream(request).finalMessage();
  answers.push({
    text: content.filter((block) => block.type === "text").map((block) => block.text).join(""),
    calls: content
      .filter((block) => block.type === "tool_use")
      .map((block) => ({ name: block.name, arguments: block.input })),
  });
}
console.log(JSON.stringify(answers));
