"""The install lines of a page are sufficient for its snippets, and can be installed."""

import ast
import doctest
import re
import subprocess
import sys
import tomllib
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest
from empty_environment import OUTSIDE, make_environment
from example_distributions import copied_example
from markdown_pages import DOCUMENTS, ROOT, has_snippets, install_lines, requirements, snippets
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECTS = {
    file.parent.name: tomllib.loads(file.read_text())["project"]
    for file in sorted((ROOT / "packages").glob("*/pyproject.toml"))
}
EXAMPLES = {
    file.parent.name: tomllib.loads(file.read_text())["project"]
    for file in sorted((ROOT / "examples").glob("*/pyproject.toml"))
}
OWN = PROJECTS.keys() | EXAMPLES.keys()
PAGES = [file for file in DOCUMENTS if has_snippets(file)]
FAST = [ROOT / "README.md", ROOT / "docs" / "quick-start.md"]
NEEDS_COMPILER = {"zarr-native"}


def each_page(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


# --- the extras of the core ---


def test_complete_has_every_distribution_with_every_extra():
    extras = PROJECTS["zarr-core"]["optional-dependencies"]
    found = {}
    for line in (*extras["recommended"], *extras["complete"]):
        requirement = Requirement(line)
        found.setdefault(requirement.name, set()).update(requirement.extras)
    for name, project in PROJECTS.items():
        if name in NEEDS_COMPILER:
            assert name not in found
            continue
        told = {
            extra
            for extra in project.get("optional-dependencies", {})
            if f"{name}[{extra}]" not in NEEDS_COMPILER
        }
        assert found[name] == (told if name != "zarr-core" else {"recommended"}), name
    assert extras["native"] == [f"zarr-native~={PROJECTS['zarr-native']['version']}"]


def test_the_extras_take_compatible_versions():
    project = PROJECTS["zarr-core"]
    for lines in project["optional-dependencies"].values():
        for line in map(Requirement, lines):
            if line.name != "zarr-core":
                assert str(line.specifier) == f"~={project['version']}", line


@pytest.mark.parametrize("name", PROJECTS)
def test_supported_python_versions_are_reported(name):
    told = {
        line.rpartition(" ")[2] for line in PROJECTS[name]["classifiers"] if "Python ::" in line
    }
    assert told == {"3.11", "3.12", "3.13", "3.14"}


# --- extras in the documentation ---

EXTRA = re.compile(r"\b(zarr-[a-z]+)\[([\w,-]+)\]")
TELLING = [
    *DOCUMENTS,
    *(
        file
        for folder in ("packages", "examples", "scripts", "benchmarks", "demo")
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in (".py", ".toml", ".txt", ".json") and file not in DOCUMENTS
    ),
]


def unknown_extras(text):
    return [
        f"{name}[{extra}]"
        for name, extras in EXTRA.findall(text)
        if name in PROJECTS
        for extra in extras.split(",")
        if extra not in PROJECTS[name].get("optional-dependencies", {})
    ]


def test_documented_extras_exist():
    wrong = {
        str(file.relative_to(ROOT)): found
        for file in TELLING
        if (found := unknown_extras(file.read_text()))
    }
    assert not wrong


def test_an_extra_that_does_not_exist_is_found():
    assert unknown_extras("`zarr-dtypes[ml]` or 'zarr-codecs[fast,slow]'") == ["zarr-codecs[slow]"]


# --- distributions that snippets use, according to their text ---


def distributions_of(lines):
    """Names of all distributions that requirements install, according to the installed metadata."""
    found, waiting = set(), [(Requirement(line), "") for line in map(as_requirement, lines)]
    seen = set()
    while waiting:
        requirement, _ = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                waiting += [
                    (line, extra)
                    for line in dependencies(name)
                    if line.marker is None or line.marker.evaluate({"extra": extra})
                ]
        found.add(name)
    return found


def as_requirement(word):
    """The name of the example at a path."""
    return re.sub(r"^(\./|examples/)", "", word)


def dependencies(name):
    project = PROJECTS.get(name) or EXAMPLES.get(name)
    if project is not None:
        lines = list(map(Requirement, project["dependencies"]))
        for extra, more in project.get("optional-dependencies", {}).items():
            lines += [marked(line, extra) for line in more]
        return lines
    try:
        return list(map(Requirement, requires(name) or ()))
    except PackageNotFoundError:
        return []


def marked(line, extra):
    return Requirement(f"{line} ; extra == '{extra}'")


PROVIDERS: dict[str, set[str]] = {}
"""Which distributions provide an extension of this name that the core does not have."""
SCHEMES: dict[str, set[str]] = {}
BUILT_IN = {name for points in PROJECTS["zarr-core"]["entry-points"].values() for name in points}
for distribution, project in PROJECTS.items():
    for group, points in project.get("entry-points", {}).items():
        kind = group.removeprefix("zarr_core.").partition(".")[0]
        if kind in ("codec", "data_type", "chunk_grid", "chunk_key_encoding"):
            for name in points.keys() - BUILT_IN:
                PROVIDERS.setdefault(name, set()).add(distribution)
        if kind == "store":
            for name in points:
                SCHEMES.setdefault(name, set()).add(distribution)


def used_by(page_text):
    """The distributions that the snippets of a page use: sets, one of each is required."""
    for _, code in snippets(page_text):
        if ">>>" in code:
            examples = doctest.DocTestParser().get_examples(code)
            # Snippets that show an error do not need the distribution.
            code = "".join(each.source for each in examples if each.exc_msg is None)
        for node in ast.walk(ast.parse(code)):
            match node:
                case ast.Import(names=names):
                    for each in names:
                        yield from providers_of(each.name)
                case ast.ImportFrom(module=str(module)):
                    yield from providers_of(module)
                case ast.Constant(value=str(text)):
                    if text in PROVIDERS:
                        yield text, PROVIDERS[text]
                    if "://" in text and text.partition(":")[0] in SCHEMES:
                        yield text, SCHEMES[text.partition(":")[0]]
                case ast.keyword(arg="shards", value=value) if not is_constant(value, (None,)):
                    yield "shards=", {"zarr-sharding"}
                case ast.Attribute(attr="chunk_map"):
                    yield "chunk_map", {"zarr-display"}
                case ast.keyword(arg="zarr_format", value=value) if is_constant(value, (1, 2)):
                    yield "zarr_format=", {"zarr-formats"}
                case ast.keyword(arg="engine", value=value) if is_constant(value, ("zarr_core",)):
                    yield "engine=", {"zarr-xarray"}
                case _:
                    pass


def is_constant(node, values):
    return isinstance(node, ast.Constant) and node.value in values


def providers_of(module):
    top = module.partition(".")[0]
    if top.replace("_", "-") in PROJECTS or top.replace("_", "-") in EXAMPLES:
        yield module, {top.replace("_", "-")}
    elif top not in sys.stdlib_module_names and top in installed_modules():
        yield module, {canonicalize_name(name) for name in installed_modules()[top]}


installed_modules = cache(packages_distributions)


def missing(page_text):
    there = distributions_of(requirements(page_text))
    return sorted({what for what, of in used_by(page_text) if not of & there})


@each_page(PAGES)
def test_install_lines_cover_what_snippets_name(page):
    assert missing(page.read_text()) == [], requirements(page.read_text())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pip install zarr-core", ["gzip", "h5py", "zarr_dask"]),
        ("pip install --find-links dist 'zarr-core[recommended]'", ["h5py", "zarr_dask"]),
        ("pip install zarr-codecs 'zarr-import[hdf5]'", ["zarr_dask"]),
        ("pip install 'zarr-core[complete]'", []),
    ],
)
def test_uncovered_line_is_found(line, expected):
    pytest.importorskip("h5py")
    python = "import h5py, zarr_dask\nzarr.create_array(shape=4, compressors='gzip')\n"
    page = f"# Page\n\n```\n{line}\n```\n\n```python\n{python}```\n"
    assert missing(page) == expected


