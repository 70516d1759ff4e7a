// The page of one run: the stage, the player below it, panels beside it. It asks the server how far the run is.
import * as three from "three";
import * as api from "./api";
import { ChartsPanel, type Live } from "./charts_panel";
import { button, h } from "./dom";
import { Frames } from "./frames";
import { LookPanel } from "./look_panel";
import { Player } from "./player";
import { Stage } from "./stage";
import { Statistics, type Iteration } from "./statistics";
import { isDark } from "./theme";
import { World } from "./world";

const help = `Space: play, pause.  ← →: one frame (with Shift: ten).  Home, End: first, last frame.
C: next field.  W: wires.  F: look at everything.  1 – 9: show or hide a body.  Click: what is there.`;

export class RunPage {
  readonly element: HTMLElement;
  private readonly stage: Stage;
  private readonly player = new Player((number) => this.show(number));
  private readonly look = new LookPanel((world) => this.lookAtLargest(world));
  private readonly charts = new ChartsPanel((time) => this.goTo(time));
  private readonly log = h("pre", { className: "panel text", hidden: true, tabIndex: 0 });
  private readonly scene = h("pre", { className: "panel text", hidden: true, tabIndex: 0 });
  private readonly state = h("span", { className: "state", id: "state" });
  private readonly message = h("p", { className: "message", hidden: true });
  private readonly what = h("div", { className: "what", "aria-live": "polite" });
  private readonly actions = h("span", { className: "actions" });
  private readonly frames: Frames;
  private readonly statistics: Statistics;
  private readonly logText: api.GrowingText;
  private readonly abort = new AbortController();
  private world?: World;
  private status?: api.RunStatus;
  private live?: Live;
  private time = 0;
  private framed = false;
  private timer = 0;

