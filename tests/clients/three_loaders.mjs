// Exports opened by three.js' own loaders: glTF played at the times of frames, and the text of USD, its samples in time and what
// three.js makes of it.
//     node three_loaders.mjs FOLDER VIEWER
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, viewer] = process.argv.slice(2);
const three = (name) => import(pathToFileURL(join(viewer, "node_modules/three", name)));
globalThis.self = globalThis;
const THREE = await three("build/three.module.js");
const { GLTFLoader } = await three("examples/jsm/loaders/GLTFLoader.js");
const { USDLoader } = await three("examples/jsm/loaders/USDLoader.js");
const { USDAParser } = await three("examples/jsm/loaders/usd/USDAParser.js");

const failures = [];
let checked = 0;
function near(where, found, wanted, tolerance = 2e-6) {
  const a = [found].flat(), b = [wanted].flat(), scale = Math.max(1e-3, ...b.map(Math.abs));
  if (a.length !== b.length || !a.every((x, k) => Math.abs(x - b[k]) <= tolerance * scale)) failures.push(`${where}: ${a} instead of ${b}`);
}
function same(where, found, wanted) {
  if (found !== wanted) failures.push(`${where}: ${found} instead of ${wanted}`);
}
const shown = (thing) => thing.surface ?? thing.points;
const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);

// Bounds of vertices as morph targets leave them.
function boundsOf(mesh) {
  const box = new THREE.Box3(), x = new THREE.Vector3();
  mesh.updateWorldMatrix(true, false);
  const count = mesh.geometry.attributes.position.count;
  for (let i = 0; i < count; ++i) {
    mesh.isMesh ? mesh.getVertexPosition(i, x) : x.fromBufferAttribute(mesh.geometry.attributes.position, i);
    box.expandByPoint(x.applyMatrix4(mesh.matrixWorld));
  }
  return box;
}

async function checkGltf(run, data) {
  const bytes = readFileSync(join(folder, run, "gltf", `${run}.glb`));
  const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), "");
  const mixer = new THREE.AnimationMixer(gltf.scene);
  for (const clip of gltf.animations) {
    const action = mixer.clipAction(clip);
    action.setLoop(THREE.LoopOnce).clampWhenFinished = true;
    action.play();
  }
  const start = Object.values(data.frames)[0].time;
  for (const [number, frame] of Object.entries(data.frames)) {
    mixer.setTime(frame.time - start);
    for (const [name, thing] of Object.entries(frame.things)) {
      const where = `${run} gltf ${number} ${name}`, wanted = shown(thing), node = gltf.scene.getObjectByName(name);
      const parts = [];
      node?.traverse((o) => { if ((o.isMesh || o.isPoints) && o.scale.x > 0.5) parts.push(o); });
      same(`${where}: meshes that are shown`, parts.length, 1);
      if (parts.length !== 1) continue;
      ++checked;
      const [mesh] = parts, box = boundsOf(mesh);
      near(`${where}: lowest corner`, box.min.toArray(), wanted.min, 1e-5);
      near(`${where}: highest corner`, box.max.toArray(), wanted.max, 1e-5);
      same(`${where}: kind`, mesh.isPoints ?? false, !thing.surface);
      if (!wanted.texture) same(`${where}: vertices`, mesh.geometry.attributes.position.count, wanted.count);
      if (wanted.triangles) same(`${where}: triangles`, mesh.geometry.index.count / 3, wanted.triangles);
      near(`${where}: colour`, mesh.material.color.toArray(), thing.color.map(linear), 1e-5);
      const velocity = mesh.geometry.attributes._velocity;
      if (!mesh.morphTargetInfluences && wanted.fields.velocity) {
        same(`${where}: velocities`, velocity?.count, wanted.count);
        for (let k = 0; velocity && k < 3; ++k) {
          const values = Array.from({ length: velocity.count }, (_, i) => velocity.getComponent(i, k));
          near(`${where}: velocity`, [Math.min(...values), Math.max(...values)], [wanted.fields.velocity.min[k], wanted.fields.velocity.max[k]]);
        }
      }
    }
  }
}

