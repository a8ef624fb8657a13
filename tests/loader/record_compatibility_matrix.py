"""Runs the published libraries and writes what was found out to ``onnx_light_ort/host/compatibility_matrix.json``, and
for people to ``docs/compatibility.md``.

    python tests/loader/record_compatibility_matrix.py

A library's row names its release; where the file of that release changed, the hash does.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MATRIX = ROOT / "onnx_light_ort" / "host" / "compatibility_matrix.json"
sys.path.insert(0, str(ROOT / "fixtures"))

from compatibility_page import PAGE, page  # noqa: E402
from slots_used import library_file, slots_used  # noqa: E402


def main() -> None:
    document = json.loads(MATRIX.read_text("utf-8"))
    for row in document["libraries"]:
        row["sha256"] = hashlib.sha256(library_file(row["library"]).read_bytes()).hexdigest()
        row["slots_used"] = slots_used(row["library"])
        row["status"] = "audited"
        print(f"{row['library']} {row['version']}: {len(row['slots_used'])} slots")
    MATRIX.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    PAGE.write_text(page(document["libraries"]), "utf-8")


if __name__ == "__main__":
    main()
