"""Wheels written directly, which pip can install; faster than building them."""

import base64
import hashlib
import zipfile


def wheel(folder, name, entry_points, files=(), version="1.0"):
    """Write a wheel.

    Parameters
    ----------
    folder : Path
        The folder of the wheel.
    name, version : str
        Name and version of the distribution.
    entry_points : dict
        ``{extension point: {name: target}}``, without the prefix ``zarr_core.``.
    files : dict
        ``{path: text}``.

    Returns
    -------
    Path
    """
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    lines = [
        line
        for kind, names in entry_points.items()
        for line in (f"[zarr_core.{kind}]", *(f"{key} = {value}" for key, value in names.items()))
    ]
    contents = {
        **dict(files),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join([*lines, ""]),
    }
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in contents.items())
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in (contents | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}).items():
            archive.writestr(path, text)
    return file


def unpack(file, site):
    """Install a wheel without scripts by unpacking it."""
    with zipfile.ZipFile(file) as archive:
        archive.extractall(site)


def _digest(text):
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
    return f"sha256={digest.rstrip(b'=').decode()}"
