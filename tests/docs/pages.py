"""The pages and what stands in them: snippets with their languages and notes, code within sentences, links, headings.

A note is a comment on the line before a snippet, which no reader of the rendered page sees:

    <!-- snippet: run -->                      the commands are run, in this order, in a folder of the page
    <!-- snippet: run with time.duration=0.1 -->   the same, with --set of these words added to every `lope run`
    <!-- snippet: not looked at: WHY -->       for what can be neither run nor read here
    <!-- snippet: no command: WORDS -->        anywhere: what looks like a command in a sentence of the page and is none
    <!-- snippet: after NAME.toml -->          TOML that stands behind a scene of the page (or of scenes/)
    <!-- snippet: in [[body]] -->              TOML that stands below this header
    <!-- snippet: file NAME.toml -->           TOML that the page's commands find under this name
"""
import dataclasses
import pathlib
import re

NOTE = re.compile(r"<!-- snippet: (.*?)\s*-->", re.DOTALL)
FENCE = re.compile(r"^( *)```(\w*)\s*$")


@dataclasses.dataclass
class Snippet:
    page: "Page"
    line: int
    language: str  # sh, toml, python, cpp, …; "" unknown
    text: str
    notes: list

    def place(self):
        return f"{self.page.name}:{self.line}"

    def note(self, begin):
        """The rest of the note that begins so; None: there is none."""
        for note in self.notes:
            if re.match(begin + r"(?![\w-])", note):
                return note[len(begin):].strip(" :\n")
        return None


class Page:
    def __init__(self, path, root):
        self.path, self.name = path, str(path.relative_to(root))
        self.text = path.read_text()
        self.no_commands = {note[len("no command:"):].strip() for note in NOTE.findall(self.text) if note.startswith("no command:")}
        self.snippets, self.prose = [], []  # prose: (line, text) of paragraphs without snippets
        self._read(self.text.split("\n"))

    def _read(self, lines):
        notes, paragraph, start, i = [], [], 1, 0

        def end_paragraph():
            if paragraph:
                self.prose.append((start, "\n".join(paragraph)))
                paragraph.clear()

        while i < len(lines):
            line = lines[i]
            fence = FENCE.match(line)
            if line.startswith("<!--"):
                end_paragraph()
                comment = line
                while "-->" not in comment:
                    i += 1
                    comment += "\n" + lines[i]
                notes += NOTE.findall(comment)
            elif fence:
                end_paragraph()
                first, body = i + 1, []
                while not re.match(r"^ *```\s*$", lines[i + 1]):
                    i += 1
                    body.append(lines[i].removeprefix(fence[1]))
                i += 1
                self.snippets.append(Snippet(self, first, fence[2], "\n".join(body) + "\n", notes))
                notes = []
            elif line.startswith("    ") and (i == 0 or not lines[i - 1].strip()) and not paragraph:
                first, body = i + 1, []
                while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                    body.append(lines[i][4:])
                    i += 1
                i -= 1
                self.snippets.append(Snippet(self, first, "indented", "\n".join(body).strip("\n") + "\n", notes))
                notes = []
            elif line.strip():
                if not paragraph:
                    start = i + 1
                paragraph.append(line)
            else:
                end_paragraph()
            i += 1
        end_paragraph()

    def inline(self):
        """(line, code) of all code within sentences."""
        for start, text in self.prose:
            for found in re.finditer(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", text, re.DOTALL):
                yield start + text.count("\n", 0, found.start()), " ".join(found[2].split())

    def links(self):
        for start, text in self.prose:
            bare = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
            for found in re.finditer(r"\]\(([^)\s]+)\)", bare):
                yield start, found[1]

    def anchors(self):
        """As GitHub and the site make them of headings."""
        seen = {}
        for _, text in self.prose:
            for heading in re.findall(r"^#{1,6} +(.*)$", text, re.MULTILINE):
                words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
                anchor = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
                count = seen.get(anchor, 0)
                seen[anchor] = count + 1
                yield f"{anchor}-{count}" if count else anchor


def all_pages(root):
    root = pathlib.Path(root)
    paths = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [Page(path, root) for path in paths]
