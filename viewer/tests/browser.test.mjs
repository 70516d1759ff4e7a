// The page as a user meets it: a real viewer, a real browser. Pictures of what was seen go to tests/results/.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { difference, frameOf, missing, openPage, pixels, results, startBrowser, startViewer } from "./page.mjs";

const reason = missing();
if (reason) console.log(`not tested: ${reason}`);
const options = { skip: reason || false, timeout: 240000 };

let viewer, browser;
before(async () => {
  if (reason) return;
  viewer = await startViewer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await viewer?.end();
});

const until = (page, what, ...words) => page.waitForFunction(what, words, { timeout: 120000 });
const lastIs = (page, number) => until(page, ([n]) => Number(document.querySelector("#frame")?.dataset.last) >= n, number);
const shownIs = (page, number) => until(page, ([n]) => Number(document.querySelector("#frame")?.dataset.number) === n, number);
const stateIs = (page, word) => until(page, ([w]) => document.querySelector("#state")?.textContent.startsWith(w), word);
const picture = (page, name) => page.screenshot({ path: join(results, `${name}.png`) });

// Starts a scene from the gallery, with changes.
async function startFromGallery(scene, changes) {
  const opened = await openPage(browser, viewer.url);
  const { page } = opened;
  const card = page.locator(`[data-scene="${scene}"]`);
  await card.locator("summary").click();
  await card.locator("textarea").fill(changes.join("\n"));
  await card.locator("button.start").click();
  return opened;
}

test("a scene is started from the gallery, watched, scrubbed, coloured, stopped and gone on with", options, async () => {
  const { page, troubles } = await openPage(browser, viewer.url);
  await page.locator(".card").first().waitFor();
  assert.ok((await page.locator(".card").count()) > 20);
  await until(page, () => [...document.images].filter((image) => image.complete && image.naturalWidth > 0).length >= 4);
  await picture(page, "gallery");
  const card = page.locator('[data-scene="flagship"]');
  await card.locator("summary").click();
  await card.locator("textarea").fill(`body.bar.edge="5 cm"\ntime.duration="500 s"\nsolver.threads=1\noutput.fields=["residual", "von_mises", "speed"]`);
  await card.locator("button.start").click();

  // It runs, and the page follows.
  await lastIs(page, 3);
  const early = await pixels(page), first = await frameOf(page);
  await lastIs(page, first.last + 15);
  assert.ok((await frameOf(page)).number > first.number, "the newest frame is shown");
  assert.ok(difference(early, await pixels(page)) > 0.005, "the picture moves with the frames");

  // Scrubbing, stepping.
  await page.locator(".player input[type=range]").fill("2");
  await shownIs(page, 2);
  await page.locator(".stage canvas").focus();
  await page.keyboard.press("ArrowRight");
  await shownIs(page, 3);
  const third = await pixels(page);
  await page.keyboard.press("Home");
  await shownIs(page, 0);
  assert.ok(difference(third, await pixels(page)) > 0.002, "frame 0 looks other than frame 3");

  // Colours.
  await page.keyboard.press("Shift+ArrowRight");
  await shownIs(page, 10);
  const plain = await pixels(page);
  await page.locator("#field").selectOption("residual");
  await until(page, () => !document.querySelector(".colour-legend").hidden);
  const coloured = await pixels(page);
  assert.ok(difference(plain, coloured) > 0.02, "the field is seen");
  assert.match(await page.locator(".colour-legend").innerText(), /residual \(N\)/);
  await picture(page, "residual");
  await page.keyboard.press("w");
  await page.waitForTimeout(200);
  assert.ok(difference(coloured, await pixels(page)) > 0.005, "wires are seen");
  await page.keyboard.press("w");

  // Charts.
  await page.locator("#tab-charts").click();
  await until(page, () => [...document.querySelectorAll(".chart")].every((chart) => Number(chart.dataset.points) >= 2));
  await page.locator(".share").first().waitFor();
  await picture(page, "charts");

  // A checkpoint, the end, and on.
  await page.locator("#checkpoint").click();
  await page.locator("#tab-log").click();
  await until(page, () => document.querySelector("aside").innerText.includes("checkpoint after step"));
  await picture(page, "log");
  await page.locator("#stop").click();
  await stateIs(page, "stopped");
  const stopped = (await frameOf(page)).last;
  await page.locator("#resume").click();
  await lastIs(page, stopped + 5);
  await page.locator("#tab-scene").click();
  await until(page, () => document.querySelector("aside").innerText.includes("duration = 500"));
  await page.locator("#stop").click();
  await stateIs(page, "stopped");

  // Play, to the end.
  await page.keyboard.press("End");
  await page.locator(".stage canvas").focus();
  await page.locator(".player input[type=range]").fill("1");
  await shownIs(page, 1);
  await page.locator(".player select").selectOption("4");
  await page.locator("#play").click();
  await until(page, () => Number(document.querySelector("#frame").dataset.number) > 8);
  await page.locator("#play").click();

  // In the dark, and narrow.
  await page.locator("#theme").click();
  await page.locator("#tab-view").click();
  await page.waitForTimeout(200);
  await picture(page, "dark");
  await page.setViewportSize({ width: 420, height: 800 });
  await page.waitForTimeout(300);
  await picture(page, "narrow");

  // Once more with a change, ready to be started; and the run is in the list.
  await page.setViewportSize({ width: 1280, height: 780 });
  await page.locator("#again").click();
  await until(page, () => document.activeElement?.value?.includes("5 cm"));
  await page.goto(viewer.url);
  await page.locator(".runs a").first().waitFor();
  assert.match(await page.locator(".runs").innerText(), /flagship/);
  assert.deepEqual(troubles, []);
  await page.close();
});

