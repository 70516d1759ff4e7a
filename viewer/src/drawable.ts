// What there is to see of a body or an obstacle in a frame: a surface, points, a volume, each with fields (docs/formats.md,
// "Drawables"). No kind of matter is known here.
import type { Frame, NamedArray } from "./frame";

export type Place = "vertex" | "element" | "points" | "cells";

export interface Field {
  place: Place;
  components: number; // 1, 3 or 6
  values: Float32Array;
}

export interface Drawable {
  name: string;
  flat: boolean;
  color: [number, number, number]; // sRGB
  material: string; // "", "water", "glass"
  backdrop: boolean; // an obstacle
  bounded: boolean;
  cut: boolean;
  position?: Float32Array;
  triangles?: Int32Array;
  constantTriangles: boolean;
  tetrahedra?: Int32Array;
  points?: { position: Float32Array; radius: number; palette?: Float32Array };
  cells?: { index: Int32Array; spacing: number; origin: [number, number, number]; kinds: string[] };
  fields: Map<string, Field[]>; // by name
}

export function drawableNames(topology: Frame): string[] {
  const names: string[] = [];
  for (const name of topology.arrays.keys()) {
    const body = name.slice(0, -"/color".length);
    if (name.endsWith("/color") && `${body}/dimension` in topology.words) names.push(body);
  }
  return names;
}

const places: [string, Place][] = [
  ["vertex/", "vertex"],
  ["element/", "element"],
  ["points/field/", "points"],
  ["cells/field/", "cells"],
];

// The drawable `name` as it is in a frame: what never changes stands in `topology`.
export function drawable(name: string, topology: Frame, frame: Frame): Drawable {
  const find = (key: string): NamedArray | undefined =>
    frame.arrays.get(`${name}/${key}`) ?? topology.arrays.get(`${name}/${key}`);
  const word = (key: string): string => frame.words[`${name}/${key}`] ?? topology.words[`${name}/${key}`] ?? "";
  const floats = (key: string) => find(key)?.values as Float32Array | undefined;
  const integers = (key: string) => find(key)?.values as Int32Array | undefined;

  const fields = new Map<string, Field[]>();
  for (const source of [topology, frame]) {
    for (const [full, array] of source.arrays) {
      if (!full.startsWith(`${name}/`)) continue;
      const rest = full.slice(name.length + 1);
      const place = places.find(([prefix]) => rest.startsWith(prefix));
      const values = array.values instanceof Int32Array ? Float32Array.from(array.values) : array.values;
      if (!place || !(values instanceof Float32Array)) continue;
      const key = rest.slice(place[0].length);
      const same = (fields.get(key) ?? []).filter((field) => field.place !== place[1]);
      fields.set(key, [...same, { place: place[1], components: array.shape[1] ?? 1, values }]);
    }
  }
  const points = floats("points/position");
  const index = integers("cells/index");
  const origin = word("cells/origin").split(" ").map(Number);
  const color = floats("color") ?? [0.5, 0.5, 0.5];
  return {
    name,
    flat: word("dimension") === "2",
    color: [color[0], color[1], color[2]],
    material: word("material"),
    backdrop: word("backdrop") === "true",
    bounded: word("bounded") !== "false",
    cut: word("cut") === "true",
    position: floats("position"),
    triangles: integers("triangles"),
    constantTriangles: topology.arrays.has(`${name}/triangles`),
    tetrahedra: integers("tetrahedra"),
    points: points && { position: points, radius: Number(word("points/radius")) || 0, palette: floats("points/palette") },
    cells: index && {
      index,
      spacing: Number(word("cells/spacing")) || 0,
      origin: [origin[0] || 0, origin[1] || 0, origin[2] || 0],
      kinds: word("cells/kinds").split(" ").filter(Boolean),
    },
    fields,
  };
}

