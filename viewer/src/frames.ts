// The frames of a run: fetched when they are wanted, the next ones ahead, the last ones kept.
import * as api from "./api";
import { decodeFrame, type Frame } from "./frame";

const memory = 600e6; // bytes of frames that are kept
const ahead = 6; // frames that are fetched before they are wanted
const atOnce = 4;

export class Frames {
  private readonly kept = new Map<number, Frame>(); // in the order of their last use
  private readonly coming = new Map<number, { promise: Promise<Frame>; abort: AbortController }>();
  private bytes = 0;
  private topologyFrame?: Frame;

  constructor(private readonly run: number) {}

  async topology(): Promise<Frame> {
    return (this.topologyFrame ??= decodeFrame(await api.bytes(this.run, "topology")));
  }

  get(number: number): Promise<Frame> {
    const kept = this.kept.get(number);
    if (kept) {
      this.kept.delete(number);
      this.kept.set(number, kept);
      return Promise.resolve(kept);
    }
    const coming = this.coming.get(number);
    return coming ? coming.promise : this.fetch(number);
  }

  // Fetches the frames after this one in the direction of play; `exists` says which there are. What is under way and of no use
  // any more is given up.
  lookAhead(number: number, direction: number, exists: (number: number) => boolean): void {
    const wanted: number[] = [];
    for (let k = 1; k <= ahead; ++k) {
      if (exists(number + k * direction)) wanted.push(number + k * direction);
    }
    for (const [other, { abort }] of this.coming) {
      if (other !== number && !wanted.includes(other)) abort.abort();
    }
    for (const next of wanted) {
      if (this.coming.size >= atOnce) return;
      // What fails here is asked for again when it is wanted.
      if (!this.kept.has(next) && !this.coming.has(next)) this.fetch(next).catch(() => {});
    }
  }

  // Forgets all frames, those under way too: a run that goes on may write them anew.
  forget(): void {
    for (const { abort } of this.coming.values()) abort.abort();
    this.coming.clear();
    this.kept.clear();
    this.bytes = 0;
  }

  private fetch(number: number): Promise<Frame> {
    const abort = new AbortController();
    const promise = api.bytes(this.run, `frame/${number}`, abort.signal).then((buffer) => {
      abort.signal.throwIfAborted();
      const frame = decodeFrame(buffer);
      this.keep(number, frame);
      return frame;
    });
    this.coming.set(number, { promise, abort });
    const done = () => {
      if (this.coming.get(number)?.abort === abort) this.coming.delete(number);
    };
    promise.then(done, done);
    return promise;
  }

  private keep(number: number, frame: Frame): void {
    this.kept.set(number, frame);
    this.bytes += frame.bytes;
    for (const [oldest, { bytes }] of this.kept) {
      if (this.bytes <= memory || oldest === number) return;
      this.kept.delete(oldest);
      this.bytes -= bytes;
    }
  }
}
