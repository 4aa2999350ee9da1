"""The HTML output in a browser."""

import json
import re
import subprocess
from html import unescape

import numpy as np
import pytest
import zarr_core as zarr
from servers.browser import need_browser

pytestmark = pytest.mark.slow

# What pages of notebooks do to tables; each output must withstand it.
SHEET = """
section { padding: 8px; font: 13px sans-serif }
.light { background: #fff; color: rgba(0,0,0,.87) } .dark { background: #111; color: #e0e0e0 }
table { margin-left: auto; margin-right: auto; border-collapse: collapse; font-size: 12px }
td, th, tr { text-align: right; vertical-align: middle; padding: .5em; max-width: none }
th { font-weight: bold } tbody tr:nth-child(odd) { background: #7d7d7d } pre { margin: 1em }
"""

# Collects facts of each section; numbers are pixels.
SCRIPT = """
const linear = c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
const light = c => .2126 * linear(c[0]) + .7152 * linear(c[1]) + .0722 * linear(c[2]);
const parse = s => { const n = s.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n };
const over = (top, share, below) => [0, 1, 2].map(i => top[i] * share + below[i] * (1 - share));
function contrast(element, section) {
  const style = getComputedStyle(element), page = parse(getComputedStyle(section).backgroundColor);
  const own = parse(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
  let share = own[3];
  for (let e = element; e !== section; e = e.parentElement) share *= getComputedStyle(e).opacity;
  const [a, b] = [light(over(own, share, page)), light(page)].sort((x, y) => y - x);
  return (a + .05) / (b + .05);
}
const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom] };
const within = (a, b) => a[0] >= b[0] - 1 && a[1] >= b[1] - 1 && a[2] <= b[2] + 1 && a[3] <= b[3] + 1;
const meet = (a, b) => a[0] < b[2] - 1 && b[0] < a[2] - 1 && a[1] < b[3] - 1 && b[1] < a[3] - 1;
const facts = [...document.querySelectorAll("section")].map(section => {
  const all = [...section.querySelectorAll("*")];
  const said = all.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())
    && e.tagName !== "title" && e.getClientRects().length);
  const outside = [], touching = [];
  for (const svg of section.querySelectorAll("svg")) {
    const shown = [...svg.querySelectorAll("text, path, rect")];
    outside.push(...shown.filter(e => !within(box(e), box(svg))).map(e => e.outerHTML));
    const texts = shown.filter(e => e.tagName === "text");
    texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
      if (meet(box(a), box(b))) touching.push(a.textContent + " | " + b.textContent) }));
  }
  return {
    name: section.className, outside, touching,
    contrast: Math.min(...said.map(e => contrast(e, section))),
    texts: said.length,
    wide: all.filter(e => !e.closest('table') && box(e)[2] > box(section)[2] + 1).map(e => e.outerHTML.slice(0, 200)),
    aligned: [...section.querySelectorAll("th, td")].map(e => getComputedStyle(e).textAlign),
    stripes: [...section.querySelectorAll("tr")].map(e => getComputedStyle(e).backgroundColor),
    text: section.innerText,
    paths: [...section.querySelectorAll(".measured path")].map(e => [e.getAttribute("fill-opacity"), box(e)]),
  };
});
document.body.innerHTML = "";
document.body.append(Object.assign(document.createElement("pre"), {textContent: JSON.stringify(facts)}));
"""


def browse(page, *options):
    command = [need_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--force-device-scale-factor=1", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def hierarchy():
    root = zarr.create_group(attributes={"title": "A year", "history": "changed " * 60})
    root.create_array(
        "air/a_rather_long_name_of_a_variable", shape=(365, 180, 360), chunks=(30, 45, 60),
        shards=(120, 90, 180), dtype="float32", dimension_names=["time", "latitude", "longitude"],
    )  # fmt: skip
    root.create_array("flat", shape=(180, 240), chunks=(45, 30), dtype="int8")
    for number, shape in enumerate([(), (7,), (0, 4), (10**6, 3), (3, 10**6), (2, 3, 4, 5, 6, 7)]):
        root.create_array(f"shapes/a{number}", shape=shape, dtype="int8")
    flat = root["flat"]
    noise = np.random.default_rng(1).integers(-128, 127, (45, 30), np.int8)
    flat[:45, 60:90] = noise
    flat[90:] = 1
    return root


@pytest.fixture(scope="module")
def outputs(hierarchy):
    arrays = [array for _, array in hierarchy.arrays(None)]
    shown = [*arrays, hierarchy, hierarchy.attrs, hierarchy.tree(), arrays[0].info]
    html = [it._repr_html_() for it in shown]
    return "<hr>".join(html) + f'<div class="measured">{hierarchy["flat"]._repr_html_()}</div>'


@pytest.fixture(scope="module")
def facts(outputs, tmp_path_factory):
    stripped = re.sub(r' style="[^"]*"', "", outputs)
    page = tmp_path_factory.mktemp("page") / "all.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><style>{SHEET}</style>"
        f'<section class="light">{outputs}</section><section class="dark">{outputs}</section>'
        f'<section class="light narrow" style="width:340px">{outputs}</section>'
        f'<section class="light stripped">{stripped}</section><script>{SCRIPT}</script>'
    )
    dumped = browse(page, "--window-size=1000,800", "--dump-dom")
    return {it["name"]: it for it in json.loads(unescape(re.search(r"<pre>(.*)</pre>", dumped)[1]))}


PAGES = ["light", "dark", "light narrow", "light stripped"]


@pytest.mark.parametrize("page", PAGES)
def test_layout(facts, page):
    found = facts[page]
    assert found["texts"] > 200
    assert not found["outside"]
    assert not found["touching"]
    assert not found["wide"]


@pytest.mark.parametrize("page", PAGES)
def test_contrast(facts, page):
    assert facts[page]["contrast"] >= 4.5
    text = " ".join(facts[page]["text"].split())
    assert "Shape time: 365 x latitude: 180 x longitude: 360 120 x 90 x 180 30 x 45 x 60" in text


@pytest.mark.parametrize("page", PAGES[:3])
def test_page_styles_do_not_affect_tables(facts, page):
    assert {*facts[page]["aligned"]} <= {"left", "start"}
    assert {*facts[page]["stripes"]} == {"rgba(0, 0, 0, 0)"}


@pytest.mark.parametrize("page", PAGES)
def test_first_chunk_has_the_size_of_a_chunk(facts, page):
    (front,) = [box for opacity, box in facts[page]["paths"] if opacity == "0.03"]
    (chunk,) = [box for opacity, box in facts[page]["paths"] if opacity == "0.65"]
    assert chunk[:2] == front[:2]
    assert (chunk[2] - chunk[0]) / (front[2] - front[0]) == pytest.approx(30 / 240, abs=0.003)
    assert (chunk[3] - chunk[1]) / (front[3] - front[1]) == pytest.approx(45 / 180, abs=0.003)
