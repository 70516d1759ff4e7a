// Values as colours on the graphics card: a texture whose lower row is a colour map and whose upper row is the colour of missing
// values; the first coordinate says where in the map a value is.
import * as three from "three";
import { category, colourTable, encode, missing, type Rgb } from "./colours";

export interface Colouring {
  field: string; // empty: each body has its own colour
  map: string;
  range?: [number, number]; // none: that of the values shown
  log: boolean;
}

function textureOf(colours: Rgb[]): three.DataTexture {
  const bytes = new Uint8Array(8 * colours.length);
  colours.forEach((colour, i) => bytes.set([...colour.map(encode), 255], 4 * i));
  for (let i = colours.length; i < 2 * colours.length; ++i) bytes.set([...missing.map(encode), 255], 4 * i);
  const texture = new three.DataTexture(bytes, colours.length, 2);
  texture.colorSpace = three.SRGBColorSpace;
  texture.needsUpdate = true;
  return texture;
}

const kept = new Map<string, three.DataTexture>();

export function mapTexture(name: string): three.DataTexture {
  const found = kept.get(name);
  if (found) return found;
  const texture = textureOf(colourTable(name));
  texture.minFilter = texture.magFilter = three.LinearFilter;
  kept.set(name, texture);
  return texture;
}

// For numbers 0, 1, … that name things.
export function categoryTexture(count: number): three.DataTexture {
  return textureOf(Array.from({ length: count }, (_, i) => category(i)));
}

export function paletteTexture(srgb: Float32Array): three.DataTexture {
  const colours: Rgb[] = [];
  for (let k = 0; k < srgb.length; k += 3) {
    colours.push(new three.Color().setRGB(srgb[k], srgb[k + 1], srgb[k + 2], three.SRGBColorSpace).toArray() as Rgb);
  }
  return textureOf(colours);
}

// Texture coordinates of values: two numbers each.
export function mapCoordinates(values: ArrayLike<number>, low: number, high: number, log: boolean, result: Float32Array): void {
  const at = log ? (x: number) => Math.log(Math.max(x, low)) : (x: number) => x;
  const from = at(low), scale = at(high) > from ? 1 / (at(high) - from) : 0;
  for (let i = 0, k = 0; i < values.length; ++i) {
    const value = values[i], known = value === value;
    result[k++] = known ? (scale > 0 ? (at(value) - from) * scale : 0.5) : 0;
    result[k++] = known ? 0 : 1;
  }
}

// The smallest and largest of the finite values.
export function rangeOf(values: ArrayLike<number>, range: [number, number] = [Infinity, -Infinity]): [number, number] {
  let [low, high] = range;
  for (let i = 0; i < values.length; ++i) {
    const value = values[i];
    if (value < low && value > -Infinity) low = value;
    if (value > high && value < Infinity) high = value;
  }
  return [low, high];
}
