import OpenAI from "openai";

const client = new OpenAI({ apiKey: "none", baseURL: `${process.env.ADDRESS}/v1`, maxRetries: 0 });
const answers = [];
for (let turn = 0; turn < 2; turn++) {
  const response = await client.responses.stream({ model: "script", input: "hi" }).finalResponse();
  const calls = response.output.filter((item) => item.type === "function_call");
  answers.push({
    text: response.output_text,
    calls: calls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) })),
  });
}
console.log(JSON.stringify(answers));
