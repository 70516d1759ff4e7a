// What the server of `lope view` answers. All addresses are relative to the page, which lies below the token.

export interface SceneEntry {
  name: string;
  description: string;
  picture: boolean;
}

export interface RunEntry {
  id: number;
  scene: string;
  directory: string;
  state: "running" | "stopping" | "ended";
}

export interface RunStatus extends RunEntry {
  ours: boolean; // started from this page, so that it can be stopped here
  set: string[]; // the changes that it was started with here
  exit: number | null; // of a run of ours that ended
  message: string; // its last words
  frames: [first: number, last: number][]; // stretches of numbers without gaps
}

async function answer(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Error((await response.text()) || `${response.status} ${response.statusText}`);
}

async function json<T>(path: string): Promise<T> {
  return (await answer(await fetch(`api/${path}`))).json() as Promise<T>;
}

async function post<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return (await answer(await fetch(`api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }))).json() as Promise<T>;
}

export const pictureOf = (scene: string) => `api/picture/${scene}`;
export const scenes = () => json<SceneEntry[]>("scenes");
export const runs = () => json<RunEntry[]>("runs");
export const status = (run: number) => json<RunStatus>(`run/${run}`);
export const start = (scene: string, overrides: string[]) => post<{ id: number }>("start", { scene, set: overrides });
export const command = (run: number, what: "stop" | "checkpoint" | "resume") => post<object>(`run/${run}/${what}`);

export async function bytes(run: number, what: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await answer(await fetch(`api/run/${run}/${what}`, { signal }))).arrayBuffer();
}

export async function text(run: number, what: "scene"): Promise<string> {
  return (await answer(await fetch(`api/run/${run}/${what}`))).text();
}

// A file that grows, read piece by piece. `restarted`: it is shorter than what was read of it, so that it was begun anew.
export class GrowingText {
  private position = 0;
  private readonly decoder = new TextDecoder();

  constructor(private readonly run: number, private readonly what: "stats" | "log") {}

  // Everything that was added since the last call.
  async more(): Promise<{ text: string; restarted: boolean }> {
    let text = "", restarted = false;
    for (;;) {
      const response = await answer(await fetch(`api/run/${this.run}/${this.what}?from=${this.position}`));
      if (response.headers.has("Lope-Restarted")) {
        text = "";
        restarted = true;
      }
      const piece = await response.arrayBuffer();
      this.position = Number(response.headers.get("Lope-Next"));
      if (piece.byteLength === 0) return { text, restarted };
      text += this.decoder.decode(piece);
    }
  }

  restart(): void {
    this.position = 0;
  }
}