  constructor(private readonly run: number) {
    this.frames = new Frames(run);
    this.statistics = new Statistics(run);
    this.logText = new api.GrowingText(run, "log");
    const place = h("div", { className: "stage" }, this.look.legend, this.what);
    this.element = h(
      "main", { className: "run" },
      h("header", {}, h("a", { href: "#", title: "All scenes and runs" }, "← scenes"), h("h1", {}), this.state, this.actions, h("a", { href: `#again/${run}`, title: "Change values of the scene and run it again", id: "again" }, "change and run again")),
      this.message, place, this.player.element, this.sidebar(),
    );
    this.stage = new Stage(place);
    this.stage.setTheme(isDark());
    let pressed: [number, number] = [0, 0];
    this.stage.canvas.addEventListener("pointerdown", (event) => (pressed = [event.clientX, event.clientY]));
    this.stage.canvas.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 3) return;
      this.what.textContent = this.world?.describe(event.clientX, event.clientY) ?? "";
    });
    window.addEventListener("keydown", (event) => this.key(event), { signal: this.abort.signal });
    window.addEventListener("lope-theme", () => this.retheme(), { signal: this.abort.signal });
    this.player.setFollows(true);
    void this.poll();
  }

  close(): void {
    this.abort.abort();
    clearTimeout(this.timer);
    this.player.pause();
    this.stage.dispose();
  }

  private sidebar(): HTMLElement {
    const panels = { View: this.look.element, Charts: this.charts.element, Log: this.log, Scene: this.scene };
    const tabs = Object.keys(panels).map((name) =>
      h("button", { type: "button", id: `tab-${name.toLowerCase()}`, onclick: () => choose(name), "aria-pressed": name === "View", title: name === "View" ? help : "" }, name));
    const choose = (wanted: string) => {
      Object.entries(panels).forEach(([name, panel], i) => {
        panel.hidden = name !== wanted;
        tabs[i].setAttribute("aria-pressed", String(name === wanted));
      });
      this.charts.update(this.statistics, this.time, this.liveStep());
      if (wanted === "Scene") void this.readScene();
    };
    return h("aside", {}, h("nav", {}, ...tabs), ...Object.values(panels), h("pre", { className: "help" }, help));
  }

  // How far the run is, again and again.
  private async poll(): Promise<void> {
    try {
      const status = await api.status(this.run);
      await this.follow(status);
    } catch (error) {
      if (!this.abort.signal.aborted) this.say(`The program does not answer: ${(error as Error).message}`);
    }
    if (this.abort.signal.aborted) return;
    const going = !this.status || this.status.state !== "ended";
    this.timer = window.setTimeout(() => void this.poll(), going ? 400 : 2000);
  }

  private async follow(status: api.RunStatus): Promise<void> {
    const before = this.status;
    this.status = status;
    if (before?.state === "ended" && status.state !== "ended") {
      this.frames.forget();
      this.player.setFollows(true);
    }
    this.describe(status);
    const running = status.state !== "ended";
    if (status.frames.length > 0 && !this.world) {
      this.world = new World(this.stage, await this.frames.topology());
      if (!running) this.player.setFollows(false);
    }
    if (this.world) this.player.setFrames(status.frames, running);
    if (!before || running || before.state !== status.state) await this.readTexts(running);
  }

  private async readTexts(running: boolean): Promise<void> {
    const news = await this.statistics.update();
    this.live = running ? parseLive(new TextDecoder().decode(await api.bytes(this.run, "live"))) : undefined;
    if (news || running) this.charts.update(this.statistics, this.time, this.liveStep());
    const { text, restarted } = await this.logText.more();
    if (restarted) this.log.textContent = "";
    if (!text) return;
    const atEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 20;
    this.log.append(text);
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  private liveStep(): Live | undefined {
    // One iteration is no curve yet: until there is one the step before is shown.
    return this.player.follows && this.live?.islands.some((history) => history.length > 1) ? this.live : undefined;
  }

  private async readScene(): Promise<void> {
    if (this.scene.textContent) return;
    this.scene.textContent = await api.text(this.run, "scene").catch((error: Error) => error.message);
  }

  private async show(number: number): Promise<number> {
    const coming = this.frames.get(number);
    this.frames.lookAhead(number, this.player.direction, this.player.exists);
    const frame = await coming;
    const world = this.world;
    if (!world || this.abort.signal.aborted) return frame.time;
    world.show(frame);
    if (!this.framed) {
      this.framed = true;
      this.frameAll();
    }
    this.time = frame.time;
    if (number > 0) this.player.setRate(frame.time / number);
    this.look.update(world);
    this.charts.moveMark(frame.time);
    if (!this.player.playing) this.charts.update(this.statistics, frame.time, this.liveStep());
    return frame.time;
  }

  private frameAll(): void {
    if (!this.world) return;
    const box = this.world.box();
    this.stage.fit(box, this.world.flat);
    this.stage.setGround(this.world.ground, box, isDark());
  }

  private retheme(): void {
    this.stage.setTheme(isDark());
    this.charts.update(this.statistics, this.time, this.liveStep());
  }

  private goTo(time: number): void {
    const rate = this.time > 0 && this.player.number > 0 ? this.time / this.player.number : undefined;
    if (rate) this.player.to(Math.min(Math.max(Math.round(time / rate), this.player.first), this.player.last));
  }

  private lookAtLargest(world: World): void {
    if (!world.largest) return;
    const to = world.largest.position, by = new three.Vector3().subVectors(to, this.stage.controls.target);
    this.stage.camera.position.add(by);
    this.stage.controls.target.copy(to);
    this.stage.controls.update();
  }

  private describe(status: api.RunStatus): void {
    this.element.querySelector("h1")!.textContent = status.scene;
    document.title = `${status.scene} – Lope`;
    const ended: Record<string, string> = { "0": "done", "2": "done, not every step converged", "130": "stopped", "143": "stopped" };
    const word = status.state === "ended" ? (status.exit === null ? "not running" : (ended[status.exit] ?? "failed")) : status.state;
    const progress = this.live && status.state !== "ended" ? `, step ${this.live.step} of ${this.live.steps}` : "";
    this.state.textContent = `${word}${progress}`;
    this.state.dataset.state = status.state;
    this.state.title = status.directory;
    if (status.exit === null || status.exit in ended) this.message.hidden = true;
    else this.say(status.message);
    this.showActions(status);
  }

  private showActions(status: api.RunStatus): void {
    const stopped = status.state === "ended" && status.frames.length > 0 && status.exit !== 0 && status.exit !== 2;
    const wanted = status.state === "running" && status.ours ? ["checkpoint", "stop"] : stopped ? ["resume"] : [];
    if (this.actions.dataset.wanted === wanted.join()) return;
    this.actions.dataset.wanted = wanted.join();
    const titles: Record<string, string> = {
      checkpoint: "Writes the state after this step to the disk", stop: "Ends after this step; it can be gone on from", resume: "Goes on from the checkpoint",
    };
    const act = (what: string) => api.command(this.run, what as "stop").catch((error: Error) => this.say(error.message));
    this.actions.replaceChildren(...wanted.map((what) => button(what, titles[what], () => void act(what), { id: what })));
  }

  private say(words: string): void {
    this.message.textContent = words;
    this.message.hidden = false;
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    if (event.key === " " && target.tagName === "BUTTON") return;
    if (this.player.key(event)) event.preventDefault();
    else if (event.key === "c") this.look.nextField();
    else if (event.key === "w") this.look.toggleWireframe();
    else if (event.key === "f") this.frameAll();
    else if (event.key >= "1" && event.key <= "9") this.look.toggleBody(Number(event.key) - 1);
  }
}

// The first line says which step it is, each other one is an iteration.
function parseLive(text: string): Live | undefined {
  const lines = text.split("\n").slice(0, -1);
  if (lines.length === 0) return undefined;
  const { step, steps } = JSON.parse(lines[0]) as { step: number; steps: number };
  const islands = new Map<number, Iteration[]>();
  for (const line of lines.slice(1)) {
    const iteration = JSON.parse(line) as Iteration & { island: number };
    islands.set(iteration.island, [...(islands.get(iteration.island) ?? []), iteration]);
  }
  return { step, steps, islands: [...islands.values()] };
}
