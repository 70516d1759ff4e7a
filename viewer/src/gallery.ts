// The scenes that come with Lope, and the runs that there are: click and watch.
import * as api from "./api";
import { button, h } from "./dom";

export class Gallery {
  readonly element: HTMLElement;
  private readonly scenes = h("div", { className: "cards" }, "…");
  private readonly runs = h("ul", { className: "runs" });
  private readonly message = h("p", { className: "message", hidden: true });

  // `again`: a run whose scene, with its changes, is made ready to be started once more.
  constructor(again?: number) {
    this.element = h(
      "main", { className: "gallery" }, h("header", {}, h("h1", {}, "Lope")), this.message,
      h("section", {}, h("h2", {}, "Runs"), this.runs), h("section", {}, h("h2", {}, "Scenes"), this.scenes),
    );
    document.title = "Lope";
    this.fill(again).catch((error: Error) => this.say(error.message));
  }

  close(): void {}

  private async fill(again?: number): Promise<void> {
    const [runs, scenes] = await Promise.all([api.runs(), api.scenes()]);
    const row = (run: api.RunEntry) => h("li", {}, h("a", { href: `#run/${run.id}` }, run.directory), ` ${run.scene === run.directory ? "" : run.scene}`, h("small", {}, run.state === "ended" ? "" : run.state));
    this.runs.replaceChildren(...(runs.length > 0 ? runs.map(row) : [h("li", {}, "None yet: start one below.")]));
    const seenFirst = [...scenes].sort((a, b) => Number(b.picture) - Number(a.picture));
    this.scenes.replaceChildren(...seenFirst.map((scene) => this.card(scene)));
    if (again === undefined) return;
    const run = await api.status(again), card = this.scenes.querySelector<HTMLElement>(`[data-scene="${CSS.escape(run.scene)}"]`);
    if (!card) return this.say(`${run.scene} is not among the scenes here: start it with lope view FILE`);
    card.querySelector("details")!.open = true;
    card.querySelector("textarea")!.value = run.set.join("\n");
    card.scrollIntoView({ block: "center" });
    card.querySelector("textarea")!.focus();
  }

  private card(scene: api.SceneEntry): HTMLElement {
    const changes = h("textarea", { rows: 2, spellcheck: false, placeholder: 'time.duration="1 s"\nbody.0.edge="5 cm"', "aria-label": `Changes to ${scene.name}` });
    const picture = scene.picture ? h("img", { src: api.pictureOf(scene.name), alt: "", loading: "lazy" }) : h("div", { className: "no-picture" });
    const start = button("run", `Simulate ${scene.name} and watch`, () => void this.start(scene.name, changes.value), { className: "start" });
    return h(
      "article", { className: "card", dataset: { scene: scene.name } }, picture, h("h3", {}, scene.name), h("p", {}, scene.description), start,
      h("details", {}, h("summary", {}, "with changes"), h("p", {}, "A line for each, as after --set:"), changes),
    );
  }

  private async start(scene: string, changes: string): Promise<void> {
    try {
      const overrides = changes.split("\n").map((line) => line.trim()).filter(Boolean);
      const { id } = await api.start(scene, overrides);
      location.hash = `#run/${id}`;
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  private say(words: string): void {
    this.message.textContent = words;
    this.message.hidden = false;
    this.message.scrollIntoView({ block: "nearest" });
  }
}