test("the page keeps its own rules: nothing from elsewhere", options, async () => {
  const { page, troubles } = await openPage(browser, viewer.url, { bypassCSP: false });
  await page.locator(".card img").first().waitFor();
  await page.locator(".runs a").first().click();
  await page.locator(".body").first().waitFor();
  await page.locator("#field").selectOption({ index: 1 });
  await page.locator("#tab-charts").click();
  await page.locator(".share").first().waitFor();
  assert.deepEqual(troubles, []);
  await page.close();
});

test("bodies are hidden and coloured, obstacles and ground are seen", options, async () => {
  const { page, troubles } = await startFromGallery("box_stack", ['time.duration="0.3 s"']);
  await stateIs(page, "done");
  await picture(page, "obstacles");
  const all = await pixels(page);
  await page.locator(".stage canvas").focus();
  await page.keyboard.press("1");
  await page.waitForTimeout(200);
  assert.ok(difference(all, await pixels(page)) > 0.005, "the first body is gone");
  await page.keyboard.press("1");
  await page.locator(".body input[type=color]").first().fill("#00ff00");
  await page.waitForTimeout(200);
  assert.ok(difference(all, await pixels(page)) > 0.005, "the first body is green");
  assert.deepEqual(troubles, []);
  await page.close();
});

test("a liquid is seen as a surface and as balls, in space and in the plane", options, async () => {
  const space = await startFromGallery("dam_break", ["liquid.cell=0.05", 'time.duration="0.4 s"']);
  await stateIs(space.page, "done");
  await space.page.waitForTimeout(300);
  await picture(space.page, "liquid");
  await space.page.keyboard.press("End");
  await space.page.waitForTimeout(300);
  const surface = await pixels(space.page);
  await space.page.getByText("balls").first().click();
  await space.page.waitForTimeout(300);
  await space.page.locator("#field").selectOption("velocity");
  await space.page.waitForTimeout(300);
  assert.ok(difference(surface, await pixels(space.page)) > 0.01, "balls look other than the surface");
  await picture(space.page, "balls");
  assert.deepEqual(space.troubles, []);
  await space.page.close();

  const plane = await startFromGallery("liquid_square_2d", ['time.duration="0.3 s"']);
  await stateIs(plane.page, "done");
  await plane.page.waitForTimeout(300);
  await plane.page.keyboard.press("End");
  await plane.page.waitForTimeout(300);
  const points = await pixels(plane.page);
  await plane.page.getByText("cells").first().click();
  await plane.page.locator("#field").selectOption("pressure");
  await plane.page.waitForTimeout(300);
  assert.ok(difference(points, await pixels(plane.page)) > 0.01, "cells look other than points");
  await picture(plane.page, "plane");
  assert.deepEqual(plane.troubles, []);
  await plane.page.close();
});

test("a wrong change is said in words, and a scene that fails tells why", options, async () => {
  const { page, troubles } = await startFromGallery("flagship", ['body.bar.edge="9 apples"']);
  await until(page, () => /edge/.test(document.querySelector(".message")?.textContent ?? ""));
  assert.equal(new URL(page.url()).hash, "");
  // The browser itself writes about answers that refuse.
  assert.deepEqual(troubles.filter((text) => !/status of 400/.test(text)), []);
  await page.close();
});
