// stats.jsonl (docs/formats.md, "Statistics"), read while it grows.
import { GrowingText } from "./api";

export interface Iteration {
  iteration: number;
  measure: number;
  tolerance: number;
  gradient_norm: number;
  seconds: number;
}

export interface Island {
  bodies: string[];
  measures?: string;
  solve: {
    outcome: string;
    reason: string;
    iterations: number;
    linear_iterations: number;
    measure: number;
    tolerance: number;
    seconds: Record<string, number>;
    history: Iteration[];
  };
  contact?: { obstacle_pairs: number; body_pairs: number; rounds: number };
}

export interface Step {
  step: number;
  time: number;
  h: number;
  seconds: number;
  converged: boolean;
  islands: Island[];
  bodies: { name: string; energy: Record<string, number>; momentum: number[] }[];
}

export class Statistics {
  readonly steps: Step[] = [];
  private readonly file: GrowingText;

  constructor(run: number) {
    this.file = new GrowingText(run, "stats");
  }

  // Whether there is something new.
  async update(): Promise<boolean> {
    const { text, restarted } = await this.file.more();
    if (restarted) this.steps.length = 0;
    for (const line of text.split("\n")) {
      if (!line) continue;
      let step: Step;
      try {
        step = parseLine(line);
      } catch {
        // A run that went on cut the file and wrote anew where we were reading.
        this.file.restart();
        this.steps.length = 0;
        return true;
      }
      while (this.steps.length > 0 && this.steps[this.steps.length - 1].step >= step.step) this.steps.pop();
      this.steps.push(step);
    }
    return restarted || text.length > 0;
  }

  // The last step that ends at this time or before, as frames are written.
  at(time: number): Step | undefined {
    let low = 0, high = this.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.steps[middle].time <= time * (1 + 1e-9) + 1e-12) low = middle + 1;
      else high = middle;
    }
    return this.steps[low - 1];
  }
}

// Numbers that are not finite are strings there.
function parseLine(line: string): Step {
  const numbers: Record<string, number> = { nan: NaN, inf: Infinity, "-inf": -Infinity };
  if (!/"(nan|-?inf)"/.test(line)) return JSON.parse(line) as Step;
  return JSON.parse(line, (_, value: unknown) => (typeof value === "string" && value in numbers ? numbers[value] : value)) as Step;
}

export const iterationsOf = (step: Step) => step.islands.reduce((sum, island) => sum + island.solve.iterations, 0);

// Seconds by part over some steps, the largest first; what no part claims is "rest of the step".
export function shares(steps: Step[]): [name: string, seconds: number][] {
  const words: Record<string, string> = {
    evaluate: "energies and gradients", hessian: "Hessians", factorize: "factors and preconditioners", solve: "linear solves",
  };
  const sums = new Map<string, number>();
  const add = (name: string, seconds: number) => sums.set(name, (sums.get(name) ?? 0) + seconds);
  for (const step of steps) {
    let rest = step.seconds;
    for (const island of step.islands) {
      const parts = Object.entries(island.solve.seconds).filter(([name]) => name !== "total");
      let known = 0;
      for (const [name, seconds] of parts) {
        add(words[name] ?? name, seconds);
        known += seconds;
      }
      const total = Math.max(island.solve.seconds.total ?? known, known);
      add("rest of the solver", total - known);
      rest -= total;
    }
    add("rest of the step", Math.max(rest, 0));
  }
  return [...sums].filter(([, seconds]) => seconds > 0).sort((a, b) => b[1] - a[1]);
}

// Why a step took as long as it did, in sentences.
export function reasons(step: Step): string[] {
  const sentences: string[] = [];
  const slowest = [...step.islands].sort((a, b) => (b.solve.seconds.total ?? 0) - (a.solve.seconds.total ?? 0))[0];
  if (!slowest) return sentences;
  const who = (island: Island) =>
    island.bodies.length === 1 ? `“${island.bodies[0]}”` : `“${island.bodies[0]}” and ${island.bodies.length - 1} more that may touch`;
  if (step.islands.length > 1) sentences.push(`Most time went into ${who(slowest)}, one of ${step.islands.length} parts that are solved apart.`);
  for (const island of step.islands) {
    const { outcome, reason, iterations, linear_iterations } = island.solve;
    if (outcome !== "converged") sentences.push(`${who(island)} did not reach the accuracy: ${reason}.`);
    if (iterations > 20) sentences.push(`${who(island)} took ${iterations} iterations${linear_iterations > 0 ? `, ${linear_iterations} inner ones` : ""}.`);
    const contact = island.contact;
    if (contact && contact.rounds > 1) sentences.push(`Contact forces of ${who(island)} were renewed ${contact.rounds} times.`);
    if (contact && contact.obstacle_pairs + contact.body_pairs > 0)
      sentences.push(`${contact.obstacle_pairs} contacts with obstacles, ${contact.body_pairs} with bodies.`);
  }
  return sentences;
}
