import { defineConfig } from "vite";

// Every address is relative: the page lies below the token of its server.
export default defineConfig({
  base: "./",
  build: { target: "es2022", modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1000 },
});
