"""Put the built corpus in the wheel.

The wheel contains the archive of all cases instead of the files and modules of the topics, so that
it needs no packages.  Editable installations read and generate the cases from them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ARCHIVE = "zarr_conformance/corpus/corpus.tar.gz"


class CorpusHook(BuildHookInterface[Any]):
    """Builds the corpus with a source tree of the version of the wheel."""

    def dependencies(self) -> list[str]:
        """Return what the modules that generate the cases import."""
        return ["numpy>=2.0", "numcodecs>=0.16"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the archive, and add it to the wheel."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory(prefix="corpus-")
        archive = Path(self._folder.name) / "corpus.tar.gz"
        program = (
            "import sys; sys.path.insert(0, sys.argv[1]);"
            "from pathlib import Path;"
            "from zarr_conformance.corpus.build import build;"
            "build(Path(sys.argv[2]), version=sys.argv[3])"
        )
        source = str(Path(self.root) / "src")
        subprocess.run(
            [sys.executable, "-c", program, source, str(archive), self.metadata.version],
            check=True,
        )
        build_data["force_include"][str(archive)] = ARCHIVE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary archive."""
        if version != "editable":
            self._folder.cleanup()
