// The parts of the page that need no browser: frames, fields, surfaces, colours, charts.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { frameBytes } from "./make_run.mjs";

const folder = mkdtempSync(join(tmpdir(), "lope-units-"));
const units = {};

before(async () => {
  const sources = ["frame", "drawable", "surface", "colours", "chart", "statistics", "palette", "frames"];
  await build({
    entryPoints: sources.map((name) => fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))),
    bundle: true, format: "esm", outdir: folder, outExtension: { ".js": ".mjs" }, logLevel: "error",
  });
  for (const name of sources) Object.assign(units, await import(pathToFileURL(join(folder, `${name}.mjs`))));
});
after(() => rmSync(folder, { recursive: true }));

const tetrahedron = () => {
  const words = { scene: "s", "a/dimension": "3", "unit/stress": "Pa" };
  const constant = [
    ["a/color", [3], Float32Array.of(1, 0.5, 0)], ["a/triangles", [4, 3], Int32Array.of(0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3)],
    ["a/tetrahedra", [1, 4], Int32Array.of(0, 1, 2, 3)],
  ];
  const moving = [
    ["a/position", [5, 3], Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9)],
    ["a/element/stress", [1, 6], Float32Array.of(3, 3, 3, 0, 0, 2)],
    ["a/vertex/velocity", [5, 3], Float32Array.of(3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
  ];
  const decode = (...what) => units.decodeFrame(frameBytes(...what).buffer);
  const topology = decode(0, 0, words, constant), frame = decode(7, 0.5, {}, moving);
  return { topology, frame, body: units.drawable("a", topology, frame) };
};

test("a frame is read back as it was written", () => {
  const { topology, frame, body } = tetrahedron();
  assert.deepEqual(units.drawableNames(topology), ["a"]);
  assert.equal(frame.number, 7);
  assert.equal(frame.time, 0.5);
  assert.deepEqual([...body.triangles].slice(0, 3), [0, 2, 1]);
  assert.ok(body.constantTriangles);
  assert.deepEqual([...units.fieldNames([body], topology.words)], [["stress", "Pa"], ["velocity", ""]]);
});

test("what is no frame, or a piece of one, is refused", () => {
  const bytes = frameBytes(0, 0, {}, [["x", [100], new Float32Array(100)]]);
  assert.throws(() => units.decodeFrame(bytes.buffer.slice(0, 12)), /not a frame/);
  assert.throws(() => units.decodeFrame(bytes.buffer.slice(0, 40)), /ends within its header/);
  assert.throws(() => units.decodeFrame(bytes.buffer.slice(0, bytes.length - 8)), /ends within x/);
  bytes[0] = 0;
  assert.throws(() => units.decodeFrame(bytes.buffer), /not a frame/);
});

test("fields are shown as pictures show them", () => {
  const { body } = tetrahedron();
  const stress = units.onVertices(body, "stress");
  assert.ok(Math.abs(stress[0] - 2 * Math.sqrt(3)) < 1e-5, "von Mises value of a pure shear is √3 times it");
  assert.equal(stress[2], stress[0]);
  assert.ok(Number.isNaN(stress[4]), "a vertex of no element has no value");
  assert.deepEqual(units.onVertices(body, "von_mises"), stress, "either stands for the other");
  assert.equal(units.onVertices(body, "speed")[0], 5);
  assert.equal(units.onVertices(body, "pressure"), undefined);
});

test("edges stay sharp, smooth surfaces stay whole, vertices inside are left out", () => {
  const { body } = tetrahedron();
  const sharp = units.creasedLayout(body.position, body.triangles);
  assert.equal(sharp.source.length, 12);
  assert.ok(!sharp.source.includes(4));
  const positions = new Float32Array(3 * 12), normals = new Float32Array(3 * 12);
  units.gather(body.position, 3, sharp, positions);
  units.vertexNormals(positions, sharp.index, normals);
  const first = sharp.index[0];
  assert.deepEqual([...normals.slice(3 * first, 3 * first + 3)].map((x) => x + 0), [0, 0, -1]);
  // A sheet of four vertices, hardly bent.
  const flat = units.creasedLayout(Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0.1, 0, 1, 0), Int32Array.of(0, 1, 2, 0, 2, 3));
  assert.equal(flat.source.length, 4);
});

