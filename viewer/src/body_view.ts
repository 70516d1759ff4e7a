// One body or obstacle on the stage. What it shows is made anew from every frame; buffers are kept where sizes stay.
import * as three from "three";
import { writable } from "./buffers";
import type { Drawable } from "./drawable";
import { loosePoints, onCells, onPoints, onVertices, withPoints } from "./drawable";
import { categoryTexture, mapCoordinates, mapTexture, paletteTexture, type Colouring } from "./palette";
import { Spheres } from "./spheres";
import type { Stage } from "./stage";
import { creasedLayout, gather, plainLayout, vertexNormals, type Layout } from "./surface";

export interface Slice {
  axis: 0 | 1 | 2;
  part: number; // 0 … 1 of the way through the volume
}

// How the user wants a body to look.
export interface Wish {
  visible: boolean;
  color?: string; // in place of its own
  surface: boolean;
  points: boolean;
  cells: boolean;
  wireframe: boolean;
}

export interface Shown {
  values?: Float32Array; // on what the surface, the points or the cells show, as far as they are shown
  positions?: Float32Array; // three for each value
  numbers?: Uint32Array; // of the points; none: 0, 1, …
  loose?: Shown; // on balls beside the surface
}

const categorical = new Set(["part", "partition", "kind"]);
export const isCategorical = (field: string) => categorical.has(field);

export class BodyView {
  readonly group = new three.Group();
  private readonly mesh: three.Mesh<three.BufferGeometry, three.MeshStandardMaterial>;
  private readonly wires: three.Mesh<three.BufferGeometry, three.MeshBasicMaterial>;
  private readonly spheres = new Spheres();
  private readonly squares: three.Mesh<three.BufferGeometry, three.MeshBasicMaterial>;
  private readonly rims?: three.LineSegments; // sharp edges of glass, which is hardly seen otherwise
  private layout?: Layout;
  private place = new Float32Array(0);
  private parts?: three.DataTexture;
  private categories?: three.DataTexture;
  private loose?: Uint32Array; // the points that are balls, if others are not

