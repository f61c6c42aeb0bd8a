//! Where the page begins: it signs in with the code of a link, then goes to the server and draws.

import "./look";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app";
import { signIn, Wire, WireContext } from "./wire";

const trouble = await signIn().then(
  () => undefined,
  (problem: unknown) => (problem instanceof Error ? problem.message : String(problem)),
);

const wire = new Wire();
wire.line.start();

const queries = new QueryClient({ defaultOptions: { queries: { retry: 1, refetchOnWindowFocus: false } } });

const place = document.getElementById("page");
if (place !== null) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <WireContext value={wire}>
          <App trouble={trouble} />
        </WireContext>
      </QueryClientProvider>
    </StrictMode>,
  );
}
