// A frame on the stage: every body and obstacle, coloured as is wanted.
import * as three from "three";
import { BodyView, type Shown, type Slice, type Wish } from "./body_view";
import { drawable, drawableNames, fieldNames, type Drawable } from "./drawable";
import type { Frame } from "./frame";
import { rangeOf, type Colouring } from "./palette";
import type { Stage } from "./stage";

export interface Extreme {
  body: string;
  place: number; // the number of the vertex, point or cell
  value: number;
  position: three.Vector3;
}

export class World {
  readonly wishes = new Map<string, Wish>();
  readonly colouring: Colouring = { field: "", map: "tide", log: false };
  readonly slice: Slice = { axis: 2, part: 0.5 };
  bodies: Drawable[] = [];
  fields = new Map<string, string>(); // with their units
  range: [number, number] = [0, 1]; // of the legend
  largest?: Extreme;
  private seen: [number, number] = [Infinity, -Infinity]; // over all frames since the field was chosen
  private readonly views = new Map<string, BodyView>();
  private readonly names: string[];
  private readonly marker = new three.Mesh(new three.SphereGeometry(1, 20, 12), new three.MeshBasicMaterial({ color: 0xff2e63, depthTest: false, transparent: true, opacity: 0.85 }));

  constructor(private readonly stage: Stage, private readonly topology: Frame) {
    this.names = drawableNames(topology);
    this.marker.visible = false;
    this.marker.renderOrder = 10;
    this.marker.raycast = () => {};
    stage.content.clear();
    stage.content.add(this.marker);
  }

  get flat(): boolean {
    return this.bodies.length > 0 && this.bodies.every((body) => body.flat || body.backdrop);
  }

  // Height of the ground, where there is one.
  get ground(): number | undefined {
    const height = Number(this.topology.words.ground);
    return this.topology.words.ground && Number.isFinite(height) ? height : undefined;
  }

  show(frame: Frame): void {
    this.bodies = this.names.map((name) => drawable(name, this.topology, frame));
    this.fields = fieldNames(this.bodies, { ...this.topology.words, ...frame.words });
    for (const body of this.bodies) this.prepare(body);
    this.refresh();
  }

  // After a change of wishes or colours.
  refresh(): void {
    const { field } = this.colouring;
    const shown = new Map<string, Shown>();
    for (const body of this.bodies) {
      const seen = this.views.get(body.name)!.values(body, this.wishes.get(body.name)!, field, this.slice);
      shown.set(body.name, seen);
      for (const values of [seen.values, seen.loose?.values]) {
        if (values) this.seen = rangeOf(values, this.seen);
      }
    }
    const known = this.seen[0] <= this.seen[1];
    this.range = this.colouring.range ?? (known ? [...this.seen] : [0, 1]);
    if (this.colouring.log && !this.colouring.range) this.range[0] = Math.max(this.range[0], this.range[1] * 1e-8);
    this.largest = this.findLargest(shown);
    for (const body of this.bodies) {
      const wish = this.wishes.get(body.name)!;
      this.views.get(body.name)!.show(body, wish, this.colouring, this.range, this.slice, shown.get(body.name)!);
    }
    if (this.marker.visible && this.largest) this.marker.position.copy(this.largest.position);
    this.stage.draw();
  }

  // `field`: empty for the bodies' own colours.
  colourBy(field: string): void {
    this.colouring.field = field;
    this.colouring.range = undefined;
    this.forgetRange();
    this.markLargest(false);
    this.refresh();
  }

  forgetRange(): void {
    this.seen = [Infinity, -Infinity];
  }

  // What is to be looked at: the bodies, and obstacles that are not much larger.
  box(): three.Box3 {
    const bodies = new three.Box3(), obstacles = new three.Box3();
    for (const body of this.bodies) {
      if (body.backdrop && body.bounded) obstacles.union(boxOf(body));
      else if (!body.backdrop) bodies.union(boxOf(body));
    }
    const extent = (box: three.Box3) => box.getSize(new three.Vector3()).length();
    return bodies.isEmpty() || extent(obstacles) < 5 * extent(bodies) ? bodies.union(obstacles) : bodies;
  }

  markLargest(on: boolean): void {
    this.marker.visible = on && this.largest !== undefined;
    if (this.marker.visible) {
      this.marker.position.copy(this.largest!.position);
      this.marker.scale.setScalar(this.stage.camera.position.distanceTo(this.largest!.position) * 0.009);
    }
    this.stage.draw();
  }

  // What is under a point of the page, in words.
  describe(x: number, y: number): string {
    const hit = this.stage.hit(x, y).find(({ object }) => object.visible && object.parent?.visible && this.views.has(object.name));
    const body = hit && this.bodies.find((candidate) => candidate.name === hit.object.name);
    if (!hit || !body) return "";
    const { x: px, y: py, z: pz } = hit.point;
    const place = `(${[px, py, pz].map((value) => value.toPrecision(4)).join(", ")}) m`;
    if (!hit.face) return `${body.name}, point ${this.views.get(body.name)!.point(hit.index ?? 0)}, at ${place}`;
    return `${body.name}, ${body.cells && this.wishes.get(body.name)!.cells ? "a cell" : `vertex ${this.views.get(body.name)!.vertex(hit.face.a)}`}, at ${place}`;
  }

  private prepare(body: Drawable): void {
    if (this.views.has(body.name)) return;
    const surface = !!body.triangles && body.triangles.length > 0;
    this.wishes.set(body.name, {
      visible: true, surface: true, points: !surface && !!body.points, cells: !surface && !body.points && !!body.cells, wireframe: false,
    });
    const view = new BodyView(this.stage, body);
    this.views.set(body.name, view);
    this.stage.content.add(view.group);
  }

  private findLargest(shown: Map<string, Shown>): Extreme | undefined {
    let found: { body: string; at: number; value: number; among: Shown } | undefined;
    for (const [body, all] of shown) {
      for (const among of [all, all.loose ?? {}]) {
        const { values, positions } = among;
        for (let i = 0; values && positions && i < values.length; ++i) {
          if (values[i] > (found?.value ?? -Infinity)) found = { body, at: i, value: values[i], among };
        }
      }
    }
    if (!found) return undefined;
    const { body, at, value, among } = found;
    return { body, place: among.numbers?.[at] ?? at, value, position: new three.Vector3().fromArray(among.positions!, 3 * at) };
  }
}

function boxOf(body: Drawable): three.Box3 {
  const box = new three.Box3(), point = new three.Vector3();
  const add = (positions: Float32Array, vertex: number) => box.expandByPoint(point.fromArray(positions, 3 * vertex));
  for (const vertex of body.position ? (body.triangles ?? []) : []) add(body.position!, vertex);
  const points = body.points?.position ?? new Float32Array();
  for (let i = 0; 3 * i < points.length; ++i) add(points, i);
  return box;
}
