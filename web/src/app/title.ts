//! The title and the sign of the tab: who waits for whom is seen there, too.

import { useEffect } from "react";

type Standing = "asks" | "works" | "paused" | "rests";

const SIGN: Record<Standing, string> = { asks: "◆ ", works: "● ", paused: "‖ ", rests: "" };

const EARS = "M6 26V8l8 7h8l8-7v18M13 30h10";

export function useTitle(title: string, standing: Standing): void {
  useEffect(() => {
    document.title = `${SIGN[standing]}${title === "" ? "Neco" : `${title} · Neco`}`;
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]') ?? document.head.appendChild(newLink());
    link.href = `data:image/svg+xml,${encodeURIComponent(picture(standing))}`;
  }, [title, standing]);
}

function newLink(): HTMLLinkElement {
  const link = document.createElement("link");
  link.rel = "icon";
  return link;
}

/** The mark; a filled sign in its corner when somebody is waited for, a ring while there is work. */
function picture(standing: Standing): string {
  const ink = matchMedia("(prefers-color-scheme: dark)").matches ? "white" : "black";
  const sign = {
    asks: '<path d="M28 0l8 8-8 8-8-8z" fill="orange"/>',
    works: '<circle cx="28" cy="8" r="6" fill="teal"/>',
    paused: '<path d="M24 2v12M32 2v12" stroke="gray" stroke-width="4"/>',
    rests: "",
  }[standing];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 36 36"><path d="${EARS}" fill="none" stroke="${ink}" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>${sign}</svg>`;
}
