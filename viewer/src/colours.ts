// Maps from numbers to colours: the straight lines through OKLCh of the program's pictures (Ottosson, "A perceptual color space
// for image processing", 2020), so that a page and a picture show a value alike.

export type Rgb = [number, number, number]; // linear light

type Anchor = [lightness: number, chroma: number, hue: number];
type Lab = [number, number, number];

const anchors: Record<string, Anchor[]> = {
  tide: [[0.24, 0.095, 274], [0.376, 0.105, 248], [0.512, 0.088, 212], [0.648, 0.105, 172], [0.784, 0.145, 138], [0.92, 0.165, 106]],
  ember: [[0.17, 0.06, 290], [0.322, 0.125, 325], [0.474, 0.175, 368], [0.626, 0.185, 396], [0.778, 0.155, 430], [0.93, 0.09, 460]],
  diverging: [[0.42, 0.145, 256], [0.6, 0.115, 250], [0.78, 0.065, 244], [0.96, 0, 240], [0.78, 0.085, 38], [0.6, 0.15, 30], [0.42, 0.155, 24]],
};
export const mapNames = Object.keys(anchors);
// For data that is missing: no map contains it.
export const missing: Rgb = [decode(0x9c), decode(0x7a), decode(0x94)];
export const mapSize = 256;

function decode(byte: number): number {
  const x = byte / 255;
  return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
}

export function encode(linear: number): number {
  const x = Math.min(Math.max(linear, 0), 1);
  return Math.round(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055));
}

function labOf([lightness, chroma, hue]: Anchor): Lab {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

function linearOf([L, a, b]: Lab): Rgb {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
  ];
}

// Keeps lightness and hue, and as much of the chroma as a screen can show.
function show([L, a, b]: Lab): Rgb {
  const at = (part: number) => linearOf([L, part * a, part * b]);
  const fits = (rgb: Rgb) => rgb.every((x) => x >= -1e-9 && x <= 1 + 1e-9);
  let least = 0, most = 1;
  if (fits(at(1))) least = 1;
  for (let i = 0; least < 1 && i < 24; ++i) {
    const middle = 0.5 * (least + most);
    if (fits(at(middle))) least = middle;
    else most = middle;
  }
  return at(least).map((x) => Math.min(Math.max(x, 0), 1)) as Rgb;
}

// The whole map from its lowest to its highest colour.
export function colourTable(name: string): Rgb[] {
  const points = (anchors[name] ?? anchors.tide).map(labOf);
  return Array.from({ length: mapSize }, (_, i) => {
    const position = (i / (mapSize - 1)) * (points.length - 1);
    const left = Math.min(Math.floor(position), points.length - 2), t = position - left;
    return show(points[left].map((x, k) => x + t * (points[left + 1][k] - x)) as Lab);
  });
}

// Colours for numbers that name things: hues turn by the golden angle, lightness cycles.
export function category(number: number): Rgb {
  return show(labOf([[0.66, 0.78, 0.56][((number % 3) + 3) % 3], 0.13, (250 + 137.50776405 * number) % 360]));
}

// Curves that stay apart for colour-blind readers (Okabe and Ito 2008).
export const curveColours = ["#3b8fd1", "#e0701a", "#18a57c", "#cc79a7", "#d99a00", "#56b4e9", "#a89a00"];

export const css = (rgb: Rgb) => `rgb(${rgb.map(encode).join(",")})`;

export function hexOf(srgb: Rgb): string {
  return `#${srgb.map((x) => Math.round(255 * Math.min(Math.max(x, 0), 1)).toString(16).padStart(2, "0")).join("")}`;
}