  constructor(private readonly stage: Stage, first: Drawable) {
    const side = first.cut ? three.BackSide : three.DoubleSide;
    const material = new three.MeshStandardMaterial({ side, metalness: 0 });
    if (first.material === "glass") Object.assign(material, { transparent: true, opacity: 0.07, depthWrite: false });
    if (first.material === "water") Object.assign(material, { transparent: true, opacity: 0.82 });
    Object.assign(material, { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    this.mesh = new three.Mesh(new three.BufferGeometry(), material);
    this.wires = new three.Mesh(this.mesh.geometry, new three.MeshBasicMaterial({ wireframe: true, color: 0x20262c, transparent: true, opacity: 0.45 }));
    this.squares = new three.Mesh(new three.BufferGeometry(), new three.MeshBasicMaterial({ side: three.DoubleSide }));
    this.mesh.name = this.wires.name = this.spheres.points.name = this.squares.name = first.name;
    this.wires.raycast = () => {};
    for (const object of [this.mesh, this.wires, this.squares]) object.frustumCulled = false;
    this.spheres.points.onBeforeRender = () => {
      this.spheres.points.material.uniforms.pixels.value = this.stage.pixelsPerMetre();
    };
    this.group.add(this.mesh, this.wires, this.spheres.points, this.squares);
    if (first.material !== "glass") return;
    this.rims = new three.LineSegments(new three.BufferGeometry(), new three.LineBasicMaterial({ color: 0x8fa3a6 }));
    this.rims.raycast = () => {};
    this.mesh.add(this.rims);
  }

  // Vertex of the body that a drawn one stands for.
  vertex(drawn: number): number {
    return this.layout ? this.layout.source[drawn] : drawn;
  }

  // Point of the body that a ball stands for.
  point(drawn: number): number {
    return this.loose ? this.loose[drawn] : drawn;
  }

  // Which values a frame shows, before their range is known.
  values(body: Drawable, wish: Wish, field: string, slice: Slice): Shown {
    if (!field || body.backdrop || !wish.visible) return {};
    if (wish.cells && body.cells) {
      const chosen = sliceOf(body, slice), values = onCells(body, field);
      return { values: values && Float32Array.from(chosen, (c) => values[c]), positions: cellCentres(body, chosen) };
    }
    if (wish.points && body.points) return { values: onPoints(body, field), positions: body.points.position };
    const numbers = loosePoints(body), loose = withPoints(body, numbers);
    return {
      values: onVertices(body, field), positions: body.position,
      loose: numbers.length > 0 ? { values: onPoints(loose, field), positions: loose.points?.position, numbers } : undefined,
    };
  }

  show(from: Drawable, wish: Wish, colouring: Colouring, range: [number, number], slice: Slice, shown: Shown): void {
    this.group.visible = wish.visible;
    if (!wish.visible) return;
    // A colour that was chosen is that of all parts.
    const body = wish.color && from.points ? { ...from, points: { ...from.points, palette: undefined } } : from;
    const color = wish.color ? new three.Color(wish.color) : new three.Color().setRGB(...body.color, three.SRGBColorSpace);
    const asCells = wish.cells && !!body.cells, asPoints = wish.points && !!body.points && !asCells;
    const asSurface = wish.surface && !!body.position && !!body.triangles && !asCells && (!asPoints || body.backdrop);
    this.mesh.visible = asSurface;
    this.wires.visible = asSurface && wish.wireframe;
    this.loose = asSurface && !asPoints ? loosePoints(body) : undefined;
    const withLoose = !!this.loose && this.loose.length > 0;
    this.spheres.points.visible = asPoints || withLoose;
    this.squares.visible = asCells;
    const coordinates = (values: Float32Array) => {
      if (this.place.length !== 2 * values.length) this.place = new Float32Array(2 * values.length);
      mapCoordinates(values, range[0], range[1], colouring.log, this.place);
      return this.place;
    };
    const mapFor = ({ values }: Shown) => (values ? this.textureFor(colouring, range) : null);
    const map = mapFor(shown);
    if (asSurface) this.showSurface(body, color, map, shown.values && coordinates(shown.values));
    if (asPoints) this.showPoints(body, color, map, shown.values && coordinates(shown.values));
    if (withLoose) {
      const { loose = {} } = shown;
      this.showPoints(withPoints(body, this.loose!), color, mapFor(loose), loose.values && coordinates(loose.values));
    }
    if (asCells) this.showCells(body, color, map, shown.values && coordinates(shown.values), slice);
  }

  private textureFor(colouring: Colouring, range: [number, number]): three.Texture {
    if (!isCategorical(colouring.field)) return mapTexture(colouring.map);
    const count = Math.min(Math.max(Math.round(range[1]) + 1, 1), 4096);
    if (this.categories?.image.width !== count) this.categories = categoryTexture(count);
    return this.categories!;
  }

  // The colours of parts, and the places of those parts in them.
  private partColours(body: Drawable, parts?: Float32Array): { texture: three.Texture; place: Float32Array } | undefined {
    const palette = body.points?.palette;
    if (!palette || !parts) return undefined;
    const place = new Float32Array(2 * parts.length), count = palette.length / 3;
    for (let i = 0; i < parts.length; ++i) place[2 * i] = (parts[i] + 0.5) / count;
    return { texture: (this.parts ??= paletteTexture(palette)), place };
  }

  private showSurface(body: Drawable, color: three.Color, map: three.Texture | null, place?: Float32Array): void {
    const parts = map ? undefined : this.partColours(body, onVertices(body, "part"));
    const texture = map ?? parts?.texture ?? null, places = map ? place : parts?.place;
    const position = body.position!, triangles = body.triangles!;
    const { geometry, material } = this.mesh;
    if (!this.layout || !body.constantTriangles) {
      this.layout = body.constantTriangles ? creasedLayout(position, triangles) : plainLayout(position.length / 3, triangles);
      geometry.dispose();
      geometry.setIndex(new three.BufferAttribute(this.layout.index, 1));
    }
    const count = this.layout.source.length;
    const positions = writable(geometry, "position", 3, count), normals = writable(geometry, "normal", 3, count);
    gather(position, 3, this.layout, positions);
    vertexNormals(positions, this.layout.index, normals);
    if (this.rims && this.layout.index.length < 60000) {
      this.rims.geometry.dispose();
      this.rims.geometry = new three.EdgesGeometry(geometry, 40);
    }
    if (places) gather(places, 2, this.layout, writable(geometry, "uv", 2, count));
    geometry.boundingSphere = null;
    material.color.copy(texture ? new three.Color(0xffffff) : color);
    if ((material.map === null) !== (texture === null) || (material.emissiveMap === null) !== (map === null)) material.needsUpdate = true;
    material.map = texture;
    // Values are read from colours: no side is so dark that they cannot be.
    material.emissiveMap = map;
    material.emissive.set(map ? 0x404040 : 0x000000);
    material.roughness = map ? 1 : body.material === "water" ? 0.18 : body.backdrop ? 0.9 : 0.62;
    const clear = body.material === "water" && !map;
    material.opacity = body.material === "glass" ? 0.07 : clear ? 0.82 : 1;
  }

  private showPoints(body: Drawable, color: three.Color, map: three.Texture | null, place?: Float32Array): void {
    const { position, radius } = body.points!;
    const parts = map ? undefined : this.partColours(body, onPoints(body, "part"));
    this.spheres.set(position, radius || 0.01, color, map ?? parts?.texture ?? null, map ? place : parts?.place);
  }

  private showCells(body: Drawable, color: three.Color, map: three.Texture | null, place: Float32Array | undefined, slice: Slice): void {
    const chosen = sliceOf(body, slice), centres = cellCentres(body, chosen);
    const axis = body.flat ? 2 : slice.axis, u = (axis + 1) % 3, v = (axis + 2) % 3, half = 0.5 * body.cells!.spacing;
    const { geometry, material } = this.squares;
    const positions = writable(geometry, "position", 3, 4 * chosen.length), uv = writable(geometry, "uv", 2, 4 * chosen.length);
    const index = new Uint32Array(6 * chosen.length);
    for (let c = 0; c < chosen.length; ++c) {
      for (let corner = 0; corner < 4; ++corner) {
        const at = 12 * c + 3 * corner;
        for (let k = 0; k < 3; ++k) positions[at + k] = centres[3 * c + k];
        positions[at + u] += corner === 1 || corner === 2 ? half : -half;
        positions[at + v] += corner >= 2 ? half : -half;
        if (place) uv.set(place.subarray(2 * c, 2 * c + 2), 8 * c + 2 * corner);
      }
      index.set([0, 1, 2, 0, 2, 3].map((corner) => 4 * c + corner), 6 * c);
    }
    geometry.setIndex(new three.BufferAttribute(index, 1));
    geometry.boundingSphere = null;
    material.color.copy(map ? new three.Color(0xffffff) : color);
    if ((material.map === null) !== (map === null)) material.needsUpdate = true;
    material.map = map;
  }
}

// The cells in a slice; in the plane all of them. Empty ones, where kinds are told, are left out.
function sliceOf(body: Drawable, slice: Slice): number[] {
  const { index, kinds } = body.cells!;
  const kind = kinds.length > 0 ? body.fields.get("kind")?.find((field) => field.place === "cells")?.values : undefined;
  let low = Infinity, high = -Infinity;
  for (let k = slice.axis; k < index.length; k += 3) {
    low = Math.min(low, index[k]);
    high = Math.max(high, index[k]);
  }
  const at = Math.round(low + slice.part * (high - low));
  const chosen: number[] = [];
  for (let c = 0; 3 * c < index.length; ++c) {
    if ((body.flat || index[3 * c + slice.axis] === at) && kind?.[c] !== 0) chosen.push(c);
  }
  return chosen;
}

function cellCentres(body: Drawable, cells: number[]): Float32Array {
  const { index, spacing, origin } = body.cells!;
  const centres = new Float32Array(3 * cells.length);
  cells.forEach((c, i) => {
    for (let k = 0; k < 3; ++k) centres[3 * i + k] = origin[k] + (index[3 * c + k] + 0.5) * spacing;
    if (body.flat) centres[3 * i + 2] = 0;
  });
  return centres;
}