// One number in every place: a scalar itself, the length of a vector, the von Mises value of a symmetric tensor.
export function shown(field: Field): Float32Array {
  const { components, values } = field;
  if (components === 1) return values;
  const result = new Float32Array(values.length / components);
  for (let i = 0, k = 0; i < result.length; ++i, k += components) {
    if (components === 6) {
      const [xx, yy, zz] = [values[k], values[k + 1], values[k + 2]];
      const shear = values[k + 3] ** 2 + values[k + 4] ** 2 + values[k + 5] ** 2;
      result[i] = Math.sqrt(0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * shear);
    } else {
      let sum = 0;
      for (let c = 0; c < components; ++c) sum += values[k + c] * values[k + c];
      result[i] = Math.sqrt(sum);
    }
  }
  return result;
}

// A field of this name at one of these places, or what pictures show in its stead: velocity for speed, stress and von Mises
// stress for each other.
function find(body: Drawable, name: string, wanted: Place[]): Field | undefined {
  const like: Record<string, string> = { speed: "velocity", von_mises: "stress", stress: "von_mises" };
  for (const key of [name, like[name]]) {
    for (const place of wanted) {
      const field = key && body.fields.get(key)?.find((candidate) => candidate.place === place);
      if (field) return field;
    }
  }
  return undefined;
}

// A field on the vertices of the surface; elements' values are averaged around each vertex.
export function onVertices(body: Drawable, name: string): Float32Array | undefined {
  const field = body.position && find(body, name, ["vertex", "element"]);
  if (!field || !body.position) return undefined;
  const values = shown(field);
  if (field.place === "vertex") return values;
  const corners = body.tetrahedra ? 4 : 3;
  const elements = body.tetrahedra ?? body.triangles;
  const count = body.position.length / 3;
  if (!elements || elements.length !== corners * values.length) return undefined;
  const sum = new Float32Array(count), times = new Float32Array(count);
  for (let e = 0, k = 0; e < values.length; ++e) {
    const value = values[e];
    for (let c = 0; c < corners; ++c, ++k) {
      sum[elements[k]] += value;
      times[elements[k]] += 1;
    }
  }
  for (let v = 0; v < count; ++v) sum[v] = times[v] > 0 ? sum[v] / times[v] : NaN;
  return sum;
}

export function onPoints(body: Drawable, name: string): Float32Array | undefined {
  const field = find(body, name, ["points"]);
  return field && shown(field);
}

export function onCells(body: Drawable, name: string): Float32Array | undefined {
  const field = find(body, name, ["cells"]);
  return field && shown(field);
}

// The points that pictures show as balls beside a surface: those of parts without a triangle, where triangles know their parts.
export function loosePoints(body: Drawable): Uint32Array {
  const parts = (place: Place) => body.fields.get("part")?.find((field) => field.place === place)?.values;
  const ofTriangles = parts("element"), ofPoints = parts("points");
  if (!ofTriangles || !ofPoints) return new Uint32Array();
  const covered = new Set(ofTriangles);
  return Uint32Array.from(ofPoints.keys()).filter((p) => !covered.has(ofPoints[p]));
}

// These points alone, with their fields.
export function withPoints(body: Drawable, chosen: Uint32Array): Drawable {
  const take = (values: Float32Array, size: number) => {
    const result = new Float32Array(size * chosen.length);
    chosen.forEach((p, i) => result.set(values.subarray(size * p, size * (p + 1)), size * i));
    return result;
  };
  const fields = new Map<string, Field[]>();
  for (const [name, places] of body.fields) {
    const field = places.find(({ place }) => place === "points");
    if (field) fields.set(name, [{ ...field, values: take(field.values, field.components) }]);
  }
  return { ...body, points: body.points && { ...body.points, position: take(body.points.position, 3) }, fields };
}

// The fields of some drawables by name, with the unit that stands in the words of the frames.
export function fieldNames(bodies: Drawable[], words: Record<string, string>): Map<string, string> {
  const names = new Map<string, string>();
  for (const body of bodies) {
    if (body.backdrop) continue;
    for (const name of body.fields.keys()) names.set(name, words[`unit/${name}`] ?? "");
  }
  return names;
}
