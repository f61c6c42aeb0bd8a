//! How the page is built: one bundle below `dist`, its files named by what they hold and packed as they are served.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const ASSETS = join(import.meta.dirname, "dist/assets");

/** The program serves what is text as it is packed here. */
const packed: Plugin = {
  name: "packed",
  apply: "build",
  buildStart() {
    // What is kept beside it stays.
    rmSync(ASSETS, { recursive: true, force: true });
  },
  closeBundle() {
    for (const name of readdirSync(ASSETS).filter((name) => /\.(?:js|css|svg)$/.test(name))) {
      const path = join(ASSETS, name);
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      rmSync(path);
    }
  },
};

/** While the page is worked on, a real server answers it: `NECO_SERVER=http://127.0.0.1:7420 npm run dev`. */
const target = process.env.NECO_SERVER ?? "http://127.0.0.1:7420";

export default defineConfig({
  plugins: [react(), packed],
  server: {
    proxy: {
      "/api": {
        target,
        changeOrigin: true,
        ws: true,
        configure: (proxy) => {
          // The server answers its own pages alone.
          proxy.on("proxyReq", (request) => {
            if (request.hasHeader("origin")) request.setHeader("origin", target);
          });
          proxy.on("proxyReqWs", (request) => request.setHeader("origin", target));
        },
      },
    },
  },
  html: { cspNonce: "%NONCE%" },
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    emptyOutDir: false,
    chunkSizeWarningLimit: 800,
  },
  test: {
    projects: [
      { extends: true, test: { name: "parts", include: ["test/*.test.{ts,tsx}"] } },
      {
        extends: true,
        test: {
          name: "journeys",
          include: ["test/journeys/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
