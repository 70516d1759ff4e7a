// What is seen and how: bodies, colours, the legend.
import { isCategorical } from "./body_view";
import { category, colourTable, css, hexOf, mapNames } from "./colours";
import { brief, button, h } from "./dom";
import type { World } from "./world";

function check(text: string, on: boolean, title: string, change: (on: boolean) => void): HTMLLabelElement {
  const box = h("input", { type: "checkbox", checked: on });
  box.onchange = () => change(box.checked);
  return h("label", { title }, box, text);
}

export class LookPanel {
  readonly element = h("div", { className: "panel look" });
  readonly legend = h("div", { className: "colour-legend", hidden: true });
  private readonly list = h("div", { className: "bodies" });
  private readonly field = h("select", { id: "field", "aria-label": "Colour by" });
  private readonly map = h("select", { "aria-label": "Colour map" }, ...mapNames.map((name) => h("option", { value: name }, name)));
  private readonly low = h("input", { type: "number", step: "any", placeholder: "lowest", "aria-label": "Lowest value" });
  private readonly high = h("input", { type: "number", step: "any", placeholder: "highest", "aria-label": "Highest value" });
  private readonly largest = button("", "Mark the largest value and look at it", () => this.lookAtLargest(), { className: "link" });
  private readonly sliceRow = h("div", { className: "row", hidden: true });
  private world?: World;
  private known = ""; // bodies and fields that the panel was made for

  constructor(private readonly lookAt: (world: World) => void) {
    this.field.onchange = () => this.colourBy(this.field.value);
    this.map.onchange = () => this.change((world) => (world.colouring.map = this.map.value));
    const logarithmic = check("logarithmic", false, "Equal factors look equal", (on) => this.change((world) => {
      world.colouring.log = on;
    }));
    for (const input of [this.low, this.high]) input.onchange = () => this.setRange();
    const here = button("this frame", "Range of the values of this frame", () => this.rangeOfFrame());
    const auto = button("auto", "Range of all values seen so far", () => {
      this.low.value = this.high.value = "";
      this.setRange();
    });
    this.makeSliceRow();
    this.element.append(
      h("h2", {}, "Colour by"),
      h("div", { className: "row" }, this.field, this.map),
      h("div", { className: "row" }, this.low, h("span", {}, "to"), this.high, here, auto),
      h("div", { className: "row" }, logarithmic), h("div", { className: "row" }, this.largest), this.sliceRow,
      h("h2", {}, "Bodies"), this.list,
    );
  }

  // After every frame.
  update(world: World): void {
    const known = [...world.bodies.map((body) => `${body.name}:${!!body.points}${!!body.cells}`), ...world.fields.keys()].join("\n");
    if (world !== this.world || known !== this.known) {
      this.world = world;
      this.known = known;
      this.makeFields(world);
      this.list.replaceChildren(...world.bodies.map((body, i) => this.bodyRow(world, body.name, i)));
      this.sliceRow.hidden = !world.bodies.some((body) => body.cells && !body.flat);
    }
    this.updateLegend(world);
  }

  colourBy(field: string): void {
    if (!this.world) return;
    this.low.value = this.high.value = "";
    this.field.value = field;
    this.world.colourBy(field);
    this.updateLegend(this.world);
  }

  // The next field, for a key.
  nextField(): void {
    const options = [...this.field.options].map((option) => option.value);
    this.colourBy(options[(options.indexOf(this.field.value) + 1) % options.length]);
  }

  toggleBody(index: number): void {
    this.list.children[index]?.querySelector<HTMLInputElement>("input[type=checkbox]")?.click();
  }

  toggleWireframe(): void {
    const world = this.world;
    if (!world) return;
    const on = [...world.wishes.values()].some((wish) => !wish.wireframe);
    for (const wish of world.wishes.values()) wish.wireframe = on;
    this.known = "";
    world.refresh();
    this.update(world);
  }

  private change(how: (world: World) => void): void {
    if (!this.world) return;
    how(this.world);
    this.world.refresh();
    this.updateLegend(this.world);
  }

  private makeFields(world: World): void {
    const chosen = world.colouring.field;
    const options = [...world.fields].map(([name, unit]) => h("option", { value: name }, unit ? `${name} (${unit})` : name));
    this.field.replaceChildren(h("option", { value: "" }, "body"), ...options);
    this.field.value = world.fields.has(chosen) ? chosen : "";
    this.map.value = world.colouring.map;
  }

