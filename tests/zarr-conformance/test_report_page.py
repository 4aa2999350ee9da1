"""The HTML report in a browser."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache

import pytest
from servers.browser import need_browser
from waits import PATIENCE
from zarr_conformance.corpus.build import all_cases
from zarr_conformance.report.html import html, page_data
from zarr_conformance.report.results import ImplementationResults, Result

pytestmark = pytest.mark.slow  # a browser

HOSTILE = '</script><script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'"><!--\u2028@DATA@'
FAILING = "v3-core/array/shape-true"
CLAUSE = "v3-core.array.shape"


@cache
def cases():
    return {case.id: case for case in all_cases()}


def judged(name, results=(), **members):
    every = {it: Result(it, "pass") for it in cases()} | {it.case: it for it in results}
    return replace(
        ImplementationResults(
            name, name, "1.0", (2, 3), ("open", "read"), (), 1.0, tuple(every.values())
        ),
        **members,
    )


@cache
def runs():
    return [
        judged("good"),
        judged(
            "bad",
            [
                Result(FAILING, "fail", f"accepted {HOSTILE}", observed={
                    "outcome": "result", "message": HOSTILE, "result": {HOSTILE: [HOSTILE]},
                    "stored": {HOSTILE: {"bytes": 100, "head": "00ff"}}, "documents": {HOSTILE: None},
                }),
                Result("v3-core/array/json-deep", "crash", "the process died"),
                Result("v3-core/array/shape-text", "fail", "known one", known="an old friend"),
                *[Result(it, "unsupported", "no groups") for it in cases() if it.startswith("v3-core/group/")],
            ],
            version=HOSTILE,
        ),
        judged("other", command=("node", "a b.mjs")),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(html(runs(), list(cases().values())), "utf-8")
    return file


def test_page_is_self_contained(page):
    text = page.read_text()
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text)
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text


def test_untrusted_text_is_not_markup(page):
    text = page.read_text()
    assert 'document.title="owned"' not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert "&lt;/script&gt;" in text  # in the summary, which takes no program


def test_page_is_small(page):
    assert page.stat().st_size < 1_000_000


def test_page_is_deterministic(page):
    assert html(runs(), list(cases().values())) == page.read_text()


def test_data_is_strict_json():
    data = page_data(runs(), list(cases().values()))
    json.dumps(data, allow_nan=False)
    assert {it["id"] for it in data["cases"]} == cases().keys()


PIPES = "import os, sys; os.dup2({0}, 3); os.dup2({1}, 4); os.execv(sys.argv[1], sys.argv[1:])"


class Browser:
    """A page, driven over two pipes."""

    def __init__(self, folder):
        (theirs_in, self._out), (self._in, theirs_out) = os.pipe(), os.pipe()
        # The pipes have other numbers here than 3 and 4; duplicates cannot collide with those.
        high = [os.dup2(fd, 200 + n) for n, fd in enumerate((theirs_in, theirs_out))]
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
        flags += ["--disable-background-networking", "--disable-component-update"]
        flags += ["--remote-debugging-pipe", f"--user-data-dir={folder}", "--window-size=1200,900"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", PIPES.format(*high), need_browser(), *flags],
            pass_fds=high,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (theirs_in, theirs_out, *high):
            os.close(fd)
        self._rest, self._number, self._session = b"", 0, None
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        attached = self.tell("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]

    def tell(self, method, **members):
        self._number += 1
        said = {"id": self._number, "method": method, "params": members}
        if self._session:
            said["sessionId"] = self._session
        os.write(self._out, json.dumps(said).encode() + b"\0")
        while True:
            line, _, rest = self._rest.partition(b"\0")
            if b"\0" not in self._rest:
                got = os.read(self._in, 1 << 20)
                assert got, "the browser is gone"
                self._rest += got
                continue
            self._rest = rest
            answer = json.loads(line)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def run(self, program):
        got = self.tell(
            "Runtime.evaluate", expression=program, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def show(self, address):
        self.tell("Page.navigate", url="about:blank")
        self.tell("Page.navigate", url=address)
        ready = "document.documentElement?.dataset.ready || document.getElementById('trouble')?.textContent"
        end = time.monotonic() + PATIENCE
        while not (told := self.run(ready)):
            assert time.monotonic() < end, "the page does not get ready"
            time.sleep(0.02)
        assert told == "yes"

    def press(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            code = {"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowDown": 40}.get(key, 0)
            self.tell("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))  # fmt: skip

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({selector!r})].map(it => it.textContent)")

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    started = Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


SHOWN = ".clause:not([hidden])"


def test_matrix_of_clauses_and_implementations(browser, page):
    browser.show(page.as_uri())
    clauses = sum(
        len(it["clauses"]) for it in page_data([], list(cases().values()))["specifications"]
    )
    assert browser.run("document.querySelectorAll('.clause').length") == clauses
    assert browser.run("document.querySelectorAll('.clause .cell').length") == 3 * clauses
    assert [it.split()[0] for it in browser.texts(".card h2")] == ["good", "bad", "other"]
    row = browser.texts(f"[data-clause='{CLAUSE}'] .cell")
    assert row[0].startswith("✓ ")
    assert row[1].startswith("✗ 2/")
    assert browser.texts("#count") == [f"{clauses} of {clauses} clauses"]
    assert browser.run("document.querySelectorAll('.cell.unsupported').length") > 0


def test_untrusted_scripts_do_not_run(browser, page):
    browser.show(f"{page.as_uri()}#clause={CLAUSE}&implementation=bad")
    assert browser.run("document.title") == "Zarr conformance"
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert "</script><script>" in " ".join(browser.texts("dialog .reason"))
    assert "onerror=" in " ".join(browser.texts("dialog pre"))
    assert "\\u2028" in " ".join(browser.texts("dialog .reason"))


def test_filters(browser, page):
    browser.show(f"{page.as_uri()}#which=failing")
    failing = browser.texts(f"{SHOWN} .cell.fail, {SHOWN} .cell.crash")
    assert 0 < len(browser.texts(SHOWN)) <= len(failing)
    browser.run("document.querySelector('#columns input[value=bad]').click()")
    assert browser.texts(SHOWN) == []
    assert not browser.run("document.getElementById('nothing').hidden")
    browser.run("document.getElementById('reset').click()")
    everything = len(browser.texts(SHOWN))
    browser.run("document.querySelector('#levels input[value=must]').click()")
    assert 0 < len(browser.texts(SHOWN)) < everything
    assert browser.run("location.hash") == "#levels=should+may"
    assert set(browser.texts(f"{SHOWN} .level")) <= {"should", "should not", "may"}
    browser.show(f"{page.as_uri()}#specification=v3-core&search=dimension+NAMES")
    found = browser.texts(f"{SHOWN} .id")
    assert "v3-core.array.dimension-names" in " ".join(found)
    assert all(it.startswith("v3-core.") for it in found)


def test_cells_open_their_cases(browser, page):
    browser.show(page.as_uri())
    browser.run(f'document.querySelector(\'[data-clause="{CLAUSE}"] [data-run="1"]\').click()')
    assert browser.run("document.getElementById('drawer').open")
    first = browser.texts(".case .id")[0]
    assert first == FAILING
    body = browser.texts(".case[open] .body")[0]
    for part in ("It must raise an error.", "Success.", '"shape": [true]', "100 bytes: 00ff …",
                 f"zarr-conformance run --impl bad --only {FAILING} --verbose"):  # fmt: skip
        assert part in body
    browser.run("document.querySelector('.case[open] .who button:last-child').click()")
    browser.run(f"document.querySelector('.case[data-case=\"{FAILING}\"]').open = true")
    told = "--command 'node '\"'\"'a b.mjs'\"'\"'' --only"
    shown = browser.run("new Promise(done => setTimeout(() => done(document.querySelector('.case[open] .again pre').textContent), 50))")  # fmt: skip
    assert told in shown
    assert "As expected." in browser.texts(".case[open] .body")[0]


def test_keyboard(browser, page):
    browser.show(page.as_uri())
    browser.press("/", "/")
    assert browser.run("document.activeElement.id") == "search"
    browser.press("Escape")
    browser.run("document.activeElement.blur()")
    browser.press("n", "n")
    first = browser.run("document.activeElement.closest('tr').dataset.clause")
    assert browser.run("document.activeElement.className") in ("cell fail", "cell crash")
    browser.press("n", "n")
    assert browser.run("document.activeElement.closest('tr').dataset.clause") != first
    browser.press("p", "p")
    assert browser.run("document.activeElement.closest('tr').dataset.clause") == first
    assert browser.run("document.activeElement.dataset.run") == "1"
    browser.press("ArrowRight")
    assert browser.run("document.activeElement.dataset.run") == "2"
    browser.press("ArrowRight")
    assert browser.run("document.activeElement.dataset.run") == "2"
    browser.press("Enter", "\r")
    assert browser.run("document.getElementById('drawer').open")
    assert browser.run("new URLSearchParams(location.hash.slice(1)).get('clause')") == first
    browser.press("Escape")
    assert not browser.run("document.getElementById('drawer').open")
    assert browser.run("document.activeElement.dataset.run") == "2"


def test_light_and_dark_theme(browser, page):
    browser.show(page.as_uri())
    ground = "getComputedStyle(document.body).backgroundColor"
    before = browser.run(ground)
    browser.run("document.getElementById('theme').click()")
    assert browser.run(ground) != before


@pytest.mark.parametrize("width", [360, 700, 1600])
def test_page_fits_its_width(width, browser, page):
    browser.tell("Emulation.setDeviceMetricsOverride", width=width, height=800,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip
    browser.show(page.as_uri())
    too_wide = browser.run(
        "[...document.querySelectorAll('body *')]"
        ".filter(it => it.getBoundingClientRect().right > innerWidth + 1)"
        ".map(it => `${it.tagName}#${it.id}.${it.className}`).slice(0, 9).join(' ')"
    )
    assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0, too_wide
    browser.tell("Emulation.clearDeviceMetricsOverride")
