// A viewer and a browser for the tests: started here, ended with them. Where one of both is missing the tests say so and are left
// out.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = fileURLToPath(new URL(".", import.meta.url));
const program = resolve(process.env.LOPE ?? join(here, "../../build/release/bin/lope"));
const browserProgram = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const results = join(here, "results");

// Why the tests cannot run; empty: they can.
export function missing() {
  if (!existsSync(program)) return `there is no program ${program}: build it, or name one in LOPE`;
  if (!existsSync(join(here, "../dist/index.html"))) return "the page is not built: npm run build";
  if (!existsSync(browserProgram)) return `there is no browser ${browserProgram}: install Debian's chromium, or name one in CHROMIUM`;
  return "";
}

// `lope view` in an empty folder.
export async function startViewer(...words) {
  const folder = mkdtempSync(join(tmpdir(), "lope-view-"));
  return { folder, ...(await startViewerIn(folder, ...words)) };
}

export async function startViewerIn(folder, ...words) {
  const child = spawn(program, ["view", ...words], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((done) => child.once("exit", done));
  let printed = "";
  const url = await new Promise((done, fail) => {
    child.stderr.on("data", (text) => (printed += text));
    child.stdout.on("data", (text) => {
      printed += text;
      const found = /http:\S+/.exec(printed);
      if (found) done(found[0]);
    });
    void ended.then((status) => fail(new Error(`lope view ended with ${status}: ${printed}`)));
  });
  const end = async () => {
    child.kill("SIGINT");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, end };
}

// Software GL; nothing of the browser's own goes to the network.
export async function startBrowser() {
  mkdirSync(results, { recursive: true });
  return chromium.launch({
    executablePath: browserProgram,
    args: [
      "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
    ],
  });
}

// A page that remembers what went wrong: errors of its scripts, of its console, and requests to elsewhere. Its own rules about
// scripts would keep the functions out that the tests wait for; with `bypassCSP: false` they hold.
export async function openPage(browser, url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 780 }, bypassCSP: true, ...options });
  const troubles = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(error.message));
  page.on("request", (request) => {
    if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) troubles.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, troubles };
}

// The pixels of the stage, every fourth one in both directions.
export function pixels(page) {
  return page.evaluate(() => {
    const stage = document.querySelector(".stage canvas"), copy = document.createElement("canvas");
    copy.width = Math.floor(stage.width / 4);
    copy.height = Math.floor(stage.height / 4);
    const context = copy.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(stage, 0, 0, copy.width, copy.height);
    return [...context.getImageData(0, 0, copy.width, copy.height).data];
  });
}

// The part of the pixels that differ visibly.
export function difference(a, b) {
  let differ = 0;
  for (let i = 0; i < a.length; i += 4) {
    if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 24) ++differ;
  }
  return differ / (a.length / 4);
}

export const frameOf = (page) => page.locator("#frame").evaluate((counter) => ({ number: Number(counter.dataset.number), last: Number(counter.dataset.last) }));