  private bodyRow(world: World, name: string, index: number): HTMLElement {
    const body = world.bodies[index], wish = world.wishes.get(name)!;
    const color = h("input", { type: "color", value: wish.color ?? hexOf(body.color), title: `Colour of ${name}`, "aria-label": `Colour of ${name}` });
    color.oninput = () => this.change(() => (wish.color = color.value));
    const box = (text: string, key: "surface" | "points" | "cells" | "wireframe", title: string) =>
      check(text, wish[key], title, (on) => this.change(() => (wish[key] = on)));
    const boxes: HTMLElement[] = [];
    if (body.triangles && body.points) boxes.push(box("balls", "points", "Points in place of the surface"));
    if (body.cells) boxes.push(box("cells", "cells", "The cells of the grid, in space one slice of them"));
    if (body.triangles) boxes.push(box("wires", "wireframe", "Edges of the triangles (W: of all bodies)"));
    const title = index < 9 ? `Show or hide (${index + 1})` : "Show or hide";
    return h(
      "div", { className: "body", dataset: { name } }, color,
      check(name, wish.visible, title, (on) => this.change(() => (wish.visible = on))), h("span", { className: "boxes" }, ...boxes),
    );
  }

  private makeSliceRow(): void {
    const axis = h("select", { "aria-label": "Axis of the slice" }, ...["x", "y", "z"].map((name, i) => h("option", { value: String(i), selected: i === 2 }, name)));
    const part = h("input", { type: "range", min: "0", max: "1", step: "0.005", value: "0.5", "aria-label": "Place of the slice" });
    axis.onchange = () => this.change((world) => (world.slice.axis = Number(axis.value) as 0 | 1 | 2));
    part.oninput = () => this.change((world) => (world.slice.part = Number(part.value)));
    this.sliceRow.append("Slice across", axis, part);
  }

  private setRange(): void {
    this.change((world) => {
      const low = this.low.valueAsNumber, high = this.high.valueAsNumber;
      const fixed = !Number.isNaN(low) || !Number.isNaN(high);
      if (!fixed) world.colouring.range = undefined;
      else world.colouring.range = [Number.isNaN(low) ? world.range[0] : low, Number.isNaN(high) ? world.range[1] : high];
    });
  }

  private rangeOfFrame(): void {
    this.low.value = this.high.value = "";
    this.change((world) => {
      world.colouring.range = undefined;
      world.forgetRange();
    });
    if (!this.world) return;
    [this.low.value, this.high.value] = this.world.range.map((value) => String(Number(value.toPrecision(6))));
    this.setRange();
  }

  private lookAtLargest(): void {
    if (!this.world?.largest) return;
    this.world.markLargest(true);
    this.lookAt(this.world);
  }

  private updateLegend(world: World): void {
    const { field, map } = world.colouring;
    this.legend.hidden = !field;
    this.largest.hidden = !field || !world.largest || isCategorical(field);
    if (!field) return;
    const unit = world.fields.get(field) ?? "", vector = world.bodies.some((body) => body.fields.get(field)?.some(({ components }) => components === 3));
    if (world.largest) this.largest.textContent = `largest: ${brief(world.largest.value)} ${unit} at ${world.largest.body}, number ${world.largest.place}`;
    const title = h("span", {}, `${vector ? `|${field}|` : field}${unit ? ` (${unit})` : ""}`);
    const bar = h("i");
    if (isCategorical(field)) {
      bar.style.background = `linear-gradient(to right, ${Array.from({ length: 8 }, (_, i) => `${css(category(i))} ${i * 12.5}% ${(i + 1) * 12.5}%`).join(",")})`;
      this.legend.replaceChildren(title, bar);
      return;
    }
    bar.style.background = `linear-gradient(to right, ${colourTable(map).filter((_, i) => i % 15 === 0).map(css).join(",")})`;
    const [low, high] = world.range;
    const middle = world.colouring.log ? Math.sqrt(low * high) : (low + high) / 2;
    const numbers = h("span", { className: "numbers" }, ...[low, middle, high].map((value) => h("b", {}, brief(value))));
    this.legend.replaceChildren(title, bar, numbers);
  }
}
