// Frames as Lope writes them (docs/formats.md): a JSON header, then arrays, laid over the bytes without copying.

export type Numbers = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

export interface NamedArray {
  shape: number[];
  values: Numbers;
}

export interface Frame {
  number: number;
  time: number; // seconds
  words: Record<string, string>; // the metadata
  arrays: Map<string, NamedArray>;
  bytes: number;
}

interface Header {
  version: number;
  frame: number;
  time: number;
  metadata?: Record<string, string>;
  arrays: { name: string; type: string; shape: number[]; offset: number }[];
}

const magic = [0x4c, 0x4f, 0x50, 0x45, 0x46, 0x52, 0x4d, 0x01];
const types = { f32: Float32Array, f64: Float64Array, i32: Int32Array, i64: BigInt64Array, u8: Uint8Array };

// Throws for what is no frame, or one that ends too early.
export function decodeFrame(buffer: ArrayBuffer): Frame {
  const bytes = new Uint8Array(buffer);
  if (bytes.length < 16 || magic.some((byte, i) => bytes[i] !== byte)) throw new Error("this is not a frame of Lope");
  const length = Number(new DataView(buffer).getBigUint64(8, true));
  if (length > buffer.byteLength - 16) throw new Error("the frame ends within its header");
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(16, 16 + length))) as Header;
  if (header.version !== 1) throw new Error(`frames of version ${header.version} are not known to this page`);
  const arrays = new Map<string, NamedArray>();
  for (const { name, type, shape, offset } of header.arrays) {
    const Type = types[type as keyof typeof types];
    if (!Type) throw new Error(`array ${name} has the unknown type ${type}`);
    const count = shape.reduce((product, extent) => product * extent, 1);
    const from = 16 + length + offset;
    if (from + count * Type.BYTES_PER_ELEMENT > buffer.byteLength) throw new Error(`the frame ends within ${name}`);
    arrays.set(name, { shape, values: new Type(buffer, from, count) });
  }
  return { number: header.frame, time: header.time, words: header.metadata ?? {}, arrays, bytes: buffer.byteLength };
}
