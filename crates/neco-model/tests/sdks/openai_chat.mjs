import OpenAI from "openai";

const client = new OpenAI({ apiKey: "none", baseURL: `${process.env.ADDRESS}/v1`, maxRetries: 0 });
const answers = [];
for (let turn = 0; turn < 2; turn++) {
  const stream = client.chat.completions.stream({ model: "script", messages: [{ role: "user", content: "hi" }] });
  const { choices } = await stream.finalChatCompletion();
  const calls = choices[0].message.tool_calls ?? [];
  answers.push({
    text: choices[0].message.content,
    calls: calls.map((call) => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) })),
  });
}
console.log(JSON.stringify(answers));
