"""Shell commands as pages write them: taken apart, their placeholders replaced, and held against what there is."""
import os
import pathlib
import re
import shlex
import subprocess

# What pages write where a user puts something else.
PLACEHOLDERS = {
    "SCENE": "flagship", "RUN": "runs/beam", "DIRECTORY": "runs/beam", "DIR": "runs/beam", "FILE": "bunny.obj", "KEY=VALUE": "time.step=0.01",
    "N": "3", "FRAMES": "3", "VERTICES": "1000", "FORMAT": "vtu", "FIELD": "speed", "COMMAND": "scenes",
}
# Programs of the system that pages use; what they are given is not looked at.
FOREIGN = {"cd", "rm", "time", "tail", "jq", "man", "ninja", "git", "apt", "apt-get", "dpkg", "sudo", "source", "export", "npm", "pip", "ctest", "test", "ls", "cat"}
SEPARATORS = {";", "&&", "||", "|", "&"}


class Fault(Exception):
    pass


def simple_commands(text):
    """The words of each simple command; comments, continuations and redirections are gone."""
    text = text.replace("\\\n", " ")
    text = re.sub(r"\n +(?=[\[-])", " ", text)  # options that go on in a line of their own
    for line in text.split("\n"):
        # Half a substitution is no word: source <(lope completion).
        line = re.sub(r"<\(([^)]*)\)", r"; \1 ;", line)
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        try:
            tokens = list(lexer)
        except ValueError as error:
            raise Fault(f"`{line.strip()}`: {error}")
        words = []
        for token in [*tokens, ";"]:
            if token in SEPARATORS:
                if words:
                    yield words
                words = []
            else:
                words.append(token)


def is_command(text):
    """Whether an indented block holds commands."""
    first = text.split("\n", 1)[0].split("#")[0].split()
    while first and re.match(r"^[A-Z_]+=", first[0]):
        first.pop(0)
    return bool(first) and (first[0] in FOREIGN | {"lope", "make", "cmake", "python3", "bench_cholesky"} or "/" in first[0] and first[0].startswith(("build/", "tools/", "tests/", "./")))


def without_placeholders(words):
    """Words that can be given to the program. Optional parts in brackets count as given."""
    result = []
    for place, word in enumerate(words):
        if len(word) > 1 or word in "[]":
            # Brackets around whole words, not those of keys such as lattice=[5,5,5].
            if word.startswith("["):
                word = word[1:]
            if word.endswith("]") and word.count("]") > word.count("["):
                word = word[:-1]
        if word.strip("….") == "" and word:
            continue
        word = word.replace(",…", "").replace("…", "")
        if not word:
            continue
        before = words[place - 1] if place else ""
        if word in ("NAME", "METHOD", "NAME,NAME"):
            word = "newton" if "method" in before else "torture" if before == "bench" else "flagship"
        elif before == "--only" and word == "SCENE":
            word = "flagship"
        result.append(PLACEHOLDERS.get(word, word))
    while result and result[-1] in ("--methods", "--only", "--set"):  # what it takes was an ellipsis
        result.pop()
    return result


