// Play, pause, scrub, step: which frame is to be shown. Keys: space, arrows (with shift by ten), Home, End.
import { brief, button, h } from "./dom";

export class Player {
  readonly element: HTMLElement;
  number = 0;
  playing = false;
  follows = false; // the newest frame of a run that goes on
  direction = 1;
  private stretches: [number, number][] = [];
  private secondsPerFrame = 1 / 24;
  private started = { at: 0, number: 0 };
  private busy = false;
  private time?: number; // of the frame that is shown
  private next?: number; // wanted while another is on its way
  private readonly slider = h("input", { type: "range", min: "0", max: "0", step: "1", value: "0", "aria-label": "Frame" });
  private readonly counter = h("output", { id: "frame", className: "counter" }, "–");
  private readonly playButton = button("▶", "Play or pause (space)", () => this.toggle(), { id: "play" });
  private readonly speed = h("select", { title: "Speed", "aria-label": "Speed" });
  private readonly followBox = h("input", { type: "checkbox" });
  private readonly followLabel = h("label", { className: "follow", title: "Show the newest frame as soon as it is there (End)" }, this.followBox, "live");

  // `show` resolves with the time of the frame once it is on the stage.
  constructor(private readonly show: (number: number) => Promise<number>) {
    for (const factor of [0.1, 0.25, 0.5, 1, 2, 4]) this.speed.append(h("option", { value: String(factor), selected: factor === 1 }, `${factor}×`));
    this.slider.oninput = () => {
      this.pause();
      this.setFollows(false);
      this.go(Number(this.slider.value));
    };
    this.speed.onchange = () => this.mark();
    this.followBox.onchange = () => this.setFollows(this.followBox.checked);
    this.element = h(
      "div", { className: "player" },
      button("|◀", "First frame (Home)", () => this.to(this.first)),
      button("‹", "One frame back (←)", () => this.step(-1), { id: "back" }),
      this.playButton,
      button("›", "One frame on (→)", () => this.step(1), { id: "on" }),
      button("▶|", "Last frame (End)", () => this.to(this.last)),
      this.slider, this.counter, this.speed, this.followLabel,
    );
  }

  get first(): number { return this.stretches[0]?.[0] ?? 0; }
  get last(): number { return this.stretches[this.stretches.length - 1]?.[1] ?? 0; }
  exists = (number: number): boolean => this.stretches.some(([from, to]) => number >= from && number <= to);

  setFrames(stretches: [number, number][], running: boolean): void {
    this.stretches = stretches;
    this.slider.min = String(this.first);
    this.slider.max = String(this.last);
    this.followLabel.style.visibility = running ? "visible" : "hidden";
    if (this.follows || !this.exists(this.number)) this.go(this.last);
    else if (this.time === undefined) this.go(this.number);
    else this.describe();
  }

  setFollows(on: boolean): void {
    this.follows = this.followBox.checked = on;
    if (on && this.stretches.length > 0) {
      this.pause();
      this.go(this.last);
    }
  }

  setRate(secondsPerFrame: number): void {
    if (!(secondsPerFrame > 0) || Math.abs(secondsPerFrame - this.secondsPerFrame) < 1e-9) return;
    this.secondsPerFrame = secondsPerFrame;
    this.mark();
  }

  toggle(): void {
    if (this.playing) return this.pause();
    this.setFollows(false);
    if (this.number >= this.last) this.go(this.first);
    this.playing = true;
    this.direction = 1;
    this.playButton.textContent = "⏸";
    this.mark();
    requestAnimationFrame(() => this.tick());
  }

  pause(): void {
    this.playing = false;
    this.playButton.textContent = "▶";
  }

  // To the next frame that is there.
  step(by: number): void {
    this.pause();
    this.setFollows(false);
    const sign = Math.sign(by);
    let wanted = Math.min(Math.max((this.next ?? this.number) + by, this.first), this.last);
    while (!this.exists(wanted) && wanted > this.first && wanted < this.last) wanted += sign;
    this.direction = sign;
    this.go(wanted);
  }

  to(number: number): void {
    this.pause();
    this.setFollows(false);
    this.go(number);
  }

  // Whether the key was one of ours.
  key(event: KeyboardEvent): boolean {
    if (event.key === " ") this.toggle();
    else if (event.key === "ArrowRight") this.step(event.shiftKey ? 10 : 1);
    else if (event.key === "ArrowLeft") this.step(event.shiftKey ? -10 : -1);
    else if (event.key === "Home") this.to(this.first);
    else if (event.key === "End") this.followLabel.style.visibility === "visible" ? this.setFollows(true) : this.to(this.last);
    else return false;
    return true;
  }

  // Shows a frame; while one is on its way only the last of those asked for counts.
  go(number: number): void {
    if (!this.exists(number)) return;
    if (number !== this.number) this.direction = Math.sign(number - this.number);
    this.slider.value = String(number);
    this.next = number;
    if (!this.busy) void this.work();
  }

  private async work(): Promise<void> {
    this.busy = true;
    while (this.next !== undefined) {
      const number = this.next;
      this.next = undefined;
      try {
        const time = await this.show(number);
        this.number = number;
        this.describe(time);
      } catch (error) {
        // A frame that was given up for another is no matter.
        if ((error as Error).name !== "AbortError") this.counter.textContent = `frame ${number}: ${(error as Error).message}`;
      }
    }
    this.busy = false;
  }

  private mark(): void {
    this.started = { at: performance.now(), number: this.number };
  }

  // While it plays. Frames that come late are waited for, time goes on from there.
  private tick(): void {
    if (!this.playing) return;
    if (this.busy) {
      this.started.at = performance.now() - (this.number - this.started.number) * this.pace();
    } else {
      const wanted = Math.min(this.started.number + Math.floor((performance.now() - this.started.at) / this.pace()), this.last);
      if (wanted > this.number && this.exists(wanted)) this.go(wanted);
      else if (this.number >= this.last) this.pause();
    }
    requestAnimationFrame(() => this.tick());
  }

  // Milliseconds from frame to frame.
  private pace(): number {
    return (1000 * this.secondsPerFrame) / Number(this.speed.value);
  }

  private describe(time = this.time): void {
    this.time = time;
    this.slider.value = String(this.next ?? this.number);
    if (this.stretches.length === 0) this.counter.textContent = "no frame yet";
    else this.counter.textContent = `${this.number} / ${this.last}${time === undefined ? "" : `   ${brief(time, 4)} s`}`;
    this.counter.dataset.number = String(this.number);
    this.counter.dataset.last = String(this.last);
  }
}
