//! How the page is built: one bundle below `dist`, its files named by what they hold and packed as they are served.

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { packed } from "./scripts/packed.ts";

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
  worker: { format: "es" },
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
      ...["journeys", "figures"].map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`test/${name}/*.test.ts`],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      })),
    ],
  },
});
