"""Judge the model of `make run`, and write what README shows of it: the answer and docs/verdict.svg.

Run it after a change that may move these numbers; it takes a minute.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

import trueedge as te

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(\$ make run\n).*?(?=^```)", re.MULTILINE | re.DOTALL)
WIDTH = 118


def main() -> None:
    """Write the block of README and the picture."""
    sys.path.insert(0, str(ROOT / "examples"))
    from my_model import fit

    verdict = te.judge(fit, "cora", name="my_model")
    answer = textwrap.wrap(verdict.sentence, WIDTH, break_on_hyphens=False)
    said = "\n".join(["Verdict on my_model · cora", *answer, ""])
    readme = ROOT / "README.md"
    readme.write_text(BLOCK.sub(lambda found: found.group(1) + said, readme.read_text()))
    te.report.figure(verdict, "verdict").savefig(ROOT / "docs" / "verdict.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
