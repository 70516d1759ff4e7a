// Small charts on a canvas: curves over a common axis, linear or logarithmic, with a mark that follows the frame.
import { brief, h } from "./dom";

export interface Curve {
  name: string;
  color: string;
  points: [x: number, y: number][];
  dashed?: boolean;
}

export interface ChartOptions {
  title: string;
  log?: boolean;
  unit?: string;
  whole?: boolean; // across there are whole numbers
  onpick?: (x: number) => void;
}

// Round numbers between two values.
export function ticks(low: number, high: number, wanted: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / wanted, size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5, 10].find((factor) => factor * size >= rough) ?? 10);
  const result: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) result.push(k * step + 0);
  return result;
}

// Powers of ten.
export function logTicks(low: number, high: number): number[] {
  const from = Math.ceil(Math.log10(low) - 1e-9), to = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((to - from + 1) / 6));
  const result: number[] = [];
  for (let k = from; k <= to; k += step) result.push(10 ** k);
  return result.length > 0 ? result : [low, high];
}

const left = 52, right = 10, above = 8, below = 20;

export class Chart {
  readonly element: HTMLElement;
  readonly canvas = h("canvas");
  private readonly legend = h("div", { className: "legend" });
  private readonly readout = h("span", { className: "readout" });
  private curves: Curve[] = [];
  private mark?: number;
  private area = { x0: 0, x1: 1, y0: 0, y1: 1 };

  constructor(private readonly options: ChartOptions) {
    this.element = h("figure", { className: "chart" }, h("figcaption", {}, options.title, this.readout), this.canvas, this.legend);
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", options.title);
    this.canvas.onclick = (event) => this.options.onpick?.(this.under(event));
    this.canvas.onmousemove = (event) => this.read(this.under(event));
    this.canvas.onmouseleave = () => (this.readout.textContent = "");
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  set(curves: Curve[], mark?: number): void {
    this.curves = curves;
    this.mark = mark;
    this.element.dataset.points = String(curves.reduce((sum, curve) => sum + curve.points.length, 0));
    this.legend.replaceChildren(
      ...curves.filter((curve) => curve.name).map((curve) => {
        const sample = h("i");
        sample.style.borderTop = `2px ${curve.dashed ? "dashed" : "solid"} ${curve.color}`;
        return h("span", {}, sample, curve.name);
      }),
    );
    this.draw();
  }

  moveMark(mark: number | undefined): void {
    if (mark === this.mark) return;
    this.mark = mark;
    this.draw();
  }

  private under(event: MouseEvent): number {
    const { x0, x1 } = this.area;
    return x0 + ((event.offsetX - left) / Math.max(this.canvas.clientWidth - left - right, 1)) * (x1 - x0);
  }

  private read(x: number): void {
    let best: { distance: number; text: string } | undefined;
    for (const { name, points } of this.curves) {
      for (const [px, py] of points) {
        const distance = Math.abs(px - x);
        if (!best || distance < best.distance) best = { distance, text: `${name ? `${name}: ` : ""}${brief(py)} ${this.options.unit ?? ""} at ${brief(px, 4)}` };
      }
    }
    this.readout.textContent = best?.text ?? "";
  }

  private measure(): void {
    const xs: number[] = [], ys: number[] = [];
    for (const { points } of this.curves) {
      for (const [x, y] of points) {
        if (!Number.isFinite(y) || (this.options.log && y <= 0)) continue;
        xs.push(x);
        ys.push(y);
      }
    }
    const least = (values: number[]) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = (values: number[]) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    if (xs.length === 0) {
      this.area = { x0: 0, x1: 1, y0: this.options.log ? 0.1 : 0, y1: 1 };
      return;
    }
    let [y0, y1] = [least(ys), most(ys)];
    if (this.options.log) {
      y0 /= 1.5;
      y1 *= 1.5;
    } else {
      if (y0 > 0) y0 = 0;
      const room = 0.06 * (y1 - y0 || Math.abs(y1) || 1);
      y1 += room;
      if (y0 < 0) y0 -= room;
    }
    const x0 = least(xs), x1 = most(xs);
    this.area = { x0, x1: x1 > x0 ? x1 : x0 + 1, y0, y1 };
  }

  private draw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const context = this.canvas.getContext("2d");
    if (!context || width === 0) return;
    const scale = window.devicePixelRatio;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    context.scale(scale, scale);
    this.measure();
    const { x0, x1, y0, y1 } = this.area, log = this.options.log ? Math.log : (y: number) => y;
    const X = (x: number) => left + ((x - x0) / (x1 - x0)) * (width - left - right);
    const Y = (y: number) => above + ((log(y1) - log(y)) / (log(y1) - log(y0))) * (height - above - below);
    const style = getComputedStyle(this.canvas);
    const ink = style.getPropertyValue("--faint"), line = style.getPropertyValue("--line");
    context.font = "11px system-ui, sans-serif";
    context.lineWidth = 1;
    context.fillStyle = ink;
    context.strokeStyle = line;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const y of this.options.log ? logTicks(y0, y1) : ticks(y0, y1, 4)) {
      context.beginPath();
      context.moveTo(left, Math.round(Y(y)) + 0.5);
      context.lineTo(width - right, Math.round(Y(y)) + 0.5);
      context.stroke();
      context.fillText(brief(y), left - 5, Y(y));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    const across = ticks(x0, x1, Math.max(2, Math.floor(width / 90)));
    for (const x of across.filter((each) => !this.options.whole || Number.isInteger(each))) context.fillText(brief(x, 4), X(x), height - below + 5);
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left - right + 2, height - below + 1);
    context.clip();
    for (const { points, color, dashed } of this.curves) {
      context.strokeStyle = context.fillStyle = color;
      context.lineWidth = 1.6;
      context.setLineDash(dashed ? [5, 4] : []);
      context.beginPath();
      let pen = false;
      for (const [x, y] of points) {
        const known = Number.isFinite(y) && (!this.options.log || y > 0);
        if (known && pen) context.lineTo(X(x), Y(y));
        else if (known) context.moveTo(X(x), Y(y));
        pen = known;
      }
      context.stroke();
      context.setLineDash([]);
      if (dashed || points.length > 60) continue;
      for (const [x, y] of points) context.fillRect(X(x) - 2, Y(y) - 2, 4, 4);
    }
    if (this.mark !== undefined && this.mark >= x0 && this.mark <= x1) {
      context.strokeStyle = style.getPropertyValue("--accent");
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(X(this.mark), 0);
      context.lineTo(X(this.mark), height - below);
      context.stroke();
    }
    context.restore();
  }
}
