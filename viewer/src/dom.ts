// Elements in one line.

type Properties = { [name: string]: unknown; dataset?: Record<string, string> };

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "dataset") Object.assign(element.dataset, value);
    else if (name.startsWith("aria-")) element.setAttribute(name, String(value));
    else (element as unknown as Record<string, unknown>)[name] = value;
  }
  element.append(...children);
  return element;
}

export function button(text: string, title: string, onclick: () => void, properties: Properties = {}): HTMLButtonElement {
  return h("button", { type: "button", title, onclick, ...properties }, text);
}

// A number in few characters: 0.0123, 1.2e-7, 3400.
export function brief(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return Number(value.toPrecision(digits)).toExponential().replace("e+", "e");
  return String(Number(value.toPrecision(digits)));
}

export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, "0")} min`;
}
