#!/usr/bin/env python3
"""Holds the README and docs/ against the program: every command, every scene, every key, every link (docs/testing.md).

    check_docs.py PROGRAM SOURCES FOLDER

- Every `lope …`, in snippets and in sentences, is read by the program's own parser (`lope --dry-run`), with the scene and overrides that it
  names; what a note asks for is run.
- A TOML snippet that has bodies passes `lope check`; others are read behind the page's scene or below the header that a note names.
- Python snippets name functions, methods and arguments that the module's type stubs have (they are not run).
- C++ snippets are lines of examples/cpp, which another test compiles and runs.
- Links lead to files and headings that there are.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import commands
import pages
from languages import check_cpp, check_python

CUBE = "".join(f"v {x} {y} {z}\n" for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))) + \
    "".join(f"f {face}\n" for face in ("1 4 3 2", "5 6 7 8", "1 2 6 5", "2 3 7 6", "3 4 8 7", "4 1 5 8"))
BEAM = '[[body]]\nshape = { box = { size = [1, 0.1, 0.1] } }\nmaterial = "rubber"\n[[body.handle]]\nwhere = { side = "x-min" }\npin = true\n'


class Check:
    def __init__(self, program, root, folder, names=None):
        self.program, self.root, self.folder = pathlib.Path(program).resolve(), pathlib.Path(root).resolve(), pathlib.Path(folder).resolve()
        self.faults, self.counts = [], {}
        self.pages = [page for page in pages.all_pages(self.root) if names is None or page.name in names]
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.judge = None

    def fault(self, place, words):
        self.faults.append(f"{place}: {words}")

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def lope(self, words, folder, seconds=600):
        return subprocess.run([self.program, *words], cwd=folder, capture_output=True, text=True, timeout=seconds)

    def make_surroundings(self):
        """What commands of the pages find where a user has files and runs of his own."""
        for name in ("bunny.obj", "mesh.obj", "shirt.obj", "file.obj"):
            (self.folder / name).write_text(CUBE)
        for name in ("beam.toml", "my_scene.toml"):
            (self.folder / name).write_text(BEAM)
        done = self.lope(["run", "beam.toml", "--set", "body.0.edge=0.1", "--set", "time.duration=0.05", "--quiet", "-o", "runs/beam"], self.folder)
        if done.returncode != 0:
            sys.exit(f"the scene of the tutorial does not run: {done.stderr}")
        for name in ("fine", "flagship"):
            shutil.copytree(self.folder / "runs/beam", self.folder / "runs" / name)
        os.symlink(self.root / "scenes", self.folder / "scenes")
        for page in self.pages:
            for snippet in page.snippets:
                if (name := snippet.note("file")) is not None:
                    (self.folder / name).write_text(snippet.text)
        self.judge = commands.Judge(self.program, self.root, self.folder)

    # Commands

    def check_words(self, place, words):
        self.count("commands")
        try:
            self.judge.look(words)
        except commands.Fault as fault:
            self.fault(place, f"`{' '.join(words)}`: {fault}")

    def check_shell(self, snippet):
        try:
            for words in commands.simple_commands(snippet.text):
                self.check_words(snippet.place(), words)
        except commands.Fault as fault:
            self.fault(snippet.place(), fault)

    def run_page(self, page):
        """The commands that the page wants to be run, one after another."""
        wanted = [snippet for snippet in page.snippets if snippet.note("run") is not None]
        if not wanted:
            return
        folder = self.folder / page.name.replace("/", "_").removesuffix(".md")
        folder.mkdir()
        for snippet in page.snippets:
            if (name := snippet.note("file")) is not None:
                (folder / name).write_text(snippet.text)
        path = f"{self.program.parent}:{os.environ['PATH']}"
        for snippet in wanted:
            overrides = snippet.note("run with")
            script = snippet.text
            if overrides:
                added = "".join(f" --set {word}" for word in overrides.split())
                script = "\n".join(f"{head}{added} {comment}".rstrip() if (head := line.split("#")[0].rstrip()).startswith("lope run ") and
                                   "--resume" not in line else line for line in script.split("\n")
                                   for comment in [""])
            if "render" not in os.environ.get("LOPE_PARTS", "render").split():  # the program was built without
                script = "\n".join(line.replace(" --render", "") for line in script.split("\n") if not line.startswith("lope render"))
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True, timeout=600,
                                  env={**os.environ, "PATH": path})
            self.count("snippets run")
            if done.returncode != 0:
                self.fault(snippet.place(), f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")

    # Scenes

    def check_toml(self, snippet):
        self.count("TOML snippets")
        try:
            tomllib.loads(snippet.text)
        except tomllib.TOMLDecodeError as error:
            return self.fault(snippet.place(), f"no TOML: {error}")
        text, whole = snippet.text, False
        if (before := snippet.note("after")) is not None:
            text = self.scene_named(snippet.page, before) + "\n" + text
        elif (header := snippet.note("in")) is not None:
            text = header.replace("\\n", "\n") + "\n" + text
        else:
            whole = any(line.startswith(("[[body]]", "[[emitter]]")) for line in text.split("\n"))
            if not whole:
                text = BEAM + text
        path = self.folder / f"{snippet.page.path.stem}_{snippet.line}.toml"
        path.write_text(text)
        done = self.lope(["check", path.name] if whole else ["--dry-run", "run", path.name], self.folder)
        if done.returncode != 0:
            self.fault(snippet.place(), done.stderr.strip() or done.stdout.strip()[-600:])

    def scene_named(self, page, name):
        for snippet in page.snippets:
            if snippet.note("file") == name:
                return snippet.text
        return (self.root / "scenes" / name).read_text()

    # Links

    def check_links(self, page):
        for line, link in page.links():
            if link.startswith(("http://", "https://", "mailto:")):
                continue
            self.count("links")
            path, _, anchor = link.partition("#")
            target = (page.path.parent / path).resolve() if path else page.path
            if not target.exists():
                self.fault(f"{page.name}:{line}", f"{link} leads nowhere")
            elif anchor and target.suffix == ".md" and anchor not in list(pages.Page(target, self.root).anchors()):
                self.fault(f"{page.name}:{line}", f"{link}: no such heading")

    def check_page(self, page):
        for snippet in page.snippets:
            if snippet.note("not looked at") is not None:
                self.count("snippets not looked at")
            elif snippet.language == "sh" or snippet.language == "indented" and commands.is_command(snippet.text):
                self.check_shell(snippet)
            elif snippet.language == "toml":
                self.check_toml(snippet)
            elif snippet.language in ("python", "cpp"):
                self.count(f"{snippet.language} snippets")
                check = check_python if snippet.language == "python" else check_cpp
                for fault in check(snippet, self.root):
                    self.fault(snippet.place(), fault)
        for line, code in page.inline():
            if code in page.no_commands or not re.match(r"(lope|make) [a-z-]|(build/release/bin/)?(test|bench|checked)_\w+( |$)", code):
                continue
            try:
                for words in commands.simple_commands(code):
                    self.check_words(f"{page.name}:{line}", words)
            except commands.Fault as fault:
                self.fault(f"{page.name}:{line}", fault)
        self.check_links(page)
        self.run_page(page)

    def run(self):
        self.make_surroundings()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.check_page, self.pages))
        return self.faults


def main():
    check = Check(*sys.argv[1:4])
    faults = check.run()
    print(f"{len(check.pages)} pages: " + ", ".join(f"{count} {what}" for what, count in sorted(check.counts.items())))
    if check.judge.not_built:
        print("Not looked at, because it was not built:", ", ".join(sorted(check.judge.not_built)))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