test("colour maps grow lighter, and values find their place in them", () => {
  for (const name of ["tide", "ember"]) {
    const luminance = units.colourTable(name).map(([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b);
    assert.equal(luminance.length, units.mapSize);
    for (let i = 1; i < luminance.length; ++i) assert.ok(luminance[i] >= luminance[i - 1] - 1e-4, `${name} at ${i}`);
  }
  const place = new Float32Array(8);
  units.mapCoordinates([1, 3, NaN, 5], 1, 5, false, place);
  assert.deepEqual([...place], [0, 0, 0.5, 0, 0, 1, 1, 0]);
  units.mapCoordinates([1, 10, 100, 0], 1, 100, true, place);
  assert.deepEqual([...place].filter((_, i) => i % 2 === 0).map((x) => Math.round(100 * x) / 100), [0, 0.5, 1, 0]);
  assert.deepEqual(units.rangeOf([3, NaN, -1, Infinity]), [-1, 3]);
});

test("ticks are round and inside", () => {
  assert.deepEqual(units.ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(units.ticks(-0.31, 0.29, 4).map((x) => Math.round(10 * x) + 0), [-2, 0, 2]);
  assert.deepEqual(units.logTicks(0.002, 30), [0.01, 0.1, 1, 10]);
  assert.ok(units.logTicks(1e-12, 1e6).length <= 8);
});

test("the shares of a step's time are all of it", () => {
  const seconds = { evaluate: 0.1, hessian: 0.2, factorize: 0.3, solve: 0.1, total: 0.8 };
  const step = { seconds: 1, islands: [{ bodies: ["a"], solve: { seconds, outcome: "converged", iterations: 30, linear_iterations: 0 } }] };
  const parts = units.shares([step]);
  assert.ok(Math.abs(parts.reduce((sum, [, s]) => sum + s, 0) - 1) < 1e-12);
  assert.equal(parts[0][0], "factors and preconditioners");
  assert.match(units.reasons(step).join(" "), /30 iterations/);
});

test("a frame that was under way when a run went on does not come back", async () => {
  const answers = [];
  const answer = (time) => ({ ok: true, arrayBuffer: () => Promise.resolve(frameBytes(3, time, {}, []).buffer) });
  const before = globalThis.fetch;
  globalThis.fetch = () => new Promise((resolve) => answers.push(resolve));
  try {
    const frames = new units.Frames(1);
    const old = assert.rejects(frames.get(3), { name: "AbortError" });
    frames.forget();
    const anew = frames.get(3);
    answers[0](answer(1));
    await old;
    assert.equal(frames.get(3), anew, "the second request is still known");
    answers[1](answer(2));
    assert.equal((await anew).time, 2);
    assert.equal((await frames.get(3)).time, 2);
    assert.equal(answers.length, 2);
  } finally {
    globalThis.fetch = before;
  }
});

test("points of parts without a surface are balls beside it", () => {
  const words = { scene: "s", "m/dimension": "3", "m/points/radius": "0.1" };
  const constant = [["m/color", [3], Float32Array.of(1, 1, 1)], ["m/points/palette", [2, 3], Float32Array.of(1, 0, 0, 0, 0, 1)]];
  const points = [
    ["m/points/position", [3, 3], Float32Array.of(0, 0, 0, 1, 2, 3, 4, 5, 6)], ["m/points/field/part", [3], Float32Array.of(0, 1, 1)],
    ["m/points/field/velocity", [3, 3], Float32Array.of(9, 0, 0, 3, 4, 0, 0, 0, 2)],
  ];
  const surface = [["m/position", [3, 3], Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0)], ["m/triangles", [1, 3], Int32Array.of(0, 1, 2)]];
  const of = (...arrays) => {
    const [topology, frame] = [frameBytes(0, 0, words, constant), frameBytes(0, 0, {}, arrays)].map((bytes) => units.decodeFrame(bytes.buffer));
    return units.drawable("m", topology, frame);
  };
  const mixed = of(...points, ...surface, ["m/element/part", [1], Float32Array.of(0)]);
  assert.deepEqual([...units.loosePoints(mixed)], [1, 2]);
  const loose = units.withPoints(mixed, units.loosePoints(mixed));
  assert.deepEqual([...loose.points.position], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual([...units.onPoints(loose, "part")], [1, 1]);
  assert.deepEqual([...units.onPoints(loose, "speed")], [5, 2]);
  assert.deepEqual([...units.onVertices(mixed, "part")], [0, 0, 0], "which colours the skin");
  assert.equal(units.loosePoints(of(...points, ...surface)).length, 0, "a surface without parts is that of everything");
});
