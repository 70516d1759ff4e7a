// Which page is shown: a run (#run/NUMBER), or the gallery, perhaps ready to run something again (#again/NUMBER).
import "./style.css";
import { h } from "./dom";
import { Gallery } from "./gallery";
import { RunPage } from "./run_page";
import { themeButton } from "./theme";

let page: RunPage | Gallery | undefined;

function open(): void {
  page?.close();
  const run = /^#run\/(\d+)$/.exec(location.hash);
  const again = /^#again\/(\d+)$/.exec(location.hash);
  try {
    page = run ? new RunPage(Number(run[1])) : new Gallery(again ? Number(again[1]) : undefined);
  } catch (error) {
    page = undefined;
    const words = `${(error as Error).message} The page of a run needs a browser with WebGL 2.`;
    document.body.replaceChildren(h("p", { className: "message" }, words), theme);
    return;
  }
  document.body.replaceChildren(page.element, theme);
}

const theme = themeButton();
window.addEventListener("hashchange", open);
open();