class Judge:
    """Says what is wrong with a command, by the program itself and by what is in the tree."""

    def __init__(self, program, root, folder):
        self.program, self.root, self.folder = pathlib.Path(program).resolve(), pathlib.Path(root), pathlib.Path(folder)
        self.not_built, self.known = set(), {}
        self.targets = set(re.findall(r"^([a-z_]+)(?: [a-z_]+)*:", (self.root / "Makefile").read_text(), re.MULTILINE))
        self.presets = set(re.findall(r'"name": "(\w+)"', (self.root / "CMakePresets.json").read_text()))
        self.benchmarks = (self.program.parent / "lope-bench").exists()
        lists = "\n".join(path.read_text() for place in ("tests", "bench") for path in (self.root / place).rglob("CMakeLists.txt"))
        kinds = (("lope_test", "test_"), ("lope_checked_test", "checked_"), ("lope_micro_benchmark", "bench_"), ("add_executable", ""))
        self.declared = {begin + name for function, begin in kinds for name in re.findall(function + r"\((\w+)", lists)}

    def look(self, words):
        words = list(words)
        while words and re.match(r"^[A-Za-z_]+=", words[0]):
            words.pop(0)
        if words and words[0] in ("time", "sudo"):
            words.pop(0)
        if not words:
            return
        key = tuple(words)
        if key not in self.known:
            try:
                self._look(words)
                self.known[key] = None
            except Fault as fault:
                self.known[key] = fault
        if self.known[key]:
            raise self.known[key]

    def _look(self, words):
        name = words[0]
        base = name.removeprefix("build/release/bin/").removeprefix("build/python/bin/")
        if base == "lope":
            self._look_at_lope(words[1:])
        elif name == "make":
            for target in words[1:]:
                if target not in self.targets:
                    raise Fault(f"the Makefile has no target '{target}'")
        elif name == "cmake":
            if "--preset" in words and words[words.index("--preset") + 1] not in self.presets:
                raise Fault(f"there is no preset '{words[words.index('--preset') + 1]}'")
        elif base.startswith(("test_", "bench_", "checked_")):
            self._look_at_tests(base, words[1:])
        elif base in ("python3", "/usr/bin/python3", "node", "bash"):
            self._look_at_files(words[1:2])
        elif name.startswith("build/examples/"):
            self._look_at_files([f"examples/cpp/{name.removeprefix('build/examples/')}.cpp"])
        elif name.startswith(("tools/", "tests/", "examples/", "./")):
            self._look_at_files(words[:1])
        elif name not in FOREIGN:
            raise Fault(f"'{name}' is no command that the test knows of")

    def _look_at_files(self, names):
        for name in names:
            if name.startswith("-") or name.startswith("build/"):
                continue
            folders = [self.root, self.root / "viewer"]
            if not any((folder / name).exists() for folder in folders):
                raise Fault(f"there is no file {name}")

    def _look_at_lope(self, words):
        words = without_placeholders(words)
        if words[:1] == ["bench"] and not self.benchmarks:
            self.not_built.add("lope-bench")
            return
        if words[:1] == ["render"] and "render" not in os.environ.get("LOPE_PARTS", "render").split():
            self.not_built.add("lope render")
            return
        words = self._without_named_options(words)
        if not words:
            return
        # A command that is only named stands for all its uses.
        rehearsal = [words[0], "--help"] if len(words) == 1 else ["--dry-run", *words]
        done = self._run(rehearsal)
        if done.returncode != 0:
            raise Fault(done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}")

    def _run(self, words):
        return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, timeout=600)

    def _without_named_options(self, words):
        """Sentences speak of `lope run --live`: such options must be in the help of their command, and nothing is done with them."""
        command = [word for word in words[:1] if not word.startswith("-")]
        if not all(word.startswith("-") for word in words[len(command):]):
            return words
        known = re.findall(r"(?<![\w-])--?[\w-]+", self._run([*command, "--help"]).stdout)
        for option in words[len(command):]:
            if option not in known:
                raise Fault(f"{' '.join(['lope', *command])} has no option {option}")
        return command

    def _look_at_tests(self, name, words):
        executable = self.program.parent / name
        if name not in self.declared:
            raise Fault(f"there is no program {name}")
        if not executable.exists():
            self.not_built.add(name)
            return
        filters = [word.split("=", 1)[1] for word in words if word.startswith("--gtest_filter=")]
        if not filters:
            return
        listed = subprocess.run([executable, "--gtest_list_tests", f"--gtest_filter={filters[0]}"], capture_output=True, text=True, timeout=600,
                                cwd=self.folder, env={**os.environ, "GTEST_COLOR": "no"})
        if not re.search(r"^  \w", listed.stdout, re.MULTILINE):
            raise Fault(f"{name} has no test {filters[0]}")