// The samples of an attribute by time code: one that stays is the same at all.
function sampled(spec, code) {
  const { timeSamples, default: constant } = spec.fields;
  if (!timeSamples) return constant;
  const at = timeSamples.times.indexOf(code);
  if (at >= 0) return timeSamples.values[at];
  return timeSamples.values[timeSamples.times.findLastIndex((t) => t <= code)];
}
function ranges(flat) {
  const low = [Infinity, Infinity, Infinity], high = low.map((x) => -x);
  flat.forEach((x, k) => {
    low[k % 3] = Math.min(low[k % 3], x);
    high[k % 3] = Math.max(high[k % 3], x);
  });
  return [low, high];
}

function checkUsd(run, data, kind, place, up, unit) {
  const text = readFileSync(join(folder, run, kind, `${run}.usda`), "utf8");
  const { specsByPath } = new USDAParser().parseData(text);
  const root = specsByPath["/"].fields;
  same(`${run} ${kind}: axis`, root.upAxis, up);
  near(`${run} ${kind}: metres`, Number(root.metersPerUnit), unit);
  near(`${run} ${kind}: rate`, root.timeCodesPerSecond, data.rate, 1e-9);
  for (const [number, frame] of Object.entries(data.frames)) {
    for (const [name, thing] of Object.entries(frame.things)) {
      const parts = [];
      if (thing.surface) parts.push([thing.points ? `${name}_surface` : name, thing.surface]);
      if (thing.points) parts.push([name, thing.points]);
      for (const [prim, wanted] of parts) {
        ++checked;
        const where = `${run} ${kind} ${number} ${prim}`, path = `/${run}/${prim}`;
        const points = sampled(specsByPath[`${path}.points`] ?? { fields: {} }, Number(number))?.flat() ?? [];
        same(`${where}: vertices`, points.length / 3, wanted.count);
        const [low, high] = ranges(points), [wantedLow, wantedHigh] = place(wanted.min, wanted.max);
        near(`${where}: lowest corner`, low, wantedLow);
        near(`${where}: highest corner`, high, wantedHigh);
        if (wanted.triangles) same(`${where}: corners`, sampled(specsByPath[`${path}.faceVertexIndices`], Number(number)).length, 3 * wanted.triangles);
        const velocities = specsByPath[`${path}.velocities`];
        if (wanted.fields.velocity) {
          const [slowest, fastest] = ranges(sampled(velocities ?? { fields: {} }, Number(number))?.flat() ?? []);
          const [a, b] = place(wanted.fields.velocity.min, wanted.fields.velocity.max);
          near(`${where}: velocity`, [slowest, fastest].flat(), [a, b].flat());
        }
        if (wanted.texture) {
          const st = sampled(specsByPath[`${path}.primvars:st`] ?? { fields: {} }, Number(number))?.flat() ?? [];
          same(`${where}: texture coordinates`, st.length, 6 * wanted.triangles);
        }
      }
    }
  }
  // What three.js draws of it: named meshes.
  const scene = new USDLoader().parse(text);
  const first = Object.values(data.frames)[0];
  for (const [name, thing] of Object.entries(first.things)) {
    if (!thing.surface) continue;
    const mesh = scene.getObjectByName(thing.points ? `${name}_surface` : name);
    let triangles = 0;
    mesh?.traverse((o) => { if (o.isMesh) triangles += (o.geometry.index?.count ?? o.geometry.attributes.position.count) / 3; });
    same(`${run} ${kind}: triangles that three.js draws of ${name}`, triangles, thing.surface.triangles);
  }
}

const asWritten = (low, high) => [low, high];
const turned = (low, high) => [[low[0], -high[2], low[1]], [high[0], -low[2], high[1]]].map((v) => v.map((x) => 100 * x));
for (const [run, data] of Object.entries(JSON.parse(readFileSync(join(folder, "expected.json"))))) {
  await checkGltf(run, data);
  checkUsd(run, data, "usd", asWritten, "Y", 1);
  if (run === "mixed") checkUsd(run, data, "usd_z", turned, "Z", 0.01);
}
for (const failure of failures) console.log("FAILED:", failure);
console.log(`three.js ${THREE.REVISION}: ${checked} bodies in frames, ${failures.length} differences`);
process.exit(failures.length > 0 || checked === 0 ? 1 : 0);
