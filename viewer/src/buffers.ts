// The numbers of a geometry, written anew for every frame.
import * as three from "three";

// The array of an attribute, to be written to: that of the last frame where the size stays, so that the graphics card keeps its memory.
export function writable(geometry: three.BufferGeometry, name: string, size: number, count: number): Float32Array {
  const kept = geometry.getAttribute(name) as three.BufferAttribute | undefined;
  if (kept && kept.count === count) {
    kept.needsUpdate = true;
    return kept.array as Float32Array;
  }
  // Gives back what the graphics card holds of the old size.
  geometry.dispose();
  const attribute = new three.BufferAttribute(new Float32Array(size * count), size);
  attribute.setUsage(three.DynamicDrawUsage);
  geometry.setAttribute(name, attribute);
  return attribute.array as Float32Array;
}
