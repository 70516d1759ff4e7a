// The surface as it is drawn: only the vertices that triangles use, several of them where a sharp edge meets (so that it stays
// sharp), and their normals.

export interface Layout {
  source: Uint32Array; // of every drawn vertex: the vertex of the body
  index: Uint32Array; // the triangles, of drawn vertices
}

const crease = Math.cos((40 * Math.PI) / 180);

// Unit normals of triangles; zero for degenerate ones.
function faceNormals(position: Float32Array, triangles: ArrayLike<number>): Float32Array {
  const normals = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = position[b] - position[a], uy = position[b + 1] - position[a + 1], uz = position[b + 2] - position[a + 2];
    const vx = position[c] - position[a], vy = position[c + 1] - position[a + 1], vz = position[c + 2] - position[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    const length = Math.hypot(x, y, z) || 1;
    normals[t] = x / length;
    normals[t + 1] = y / length;
    normals[t + 2] = z / length;
  }
  return normals;
}

// For triangles that never change; `position` decides where edges are sharp. Around a vertex a triangle joins the first group
// whose first triangle leans less than the crease away from it.
export function creasedLayout(position: Float32Array, triangles: Int32Array): Layout {
  const normals = faceNormals(position, triangles);
  const count = position.length / 3;
  const first = new Int32Array(count).fill(-1); // first drawn vertex of each vertex
  const next: number[] = []; // the next one of the same vertex
  const leader: number[] = []; // the triangle that a drawn vertex was made for
  const source: number[] = [];
  const index = new Uint32Array(triangles.length);
  for (let corner = 0; corner < triangles.length; ++corner) {
    const v = triangles[corner], t = corner - (corner % 3);
    let drawn = first[v];
    while (drawn >= 0) {
      const other = leader[drawn];
      const cosine = normals[t] * normals[other] + normals[t + 1] * normals[other + 1] + normals[t + 2] * normals[other + 2];
      if (cosine >= crease) break;
      drawn = next[drawn];
    }
    if (drawn < 0) {
      drawn = source.length;
      source.push(v);
      leader.push(t);
      next.push(first[v]);
      first[v] = drawn;
    }
    index[corner] = drawn;
  }
  return { source: Uint32Array.from(source), index };
}

// For triangles that are new in every frame, such as a liquid's: one drawn vertex each.
export function plainLayout(vertices: number, triangles: Int32Array): Layout {
  const source = new Uint32Array(vertices);
  for (let v = 0; v < vertices; ++v) source[v] = v;
  return { source, index: new Uint32Array(triangles.buffer, triangles.byteOffset, triangles.length) };
}

// Takes out of `values` (`size` numbers per vertex) what the drawn vertices have.
export function gather(values: Float32Array, size: number, layout: Layout, result: Float32Array): void {
  const { source } = layout;
  for (let v = 0, k = 0; v < source.length; ++v) {
    const from = size * source[v];
    for (let c = 0; c < size; ++c) result[k++] = values[from + c];
  }
}

// Normals of the drawn vertices, weighted by area.
export function vertexNormals(position: Float32Array, index: Uint32Array, normals: Float32Array): void {
  normals.fill(0);
  for (let t = 0; t < index.length; t += 3) {
    const a = 3 * index[t], b = 3 * index[t + 1], c = 3 * index[t + 2];
    const ax = position[a], ay = position[a + 1], az = position[a + 2];
    const ux = position[b] - ax, uy = position[b + 1] - ay, uz = position[b + 2] - az;
    const vx = position[c] - ax, vy = position[c + 1] - ay, vz = position[c + 2] - az;
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    normals[a] += x; normals[a + 1] += y; normals[a + 2] += z;
    normals[b] += x; normals[b + 1] += y; normals[b + 2] += z;
    normals[c] += x; normals[c + 1] += y; normals[c + 2] += z;
  }
  for (let k = 0; k < normals.length; k += 3) {
    const length = Math.sqrt(normals[k] ** 2 + normals[k + 1] ** 2 + normals[k + 2] ** 2) || 1;
    normals[k] /= length;
    normals[k + 1] /= length;
    normals[k + 2] /= length;
  }
}
