"""The type stubs name what there is, and nothing else; everything public is documented."""
import ast
import inspect
import pathlib

import lope
from lope import _lope


def public(names):
    return {name for name in names if not name.startswith("_") or name in ("__init__", "__len__", "__getitem__", "__version__")}


def stubs():
    tree = ast.parse((pathlib.Path(lope.__file__).parent / "_lope.pyi").read_text())
    result = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            members |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            result[node.name] = members
        elif isinstance(node, ast.FunctionDef):
            result[node.name] = None
        elif isinstance(node, ast.AnnAssign):
            result[node.target.id] = None
    return result


def test_the_stubs_name_what_there_is():
    known = stubs()
    assert public(known) == public(vars(_lope)) - {"annotations"}
    for name, members in known.items():
        if members is None or issubclass(getattr(_lope, name), Exception):
            continue
        real = public(vars(getattr(_lope, name)))
        if "__init__" not in members:
            real.discard("__init__")  # made by others only
        assert public(members) == real, name


def test_everything_public_is_documented():
    for name in lope.__all__:
        thing = getattr(lope, name)
        if callable(thing):
            assert inspect.getdoc(thing), name
