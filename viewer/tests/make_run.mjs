// Writes runs of any size as Lope does (docs/formats.md), for trying the page with.
//     node tests/make_run.mjs cloth|points DIRECTORY [FRAMES]
// cloth: a waving sheet of 200,000 triangles with two fields; points: a million balls.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const names = new Map([[Float32Array, "f32"], [Int32Array, "i32"]]);

// arrays: [name, shape, values] each.
export function frameBytes(number, time, words, arrays) {
  let offset = 0;
  const entries = arrays.map(([name, shape, values]) => {
    const entry = { name, type: names.get(values.constructor), shape, offset };
    offset += Math.ceil(values.byteLength / 8) * 8;
    return entry;
  });
  const header = new TextEncoder().encode(JSON.stringify({ version: 1, frame: number, time, metadata: words, arrays: entries }));
  const length = Math.ceil(header.length / 8) * 8;
  const bytes = new Uint8Array(16 + length + offset);
  bytes.set([0x4c, 0x4f, 0x50, 0x45, 0x46, 0x52, 0x4d, 0x01]);
  new DataView(bytes.buffer).setBigUint64(8, BigInt(length), true);
  bytes.fill(32, 16, 16 + length);
  bytes.set(header, 16);
  arrays.forEach(([, , values], i) => {
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), 16 + length + entries[i].offset);
  });
  return bytes;
}

export function writeRun(directory, words, constant, frames, count) {
  mkdirSync(join(directory, "frames"), { recursive: true });
  writeFileSync(join(directory, "scene.toml"), '[scene]\nname = "made"\n');
  writeFileSync(join(directory, "stats.jsonl"), "");
  writeFileSync(join(directory, "frames/topology.lope"), frameBytes(0, 0, words, constant));
  for (let k = 0; k < count; ++k) {
    const name = `frame_${String(k).padStart(6, "0")}.lope`;
    writeFileSync(join(directory, "frames", name), frameBytes(k, k / 24, {}, frames(k)));
  }
}

export function writeCloth(directory, count, side = 317) {
  const n = side * side, triangles = new Int32Array(6 * (side - 1) ** 2);
  let t = 0;
  for (let i = 0; i + 1 < side; ++i) {
    for (let j = 0; j + 1 < side; ++j) {
      const a = i * side + j;
      triangles.set([a, a + 1, a + side, a + 1, a + side + 1, a + side], t);
      t += 6;
    }
  }
  const constant = [["sheet/color", [3], Float32Array.of(0.2, 0.5, 0.75)], ["sheet/triangles", [t / 3, 3], triangles]];
  const words = { scene: "cloth", "sheet/dimension": "3", "unit/speed": "m/s", "unit/stretch": "" };
  const frame = (k) => {
    const position = new Float32Array(3 * n), speed = new Float32Array(n), stretch = new Float32Array(triangles.length / 3);
    for (let i = 0; i < side; ++i) {
      for (let j = 0; j < side; ++j) {
        const x = (2 * i) / (side - 1) - 1, z = (2 * j) / (side - 1) - 1, v = i * side + j, r = Math.hypot(x, z);
        const phase = 9 * r - 0.25 * k;
        position.set([x, (0.2 * Math.cos(phase)) / (1 + 3 * r) + 0.01 * Math.sin(60 * x + 0.1 * k), z], 3 * v);
        speed[v] = Math.abs((1.2 * Math.sin(phase)) / (1 + 3 * r));
      }
    }
    for (let e = 0; e < stretch.length; ++e) stretch[e] = 1 + 0.2 * speed[triangles[3 * e]];
    return [["sheet/position", [n, 3], position], ["sheet/vertex/speed", [n], speed], ["sheet/element/stretch", [stretch.length], stretch]];
  };
  writeRun(directory, words, constant, frame, count);
}

export function writePoints(directory, count, n = 1000000) {
  const constant = [["snow/color", [3], Float32Array.of(0.85, 0.87, 0.92)]];
  const words = { scene: "points", "snow/dimension": "3", "snow/points/radius": "0.004", "unit/velocity": "m/s" };
  const side = Math.ceil(Math.cbrt(n));
  const frame = (k) => {
    const position = new Float32Array(3 * n), velocity = new Float32Array(3 * n);
    for (let p = 0; p < n; ++p) {
      const x = (p % side) / side - 0.5, y = (Math.floor(p / side) % side) / side - 0.5, z = Math.floor(p / side / side) / side - 0.5;
      const angle = 0.05 * k * (1 - Math.abs(y));
      position.set([x * Math.cos(angle) - z * Math.sin(angle), y + 0.05 * Math.sin(8 * x + 0.2 * k), x * Math.sin(angle) + z * Math.cos(angle)], 3 * p);
      velocity.set([-z, 0, x], 3 * p);
    }
    return [["snow/points/position", [n, 3], position], ["snow/points/field/velocity", [n, 3], velocity]];
  };
  writeRun(directory, words, constant, frame, count);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [kind, directory, count] = process.argv.slice(2);
  (kind === "points" ? writePoints : writeCloth)(directory, Number(count) || (kind === "points" ? 10 : 300));
}
