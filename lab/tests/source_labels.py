"""Labels of the five documents: headings, theorems, figures, algorithms, as their texts have them.

The texts are not distributed. ``labels/canesse.toml`` holds, for one document, regular expressions
that find its labels (group 1 is the label), the digest of the text, and the labels that were found.
`extracted` finds them again in a folder of texts; as a command, it rewrites the files::

    python lab/tests/source_labels.py FOLDER
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

from sourdine_lab.concordance import DOCUMENTS, plain

HERE = Path(__file__).parent / "labels"


def read(document: str) -> dict[str, object]:
    return tomllib.loads((HERE / f"{document}.toml").read_text("utf-8"))


def extracted(text: str, patterns: list[str]) -> list[str]:
    """Return the labels of a text in its order, each once, whatever its case and accents."""
    hits = [
        (match.start(), " ".join(match[1].split()))
        for pattern in patterns
        for match in re.finditer(pattern, text, re.MULTILINE)
    ]
    found: dict[str, str] = {}
    for _, label in sorted(hits):
        found.setdefault(plain(label), label)
    return list(found.values())


def text_of(document: str, folder: Path) -> str | None:
    """Return the text of a document, found by its digest; None if the folder does not have it."""
    digest = read(document)["sha256"]
    for path in sorted(folder.glob("*.txt")):
        data = path.read_bytes()
        if sha256(data).hexdigest() == digest:
            return data.decode("utf-8")
    return None


def main(folder: Path) -> None:
    for document in DOCUMENTS:
        facts = read(document)
        text = text_of(document, folder)
        if text is None:
            sys.exit(f"{folder} has no text of {document} with the digest {facts['sha256']}.")
        lines = ["# Written by source_labels.py, but for the patterns and the digest."]
        lines.append(f"sha256 = {json.dumps(facts['sha256'])}")
        for key, entries in (
            ("patterns", facts["patterns"]),
            ("labels", extracted(text, facts["patterns"])),
        ):
            quoted = [f"'''{e}'''" if key == "patterns" else json.dumps(e, ensure_ascii=False)
                      for e in entries]  # fmt: skip
            lines += [f"{key} = [", *(f"    {one}," for one in quoted), "]"]
        (HERE / f"{document}.toml").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
