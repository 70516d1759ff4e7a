"""Python and C++ of the pages, held against what there is without running it."""
import ast
import functools
import pathlib


def call_names(tree):
    """Functions and classes of a stub or module: name -> (parameters or None where any will do, methods by name)."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, set())
            merge(found, node.name, parameters(node))
        elif isinstance(node, ast.ClassDef):
            members = {}
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    members.setdefault(part.name, set())
                    merge(members, part.name, parameters(part))
                elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    members[part.target.id] = None
            found[node.name] = members
    return found


def merge(into, name, more):
    into[name] = None if into[name] is None or more is None else into[name] | more


def parameters(node):
    arguments = node.args
    if arguments.kwarg:
        return None
    return {argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}


@functools.cache
def module(root):
    """What `lope` has: the stub, and the functions of optimize.py."""
    names = call_names(ast.parse((pathlib.Path(root) / "python/lope/_lope.pyi").read_text()))
    optimize = call_names(ast.parse((pathlib.Path(root) / "python/lope/optimize.py").read_text()))
    names.update({name: value for name, value in optimize.items() if not name.startswith("_")})
    if "Scene" in names:
        names["load_scene"] = names["Scene"].get("load")
    return names


# What pages call things.
VARIABLES = {"simulation": "Simulation", "scene": "Scene"}


def check_python(snippet, root):
    try:
        tree = ast.parse(snippet.text)
    except SyntaxError as error:
        yield f"no Python: {error}"
        return
    names = module(root)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "lope" and node.attr not in names:
                yield f"the module has no {node.attr}"
            kind = VARIABLES.get(node.value.id)
            if kind and node.attr not in names[kind]:
                yield f"a {kind} has no {node.attr}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            accepted = None
            if node.func.value.id == "lope":
                accepted = names.get(node.func.attr)
                if isinstance(accepted, dict):
                    accepted = accepted.get("__init__")
            elif node.func.value.id in VARIABLES:
                accepted = names[VARIABLES[node.func.value.id]].get(node.func.attr)
            if accepted is None:
                continue
            for keyword in node.keywords:
                if keyword.arg and keyword.arg not in accepted:
                    yield f"{node.func.attr} takes no {keyword.arg}"


@functools.cache
def examples(root):
    folder = pathlib.Path(root) / "examples/cpp"
    return {path.name: [line.strip() for line in path.read_text().split("\n") if line.strip()] for path in sorted(folder.iterdir())
            if path.suffix in (".cpp", ".h", ".txt")}


def stands_in(pieces, lines):
    """Whether the pieces, each a run of lines, stand in the lines one after another."""
    at = 0
    for piece in pieces:
        while at + len(piece) <= len(lines) and lines[at:at + len(piece)] != piece:
            at += 1
        if at + len(piece) > len(lines):
            return False
        at += len(piece)
    return True


def check_cpp(snippet, root):
    """Lines of an example; "// …" stands for those that are left out."""
    pieces = [[]]
    for line in snippet.text.split("\n"):
        if line.strip() == "// …":
            pieces.append([])
        elif line.strip():
            pieces[-1].append(line.strip())
    if not any(stands_in(pieces, lines) for lines in examples(root).values()):
        yield "these are no lines of a file in examples/cpp, where they would be compiled"
