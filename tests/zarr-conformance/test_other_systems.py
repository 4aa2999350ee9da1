"""The harness on systems without process groups, limits and /proc, such as Windows."""

import subprocess
import sys

from waits import PATIENCE

WITHOUT = """
import os, sys
sys.modules["resource"] = None
for name in ("killpg", "sysconf", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
import subprocess
begin = subprocess.Popen.__init__

def checked(self, *arguments, **options):
    assert not options.pop("start_new_session", False)
    assert options.pop("creationflags", 0) == 0x200
    begin(self, *arguments, **options)

import zarr_conformance.runner.adapter_process as it
it._POSIX = False
it._resident = lambda leader: 0
subprocess.Popen.__init__ = checked
from zarr_conformance.__main__ import main
sys.exit(main(sys.argv[1:]))
"""

CRASHING = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "shape-text" in asked.get("store", ""):
        os._exit(5)
    told = {"node_type": "array"}
    if asked["operation"] == "capabilities":
        told = {"protocol": 1, "implementation": "crashing", "version": "1", "formats": [3], "operations": ["open"]}
    print(json.dumps({"id": asked["id"], "result": told}), flush=True)
"""


def test_run_without_posix(tmp_path):
    """Crashes are still results, and the run continues."""
    (tmp_path / "program.py").write_text(WITHOUT)
    (tmp_path / "adapter.py").write_text(CRASHING)
    command = [
        *(sys.executable, "program.py", "run", "--command", f"{sys.executable} adapter.py"),
        *("--only", "v3-core/array/shape-text", "--only", "v3-core/array/shape-n*", "--jobs", "2"),
    ]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE * 3
    )
    assert done.stderr == ""
    assert done.returncode == 1
    assert "crash or hang: 1" in done.stdout
    assert "exit status 5" in done.stdout
