//! The words of the field, in English.

export const composer = {
  composer: {
    label: "Your message",
    idle: "Say what you want done",
    working: "Steer the work; it reads this at its next turn",
    answerOrChoose: "Answer, or choose above",
    answer: "Answer the question above",
    send: "Send",
    later: "for later",
    waits: (when: "turn_boundary" | "after_work") => (when === "after_work" ? "After the work" : "At the next turn"),
    sending: "Sending",
    notSent: "not sent yet",
    refused: "not taken",
    takeBack: "Take back",
    mode: "Mode",
    model: "Model",
    noModel: "Choose a model",
    usualModel: "usual model",
    approval: "When you are asked",
    level: "Tool level",
    levelShort: (level: number) => `level ${level}`,
    modes: { agent: "agent", plan: "plan", ask: "ask", debug: "debug" },
    approvals: { auto: "asks seldom", accept_edits: "edits freely", ask_first: "asks first", manual: "asks always" },
    groups: "Groups",
    models: "Models",
  },
};
