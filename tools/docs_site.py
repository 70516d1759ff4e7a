"""What mkdocs.yml asks for beside the theme: all pages are in the navigation, markdown reads as GitHub reads it, and search works from the disk.

The theme fetches its index and starts a worker by their addresses, which browsers refuse for pages opened from the disk. So the index is
written as a script too, and there a worker is made from its text.
"""
import json
import pathlib
import re

LIST = re.compile(r"^( *)([-*]|\d+\.) +")


def on_config(config):
    docs = pathlib.Path(config["docs_dir"])
    named = set()

    def collect(entries):
        for entry in entries if isinstance(entries, list) else [entries]:
            if isinstance(entry, dict):
                for value in entry.values():
                    collect(value)
            else:
                named.add(entry)

    collect(config["nav"])
    more = sorted(str(path.relative_to(docs)) for path in docs.rglob("*.md") if str(path.relative_to(docs)) not in named)
    if more:
        config["nav"].append({"More": more})
    return config


def on_page_markdown(markdown, page, config, files):
    """Lists begin without a blank line, and lists within lists are indented by what their marks take: as elsewhere."""
    lines, result, fenced, depths = markdown.split("\n"), [], False, []
    for line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
        item = None if fenced else LIST.match(line)
        if item:
            if not depths and result and result[-1].strip():
                result.append("")
            while depths and depths[-1] > len(item[1]):
                depths.pop()
            if not depths or depths[-1] < len(item[1]):
                depths.append(len(item[1]))
            line = "    " * (len(depths) - 1) + line.lstrip()
        elif depths and line.strip() and not fenced:
            if line.startswith(" "):  # goes on with its item
                line = "    " * len(depths) + line.lstrip()
            elif not (result and result[-1].strip()):
                depths = []
        result.append(line)
    return "\n".join(result)


def on_post_page(output, page, config):
    """The index is there before what asks for it."""
    return re.sub(r'<script src="([^"]*)assets/javascripts/bundle', r'<script src="\1assets/offline_search.js"></script>\g<0>', output)


def on_post_build(config):
    site = pathlib.Path(config["site_dir"])
    index = json.loads((site / "search/search_index.json").read_text())
    worker = next((site / "assets/javascripts/workers").glob("search.*.min.js")).read_text()
    worker = re.sub(r"//# sourceMappingURL=.*", "", worker)
    script = """if (location.protocol === "file:") {
  var __search = { index: Promise.resolve(%s) };
  (function (source) {
    var Native = window.Worker;
    window.Worker = function () { return new Native(URL.createObjectURL(new Blob([source], { type: "text/javascript" }))); };
  })(%s);
}
"""
    (site / "assets/offline_search.js").write_text(script % (json.dumps(index), json.dumps(worker)))
