import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: process.env.ADDRESS } });
const answers = [];
for (let turn = 0; turn < 2; turn++) {
  const answer = { text: "", calls: [] };
  for await (const chunk of await client.models.generateContentStream({ model: "script", contents: "hi" })) {
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      answer.text += part.text ?? "";
      if (part.functionCall) {
        answer.calls.push({ name: part.functionCall.name, arguments: part.functionCall.args });
      }
    }
  }
  answers.push(answer);
}
console.log(JSON.stringify(answers));
