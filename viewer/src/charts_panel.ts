// How the solver does: the current step, all steps, energies, and why it is slow.
import { Chart } from "./chart";
import { curveColours } from "./colours";
import { brief, duration, h } from "./dom";
import { iterationsOf, reasons, shares, type Island, type Iteration, type Statistics, type Step } from "./statistics";

// The iterations of a step that is not finished, as far as the run tells (live.jsonl).
export interface Live {
  step: number;
  steps: number;
  islands: Iteration[][];
}

const quantities = ["kinetic", "elastic", "gravity"];

export class ChartsPanel {
  readonly element = h("div", { className: "panel charts", hidden: true });
  private readonly heading = h("h2", {});
  private readonly residual = new Chart({ title: "What is left to do, per iteration", log: true, whole: true });
  private readonly gradient = new Chart({ title: "Norm of the gradient, per iteration", log: true, whole: true });
  private readonly iterations: Chart;
  private readonly seconds: Chart;
  private readonly energy: Chart;
  private readonly momentum: Chart;
  private readonly why = h("div", { className: "why" });

  // `goTo`: shows the frame of a time.
  constructor(goTo: (time: number) => void) {
    const chart = (title: string, unit: string) => new Chart({ title, unit, onpick: goTo });
    this.iterations = chart("Iterations per step, over time (s)", "");
    this.seconds = chart("Seconds per step", "s");
    this.energy = chart("Energy (J)", "J");
    this.momentum = chart("Momentum (kg m/s)", "kg m/s");
    this.element.append(
      this.heading, this.residual.element, this.gradient.element, h("h2", {}, "Why is it slow?"), this.why, h("h2", {}, "All steps"),
      this.iterations.element, this.seconds.element, this.energy.element, this.momentum.element,
    );
  }

  update(statistics: Statistics, time: number, live: Live | undefined): void {
    if (this.element.hidden) return;
    const { steps } = statistics, step = statistics.at(time) ?? steps[0];
    if (live) this.showLive(live);
    else this.showStep(step);
    this.explain(step, steps);
    const over = (value: (step: Step) => number): [number, number][] => steps.map((each) => [each.time, value(each)]);
    this.iterations.set([{ name: "", color: curveColours[0], points: over(iterationsOf) }], time);
    this.seconds.set([{ name: "", color: curveColours[1], points: over((each) => each.seconds) }], time);
    const sum = (each: Step, name: string) => each.bodies.reduce((total, body) => total + (body.energy[name] ?? 0), 0);
    const curves = quantities.map((name, i) => ({ name, color: curveColours[i], points: over((each) => sum(each, name)) }));
    const total = (each: Step) => quantities.reduce((all, name) => all + sum(each, name), 0);
    this.energy.set([...curves.filter(({ points }) => points.some(([, y]) => y !== 0)), { name: "sum", color: curveColours[5], points: over(total), dashed: true }], time);
    const momentum = (axis: number) => over((each) => each.bodies.reduce((all, body) => all + (body.momentum[axis] ?? 0), 0));
    this.momentum.set(["x", "y", "z"].map((name, axis) => ({ name, color: curveColours[axis], points: momentum(axis) })), time);
  }

  moveMark(time: number): void {
    for (const chart of [this.iterations, this.seconds, this.energy, this.momentum]) chart.moveMark(time);
  }

  private showLive(live: Live): void {
    this.heading.textContent = `Step ${live.step} of ${live.steps} goes on`;
    this.curves(live.islands.map((history) => ({ name: "", history })), "");
  }

  private showStep(step: Step | undefined): void {
    if (!step) {
      this.heading.textContent = "No step is done yet";
      this.curves([], "");
      return;
    }
    this.heading.textContent = `Step ${step.step}${step.converged ? "" : ": not converged"}`;
    const name = (island: Island) => (step.islands.length > 1 ? (island.bodies[0] ?? "") : "");
    this.curves(step.islands.map((island) => ({ name: name(island), history: island.solve.history })), step.islands[0]?.measures ?? "");
  }

  private curves(histories: { name: string; history: Iteration[] }[], measures: string): void {
    const curve = (key: "measure" | "gradient_norm" | "tolerance") => histories.slice(0, curveColours.length).map(({ name, history }, i) => ({
      name: key === "tolerance" ? (i === 0 ? "accuracy" : "") : name || (key === "measure" ? measures : ""),
      color: key === "tolerance" ? "#888" : curveColours[i],
      dashed: key === "tolerance",
      points: history.map((it): [number, number] => [it.iteration, it[key]]),
    }));
    this.residual.set([...curve("measure"), ...curve("tolerance")]);
    this.gradient.set(curve("gradient_norm"));
  }

  private explain(step: Step | undefined, steps: Step[]): void {
    if (!step) return this.why.replaceChildren();
    const bars = (title: string, some: Step[]) => {
      const parts = shares(some), total = parts.reduce((sum, [, seconds]) => sum + seconds, 0);
      const rows = parts.map(([name, seconds], i) => {
        const bar = h("i");
        bar.style.width = `${(100 * seconds) / total}%`;
        bar.style.background = curveColours[i % curveColours.length];
        return h("div", { className: "share" }, h("span", {}, name), h("span", { className: "bar" }, bar), h("span", {}, `${Math.round((100 * seconds) / total)} %`));
      });
      return h("div", {}, h("h3", {}, `${title}: ${duration(total)}`), ...rows);
    };
    const slowest = steps.reduce((worst, each) => (each.seconds > worst.seconds ? each : worst), step);
    const failed = steps.filter((each) => !each.converged).length;
    this.why.replaceChildren(
      bars(`Step ${step.step}`, [step]), ...reasons(step).map((sentence) => h("p", {}, sentence)),
      bars(`All ${steps.length} steps`, steps),
      h("p", {}, `The slowest step is ${slowest.step}, at ${brief(slowest.time, 4)} s: ${duration(slowest.seconds)}, ${iterationsOf(slowest)} iterations.`),
      ...(failed > 0 ? [h("p", { className: "bad" }, `${failed} of ${steps.length} steps did not reach the accuracy.`)] : []),
    );
  }
}
