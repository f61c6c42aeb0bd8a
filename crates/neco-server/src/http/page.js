// Signs the browser in with the code of a link, and lists the sessions. The token for its tabs is kept where only pages
// of this port can read it: the cookie goes to all ports.
const state = document.getElementById("state");
const post = (path, body) =>
  fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

async function signIn() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  history.replaceState(null, "", "/");
  if (code) {
    const answer = await post("/api/v1/auth/exchange", { code });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.detail);
    localStorage.setItem("tab", told.tab);
  }
  const tab = localStorage.getItem("tab");
  if (!tab) throw new Error("This browser is not signed in: `neco serve link` makes a link.");
  return tab;
}

async function show() {
  const tab = await signIn();
  const answer = await fetch("/api/v1/sessions", { headers: { "x-neco-tab": tab } });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.detail);
  const { sessions } = told;
  state.textContent = `Signed in. ${sessions.length} sessions:`;
  for (const session of sessions) {
    const item = document.createElement("li");
    item.textContent = `${session.title || "(untitled)"}  ${session.cwd}`;
    document.getElementById("sessions").append(item);
  }
}

show().catch((error) => (state.textContent = error.message));
