//! Icons, drawn on 16 by 16; they follow the ink around them.

import type { ReactElement } from "react";

const ICONS = {
  bell: <path d="M4 11V7.2a4 4 0 0 1 8 0V11l1.2 1.4H2.8zM6.8 14.2h2.4" />,
  box: <path d="M8 1.8 13.4 4v4.2c0 3-2.2 5-5.4 6-3.2-1-5.4-3-5.4-6V4z" />,
  branch: (
    <>
      <circle cx="4.5" cy="3.8" r="1.7" />
      <circle cx="4.5" cy="12.2" r="1.7" />
      <circle cx="11.5" cy="5.2" r="1.7" />
      <path d="M4.5 5.5v5M11.5 6.9c0 2.2-3.4 2-6 3.6" />
    </>
  ),
  chart: <path d="M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5v-6M13.5 13.5v-11" />,
  chat: <path d="M2.5 4h11M2.5 8h8M2.5 12h5" />,
  clip: <path d="m13 7.4-5.4 5.4a3.1 3.1 0 0 1-4.4-4.4l5.6-5.6a2.1 2.1 0 0 1 3 3L6.3 11.3a1 1 0 0 1-1.5-1.5l4.9-4.9" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="5.7" />
      <path d="M8 4.8V8l2.2 1.5" />
    </>
  ),
  diff: <path d="M8 2.5v6M5 5.5h6M5 13h6" />,
  down: <path d="m3.8 6 4.2 4.2L12.2 6" />,
  eye: (
    <>
      <path d="M1.6 8S4 3.8 8 3.8 14.4 8 14.4 8 12 12.2 8 12.2 1.6 8 1.6 8z" />
      <circle cx="8" cy="8" r="1.8" />
    </>
  ),
  file: (
    <>
      <path d="M4 1.8h5L12.5 5.3V13a1.2 1.2 0 0 1-1.2 1.2H4.7A1.2 1.2 0 0 1 3.5 13V2.3a.5.5 0 0 1 .5-.5z" />
      <path d="M8.8 2v3.6h3.6" />
    </>
  ),
  find: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.3 10.3 3.4 3.4" />
    </>
  ),
  flow: (
    <>
      <circle cx="3.6" cy="8" r="1.9" />
      <circle cx="12.4" cy="3.9" r="1.9" />
      <circle cx="12.4" cy="12.1" r="1.9" />
      <path d="M5.4 7.2l5.2-2.5M5.4 8.8l5.2 2.5" />
    </>
  ),
  folder: (
    <path d="M1.8 12.3V3.9c0-.4.3-.7.7-.7h3.6l1.6 1.9h5.8c.4 0 .7.3.7.7v6.5c0 .4-.3.7-.7.7h-11a.7.7 0 0 1-.7-.7z" />
  ),
  fork: (
    <>
      <circle cx="4" cy="3.6" r="1.6" />
      <circle cx="12" cy="3.6" r="1.6" />
      <circle cx="8" cy="12.4" r="1.6" />
      <path d="M4 5.2v1.3c0 1.3 4 1.1 4 4.300M12 5.200v1.300c0 1.3-4 1.1-4 4.3" />
    </>
  ),
  gear: (
    <>
      <path d="M2 4.5h5.2M11.2 4.5H14M2 11.5h2.8M8.8 11.5H14" />
      <circle cx="9.2" cy="4.5" r="1.9" />
      <circle cx="6.8" cy="11.5" r="1.9" />
    </>
  ),
  key: (
    <>
      <circle cx="5" cy="10.5" r="2.8" />
      <path d="m7.1 8.5 5.6-5.6M10.6 5l1.9 1.9" />
    </>
  ),
  keyboard: (
    <>
      <rect x="1.5" y="4" width="13" height="8.5" rx="1.2" />
      <path d="M4.200 6.800h.01M6.700 6.800h.01M9.300 6.800h.01M11.800 6.800h.01M5 9.800h6" />
    </>
  ),
  laptop: (
    <>
      <rect x="3" y="3.2" width="10" height="7" rx="1" />
      <path d="M1.6 12.8h12.8" />
    </>
  ),
  left: <path d="M10 3.8 5.8 8l4.2 4.2" />,
  list: <path d="M6 4h7.500M6 8h7.500M6 12h7.500M2.6 4h.01M2.6 8h.01M2.6 12h.01" />,
  mind: (
    <path d="M3 12.5V4.6C3 3.2 5.2 2.6 8 4c2.8-1.4 5-.8 5 .6v7.9c-1.6-1-3.4-.9-5 .3-1.6-1.2-3.4-1.3-5-.3zM8 4v8.8" />
  ),
  more: <path d="M3 8h.01M8 8h.01M13 8h.01" strokeWidth="2" />,
  note: <path d="M2.5 3.5h11v7.4h-5l-3 2.6v-2.6h-3z" />,
  pause: <path d="M5.6 3.8v8.4M10.4 3.8v8.4" />,
  pen: <path d="m3 13 .6-2.8 7.2-7.2a1.3 1.3 0 0 1 1.9 0l.3.3a1.3 1.3 0 0 1 0 1.9L5.8 12.4z" />,
  plug: <path d="M5.6 1.8v3.4M10.4 1.8v3.4M3.8 5.2h8.4v2.4a4.2 4.2 0 0 1-8.4 0zM8 11.8v2.6" />,
  plus: <path d="M8 3v10M3 8h10" />,
  retry: <path d="M13 8a5 5 0 1 1-1.6-3.700M13.2 1.900v2.900h-2.9" />,
  right: <path d="m6 3.8 4.2 4.2L6 12.2" />,
  rows: (
    <>
      <rect x="2" y="3" width="12" height="10" rx="1.2" />
      <path d="M2 8h12" />
    </>
  ),
  split: (
    <>
      <rect x="2" y="3" width="12" height="10" rx="1.2" />
      <path d="M8 3v10" />
    </>
  ),
  stack: <path d="M2.5 3.5h11v3h-11zM2.5 9.5h11v3h-11z" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1.2" />,
  term: <path d="M2.8 4.2 6.4 8l-3.6 3.8M8.4 12h4.8" />,
  theme: (
    <>
      <circle cx="8" cy="8" r="5.6" />
      <path d="M8 2.4v11.2A5.6 5.6 0 0 0 8 2.4z" fill="currentColor" />
    </>
  ),
  tree: (
    <>
      <rect x="2" y="2.5" width="4.5" height="3.5" rx="1" />
      <rect x="9.5" y="6.2" width="4.5" height="3.5" rx="1" />
      <rect x="9.5" y="11" width="4.5" height="3.5" rx="1" />
      <path d="M4.2 6v5.2a1.5 1.5 0 0 0 1.5 1.5h3.8M4.2 8h5.3" />
    </>
  ),
  undo: (
    <>
      <path d="M3 6.5h6.6a3.4 3.4 0 0 1 0 6.8H6" />
      <path d="M5.8 3.6 2.9 6.5l2.9 2.9" />
    </>
  ),
  up: <path d="M8 13V3.4M3.8 7.6 8 3.4l4.2 4.2" />,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.2" />
      <path d="M10.5 5.500V3.700a1.2 1.2 0 0 0-1.2-1.200H3.700a1.2 1.2 0 0 0-1.2 1.200v5.600a1.2 1.2 0 0 0 1.2 1.200h1.8" />
    </>
  ),
  check: <path d="m3 8.5 3.3 3.300L13 5" />,
  cross: <path d="m4 4 8 8M12 4l-8 8" />,
  words: (
    <path d="M2.5 4h7M6 2.500V4M8 4c-.6 3-2.6 5.2-5.2 6.500M4 6.300c1 2 2.6 3.5 4.6 4.300M8.5 13.500l2.7-7 2.7 7M9.5 11.200h3.5" />
  ),
} satisfies Record<string, ReactElement>;

export type IconName = keyof typeof ICONS;

export function Icon({ name, small }: { name: IconName; small?: boolean }) {
  return (
    <svg className={small ? "i s" : "i"} viewBox="0 0 16 16" aria-hidden="true">
      {ICONS[name]}
    </svg>
  );
}

/** The mark: two ears and a cursor. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M3.5 14.5V4.2l4.2 4h4.6l4.2-4v10.3" />
      <path d="M7.6 16.4h4.8" />
    </svg>
  );
}
