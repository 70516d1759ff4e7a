#!/usr/bin/env python3
"""Whether check_docs.py sees what is wrong: a page of faults, one beside the other, each of which must be named, and nothing else."""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from check_docs import Check

SOUND = '''# Sound

`lope run flagship --set time.duration=0.1` and [below](#sound), `make test`.

<!-- snippet: file bar.toml -->
```toml
[[body]]
name = "bar"
shape = { box = { size = [1, 0.2, 0.2] } }
edge = 0.1
```

<!-- snippet: run with time.duration=0.05 -->
```sh
lope run bar.toml -o out   # a comment
test -s out/checkpoint.h5
```

<!-- snippet: after bar.toml -->
```toml
[[body.handle]]
where = { side = "x-min" }
pin = true
```

<!-- snippet: in [[body]]\\nshape = { sphere = { radius = 0.1 } } -->
```toml
material = "steel"
```

    lope compare SCENE --methods dot,newton [--steps N]

```python
simulation = lope.Simulation(scene, method="newton")
simulation.step()
```
'''

# What is wrong, and what must be said of it.
FAULTS = {
    "`lope run flagshp`": "did you mean",
    "`lope run flagship --set time.stepp=1`": "stepp",
    "`lope run flagship --frobnicate`": "frobnicate",
    "`lope frobnicate flagship`": "no command 'frobnicate'",
    "`lope compare tss --methods newtn`": "newtn",
    "`lope render RUN --color-by presure`": "presure",
    "`lope export RUN --format stl`": "stl",
    "`lope export RUN --frames 9-1`": "no range",
    "`lope bench tortur`": "tortur",
    "`lope lcp A.mtx b.mtx --method nonsense`": "nonsense",
    "`make nonsense`": "no target",
    "`test_nonsense --gtest_filter=*`": "no program test_nonsense",
    "[away](nowhere.md)": "leads nowhere",
    "[away](#nowhere)": "no such heading",
    "```sh\nfrobnicate --now\n```": "no command that the test knows",
    "```sh\nlope check \"beam.toml\n```": "No closing quotation",
    "```toml\n[[body]\n```": "no TOML",
    "```toml\n[[body]]\nshape = { bx = { size = [1, 1, 1] } }\n```": "bx",
    "```toml\n[solver]\nacuracy = 1\n```": "acuracy",
    "<!-- snippet: run -->\n```sh\nlope run beam.toml\n```": "exit code 1",
    "```python\nlope.Simulaton(scene)\n```": "no Simulaton",
    "```python\nsimulation.stepp()\n```": "no stepp",
    "```python\nlope.run(scene, 'runs/x', on_stp=f)\n```": "takes no on_stp",
    "```cpp\nlope::nonsense();\n```": "no lines of a file",
}


def main():
    program, root, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tree/docs").mkdir(parents=True)
    for name in ("Makefile", "CMakePresets.json", "scenes", "tests", "bench", "python", "examples"):
        (folder / "tree" / name).symlink_to(root / name)
    (folder / "tree/README.md").write_text(SOUND)
    for number, fault in enumerate(FAULTS):
        (folder / f"tree/docs/{number:02}.md").write_text(f"# A page\n\n{fault}\n")
    check = Check(program, folder / "tree", folder / "results")
    found = check.run()
    failures = []
    for number, (fault, words) in enumerate(FAULTS.items()):
        if "bench" in fault and not check.judge.benchmarks:
            continue
        if "lope render" in fault and "render" not in os.environ.get("LOPE_PARTS", "render").split():
            continue
        mine = [line for line in found if line.startswith(f"docs/{number:02}.md:")]
        if len(mine) != 1 or words not in mine[0]:
            failures.append(f"{fault!r} is to be found, and only that: {mine}")
    failures += [line for line in found if not line.startswith("docs/")]
    print("\n".join(failures) or f"{len(FAULTS)} faults found")
    return 1 if failures else 0


sys.exit(main())
