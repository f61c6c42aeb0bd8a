//! A session of many messages, as a file of another agent that is imported.

/** What the last message says. */
export const LAST = "That was the last of them.";

/** A conversation with this many messages in a folder: questions, answers with programs in them, and commands. */
export function longSession(messages: number, folder: string): string {
  const lines: object[] = [];
  const say = (type: "user" | "assistant", content: unknown) => {
    const number = lines.length;
    const at = new Date(Date.parse("2026-01-02T03:04:00.000Z") + number * 1000).toISOString();
    lines.push({
      parentUuid: number === 0 ? null : `u${number - 1}`,
      isSidechain: false,
      userType: "external",
      cwd: folder,
      sessionId: "11111111-1111-4111-8111-111111111111",
      version: "2.1.300",
      uuid: `u${number}`,
      timestamp: at,
      type,
      message:
        type === "user"
          ? { role: "user", content }
          : {
              id: `msg_${number}`,
              type: "message",
              role: "assistant",
              model: "actor",
              content,
              stop_reason: "end_turn",
              usage: { input_tokens: 10, output_tokens: 5 },
            },
    });
  };
  for (let at = 0; lines.length < messages - 4; at++) {
    say("user", `Question ${at}: what does part ${at} of the upload do?`);
    say("assistant", [
      {
        type: "text",
        text: `Part ${at} is sent by \`put_part\`:\n\n\`\`\`rust\nfn put_part_${at}(part: &Part) -> Result<ETag> {\n    send(part, ${at})\n}\n\`\`\`\n\n- it waits\n- it tries again\n\nNothing else does that.`,
      },
      { type: "tool_use", id: `T${at}`, name: "Bash", input: { command: `cargo test part_${at}` } },
    ]);
    say("user", [{ type: "tool_result", tool_use_id: `T${at}`, content: `test part_${at} ... ok\n` }]);
    say("assistant", [{ type: "text", text: `It works: the test of part ${at} passes.` }]);
  }
  while (lines.length < messages - 1) say("user", "And then?");
  say("assistant", [{ type: "text", text: LAST }]);
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}
