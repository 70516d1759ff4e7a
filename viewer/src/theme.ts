// Light and dark: as the system wants it, until the user chooses.
import { button } from "./dom";

const system = window.matchMedia("(prefers-color-scheme: dark)");
let chosen: boolean | undefined;

export const isDark = () => chosen ?? system.matches;

function apply(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  window.dispatchEvent(new Event("lope-theme"));
}

export function themeButton(): HTMLButtonElement {
  system.addEventListener("change", apply);
  apply();
  return button("◐", "Light or dark", () => {
    chosen = !isDark();
    apply();
  }, { className: "theme", id: "theme" });
}