@each_page(DOCUMENTS)
def test_install_lines_lead_to_how_to_install_from_a_checkout(page):
    """Unpublished distributions are built first; a page without that step links to it."""
    text = page.read_text()
    own = [
        words
        for words in install_lines(text)
        if any(re.split(r"[\[~=<>]", as_requirement(word))[0] in OWN for word in words)
    ]
    if own and page.name != "installing.md" and "decisions" not in page.parts:
        assert "installing.md" in text or all("--find-links" in words for words in own)


# --- snippets in an environment with exactly these distributions ---


def run_page(page, environment, tmp_path):
    wanted = []
    for word in requirements(page.read_text()):
        name, bracket, extra = as_requirement(word).partition("[")
        wanted.append(f"{copied_example(name, tmp_path)}{bracket}{extra}" if "/" in word else word)
    done = subprocess.run(
        [environment(*wanted), ROOT / "tests" / "markdown_pages.py", page],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=OUTSIDE,
    )
    assert done.returncode == 0, f"with {wanted}:\n{done.stdout}{done.stderr}"


def test_the_first_pages_run_as_a_newcomer_runs_them(dist, tmp_path):
    """Each page adds what it requires to the environment of the page before it."""
    installed = set()
    for page in FAST:
        required = set(requirements(page.read_text()))
        assert installed <= required, "more is installed than the page says"
        folder = tmp_path / page.stem
        folder.mkdir()
        run_page(page, partial(make_environment, tmp_path / "environment", dist), folder)
        installed = required


@pytest.mark.slow
@each_page([page for page in PAGES if page not in FAST])
def test_snippets_run_with_their_install_line_alone(page, environment, tmp_path):
    run_page(page, environment, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)  # pip installs a hundred distributions
def test_complete_is_installed_in_one_line(environment, tmp_path):
    python = environment("zarr-core[complete]")
    program = (
        "import zarr_core, importlib.metadata as m\n"
        "print(sorted(d.name for d in m.distributions() if d.version == zarr_core.__version__))\n"
        "for each in zarr_core.installed_extensions(): print(each)\n"
    )
    done = subprocess.run(
        [python, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=OUTSIDE,
    )
    for name in PROJECTS.keys() - NEEDS_COMPILER:
        assert f"'{name}'" in done.stdout
    broken = [
        line for line in done.stdout.splitlines() if "broken: " in line or "not installed" in line
    ]
    assert not broken


@pytest.mark.slow
def test_a_new_distribution_is_installed_as_its_readme_says(environment, dist, tmp_path):
    python = environment("zarr-conformance")
    run = {"check": True, "cwd": tmp_path, "env": OUTSIDE, "capture_output": True, "text": True}
    subprocess.run([python, "-m", "zarr_conformance", "new", "codec", "my.xor"], **run)
    readme = (tmp_path / "my-xor" / "README.md").read_text()
    assert 'pip install -e ".[test]"' in readme
    assert "--find-links" in readme
    fresh = make_environment(tmp_path / "fresh", dist, "-e", f"{tmp_path / 'my-xor'}[test]")
    done = subprocess.run([fresh, "-m", "pytest", "-q", "my-xor"], **{**run, "check": False})
    assert done.returncode == 0, done.stdout
