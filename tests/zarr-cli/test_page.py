"""The page in a real browser."""

from contextlib import closing

import numpy as np
import pytest
import zarr_core as zarr
from servers.browser import need_browser
from waits import PATIENCE
from zarr_cli.serve.server import StoreServer

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

pytestmark = pytest.mark.slow

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    found = need_browser()
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


VALUES = np.linspace(-3, 3, 24 * 32, dtype="float32").reshape(24, 32)


@pytest.fixture
def store():
    store = zarr.MemoryStore()
    root = zarr.create_group(store, attributes={"title": "<img src=x onerror=alert(1)>"})
    image = VALUES.copy()
    image[5, 7] = np.nan
    root.create_array(
        "deep/er/image", data=image, chunks=(4, 8), shards=(8, 16), compressors="gzip",
        fill_value=np.nan, dimension_names=("y", "x"), attributes={"units": "m"},
    )  # fmt: skip
    zeros = np.zeros((6, 40, 50), "int16")
    zeros[2, :10, 10:20] = 7
    root.create_array("cube", data=zeros, chunks=(1, 10, 10), compressors="numcodecs.lz4")
    root.create_array("line", data=np.arange(30) ** 2, chunks=7, compressors=None)
    root.create_array("words", data=np.array(["<b>", "two"]), chunks=2)
    root.create_array("<i>%23?#", shape=2, dtype="int8")
    root.create_array("wrong", shape=4, dtype="int8")
    document = bytes(store.get("wrong/zarr.json"))
    store.set("wrong/zarr.json", document.replace(b'"int8"', b'"int9"'))
    return store


@pytest.fixture
def server(store):
    with StoreServer(store) as server:
        yield server


@pytest.fixture
def page(browser, server):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(1000 * PATIENCE)
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("dialog", lambda dialog: failures.append(dialog.message))
    yield page
    page.close()
    assert not failures


def go(page, server, route=""):
    page.goto(f"{server.url}#/{route}")
    page.wait_for_selector("main[aria-busy=false] > *")
    if "view=values" in route:
        page.wait_for_selector(".values[aria-busy=false] .stage > *")


def pixel(page, selector, x, y):
    """Return the colour of a canvas at a position, given as fractions of width and height."""
    return page.eval_on_selector(
        selector,
        """(canvas, [x, y]) => [...canvas.getContext("2d").getImageData(
            Math.floor(x * canvas.width), Math.floor(y * canvas.height), 1, 1).data]""",
        [x, y],
    )


def test_tree_with_pointer_and_keyboard(page, server):
    go(page, server)
    items = page.get_by_role("treeitem")
    assert items.count() == 7  # the root with its members
    page.locator(".node", has_text="deep").locator(".twist").click()
    page.locator(".node", has_text="er").last.wait_for()
    page.locator(".node", has_text="cube").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_selector(".node:has-text('image')")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".node:focus:has-text('image')")
    page.keyboard.press("Enter")
    page.wait_for_selector("h2:has-text('image')")
    assert page.locator("[aria-selected=true] > .node").inner_text().startswith("image")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".node:has-text('image')").is_hidden()


def test_link_to_a_node_unfolds_its_parents(page, server):
    go(page, server, "deep/er/image")
    page.wait_for_selector("[aria-selected=true] > .node:has-text('image')")
    text = page.inner_text("main")
    for shown in ("float32", "24 x 32", "y, x", "units", "sharding_indexed", "gzip", "level 5"):
        assert shown in text
    page.get_by_role("tab", name="Documents").click()
    page.wait_for_selector("pre:has-text('node_type')")
    assert '"dimension_names"' in page.inner_text("pre")
    page.keyboard.press("ArrowLeft")  # from the documents tab to the chunks tab
    page.wait_for_selector(".map")


def test_image_has_the_colours_of_its_values(page, server):
    go(page, server, "deep/er/image?view=values")
    scale = [pixel(page, "canvas.scale", at, 0.5) for at in (0, 0.999)]
    assert pixel(page, "canvas.picture", 0.01, 0.01) == scale[0]
    assert pixel(page, "canvas.picture", 0.99, 0.99) == scale[1]
    assert pixel(page, "canvas.picture", 7.5 / 32, 5.5 / 24)[3] == 0  # NaN is a gap
    assert scale[0] != scale[1]
    box = page.locator("canvas.picture").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 4.5 / 32, box["y"] + box["height"] * 2.5 / 24)
    readout = page.inner_text(".readout")
    assert readout.split()[0] == f"{VALUES[2, 4]:.7g}"
    assert "y 2, x 4" in readout
    page.focus("canvas.picture")
    page.keyboard.press("ArrowRight")
    assert "y 2, x 5" in page.inner_text(".readout")
    page.select_option("text=Colour map >> .. >> select", "gray")
    red, green, blue, _ = pixel(page, "canvas.picture", 0.99, 0.99)
    assert red == green == blue > 200
    page.get_by_label("First row below").check()
    assert pixel(page, "canvas.picture", 0.99, 0.01) == [red, green, blue, 255]
    page.get_by_label("Down", exact=True).select_option(label="x (32)")
    page.wait_for_selector(".axis.down:has-text('x: 0 to 31')")
    assert page.eval_on_selector("canvas.picture", "(it) => [it.width, it.height]") == [24, 32]
    page.get_by_label("First row below").uncheck()
    assert pixel(page, "canvas.picture", 5.5 / 24, 7.5 / 32)[3] == 0


def test_buttons_and_keyboard_move_the_window(page, server):
    go(page, server, "cube?view=values")
    page.wait_for_selector(".stage canvas")
    page.get_by_label("index of dimension 0").fill("1")
    page.keyboard.press("Enter")
    page.wait_for_selector(".legend > span:last-child:text-is('0')")
    page.get_by_label("dimension 0", exact=True).press("ArrowRight")
    page.wait_for_selector(".legend > span:last-child:text-is('7')")
    assert pixel(page, "canvas.picture", 15.5 / 50, 5.5 / 40) == pixel(
        page, "canvas.scale", 0.999, 0
    )
    page.get_by_role("button", name="Zoom in").press("Enter")
    page.wait_for_selector(".part:has-text('dimension 1: 8 to 32, dimension 2: 13 to 37')")
    assert page.evaluate("document.activeElement.title") == "Zoom in"
    page.wait_for_selector(".values[aria-busy=false]")
    page.get_by_role("button", name="Move down").press("Enter")
    page.wait_for_selector(".part:has-text('dimension 1: 15 to 39, dimension 2: 13 to 37')")
    page.focus("canvas.picture")
    page.keyboard.press("-")
    page.wait_for_selector(".part:has-text('dimension 1: 0 to 39, dimension 2: 0 to 49')")


DTYPES = ("bool", "int8", "uint16", ">i2", "float16", "float32", "int64", "uint64", "complex128")
READ = """async (names) => {
    const { requestJson } = await import("/__zarr_core__/requests.js");
    const { WindowSource } = await import("/__zarr_core__/window.js");
    const found = {};
    for (const name of names) {
        const source = new WindowSource(await requestJson("node", { path: name }));
        const selection = [[1, 3, 2], [0, 7, 1], [2, 2, 4]].map(([start, count, step]) => ({ start, count, step }));
        const read = await source.read(selection, new AbortController().signal);
        found[name] = Array.from(read.data, String);
    }
    return found;
}"""


def test_the_page_has_the_elements_of_every_numeric_type(browser):
    store, expected = zarr.MemoryStore(), {}
    for dtype in DTYPES:
        values = np.random.default_rng(3).integers(0, 100, (6, 8, 9)).astype(dtype)
        array = zarr.create_array(store, path=dtype, data=values, chunks=(3, 4, 2), zarr_format=2)
        expected[dtype] = np.asarray(array[1:6:2, 0:7, 2:7:4])
    with StoreServer(store) as server, closing(browser.new_page()) as page:
        go(page, server)
        found = page.evaluate(READ, list(expected))
    assert found.keys() == expected.keys() != set()
    for name, texts in found.items():
        wanted = expected[name].reshape(-1)
        if wanted.dtype.kind == "c":
            wanted = wanted.view("f8")
        assert np.array_equal([float(text) for text in texts], wanted.astype("f8")), name


def test_damaged_chunk(page, server, store):
    array = zarr.create_array(
        store, path="hurt", data=np.ones((4, 4)), chunks=2, compressors="crc32c"
    )
    value = bytearray(store.get("hurt/c/1/1"))
    value[3] ^= 1
    store.set("hurt/c/1/1", bytes(value))
    go(page, server, "hurt?view=values")
    assert "'hurt/c/1/1': damaged chunk" in page.inner_text(".stage .error")
    array[...] = 1
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("canvas.picture")


def test_chunk_map(page, server):
    go(page, server, "cube?view=chunks")
    page.wait_for_selector(".summary")
    assert page.inner_text(".summary").startswith("1 of 120 chunks are stored")
    page.wait_for_selector("canvas.map[style]")  # drawn with the next frame
    stored, missing = (pixel(page, "canvas.map", (at + 0.4) / 5, 0.4 / 4) for at in (1, 2))
    assert stored != missing
    assert missing == pixel(page, "canvas.map", 0.9, 0.9)
    box = page.locator("canvas.map").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 5)
    assert "1 of 6 chunks stored" in page.inner_text(".readout")
    page.focus("canvas.map")
    page.keyboard.press("ArrowRight")
    assert "not stored" in page.inner_text(".readout")
    page.get_by_label("Down", exact=True).select_option("0")
    page.wait_for_selector(".axis.down:has-text('dimension 0')")
    page.get_by_label("Colour shows").select_option("ratio")
    page.wait_for_selector(".legend:has-text('times')")
    go(page, server, "deep/er/image?view=chunks")
    page.wait_for_selector(".summary:has-text('24 of 24 chunks')")
    page.get_by_label("Cells are").select_option("shard")
    page.wait_for_selector(".summary:has-text('6 of 6 shards')")


def test_lines_texts_and_scalars(page, server, store):
    zarr.create_array(store, path="one", data=np.array(2.5))
    go(page, server, "line?view=values")
    assert page.locator("svg.line circle").count() == 31
    box = page.locator("svg.line").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 20)
    assert page.inner_text(".readout").split() == ["841", "at", "dimension", "0", "29"]
    assert page.inner_text(".axis.along").startswith("dimension 0: 0 to 29")
    page.click("summary:has-text('Numbers')")
    assert page.locator(".elements tbody tr").nth(5).inner_text().split() == ["5", "25"]
    go(page, server, "words?view=values")
    page.wait_for_selector("td:has-text('<b>')")
    go(page, server, "one?view=values")
    page.wait_for_selector(".single:has-text('2.5')")


def test_stored_text_is_never_markup(page, server):
    go(page, server)
    page.wait_for_selector("td:has-text('<img src=x')")
    page.locator("nav .node", has_text="<i>%23?#").click()
    page.wait_for_selector("h2:has-text('<i>%23?#')")
    assert page.locator("main img, nav i").count() == 0


def test_problems_have_pointers(page, server):
    go(page, server, "wrong")
    assert "int9" in page.inner_text(".problems")
    assert page.inner_text(".pointer") == "/data_type"
    page.get_by_role("tab", name="Documents").click()
    page.wait_for_selector("mark:has-text('data_type')")
    go(page, server, "not/there")
    assert "no node at '/not/there'" in page.inner_text("main .error")
    page.get_by_role("link", name="root of the store").click()
    page.wait_for_selector("h2:has-text('group')")


def test_server_that_stopped(page, server):
    go(page, server)
    server.close()
    page.locator(".node", has_text="cube").click()
    page.wait_for_selector("main .error:has-text('does not answer')")
    assert page.locator(".node", has_text="cube").is_visible()


def test_light_dark_and_narrow(page, server):
    def ground():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.emulate_media(color_scheme="light")
    go(page, server, "deep/er/image?view=values")
    light = ground()
    page.emulate_media(color_scheme="dark")
    dark = ground()
    assert light != dark
    page.set_viewport_size({"width": 400, "height": 700})
    for route in ("", "deep/er/image", "deep/er/image?view=values", "cube?view=chunks", "wrong"):
        go(page, server, route)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.querySelector('main').scrollWidth") <= 400, route
    assert page.locator("nav#sidebar").is_hidden()
    page.get_by_role("button", name="Tree").click()
    assert page.locator("nav#sidebar").is_visible()


def test_every_control_has_a_name(page, server):
    nameless = """() => [...document.querySelectorAll("button, select, input, canvas, svg[tabindex], [role=tab], [role=treeitem]")]
        .filter((it) => !it.labels?.length && !it.getAttribute("aria-label") && !it.textContent.trim()
            && !it.closest("[aria-hidden=true]"))
        .map((it) => it.outerHTML)"""
    for route in ("", "cube?view=values", "cube?view=chunks", "line?view=values"):
        go(page, server, route)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(nameless) == [], route


def test_part_of_a_hierarchy(browser, store):
    for path, name in (("deep", "er/image"), ("deep/er/image", "")):
        with StoreServer(store, path) as server, closing(browser.new_page()) as page:
            go(page, server, f"{name}?view=values")
            page.wait_for_selector("canvas.picture")
            go(page, server, f"{name}?view=documents")
            page.wait_for_selector("pre:has-text('node_type')")


def test_folder_of_hierarchies(browser, tmp_path):
    for name in ("one.zarr", "two.zarr"):
        zarr.create_array(str(tmp_path / "data" / name), data=np.arange(4))
    with (
        StoreServer(zarr.LocalStore(tmp_path, read_only=True)) as server,
        closing(browser.new_page()) as page,
    ):
        go(page, server)
        assert "folder" in page.inner_text("h2")
        page.locator(".node", has_text="data").locator(".twist").click()
        page.locator(".node", has_text="two.zarr").click()
        page.wait_for_selector("h2:has-text('int64')")


# --- the layout at several widths ---


@pytest.fixture(scope="module")
def wide_numbers():
    """Return a store whose numbers, names and units are long."""
    store = zarr.MemoryStore()
    root = zarr.create_group(store)
    y, x = np.mgrid[0:60, 0:90]
    root.create_array(
        "height", data=(y * 1.000001e-7 - x * 123456.789).astype("float64"), chunks=(7, 11),
        dimension_names=("northward_distance_from_the_origin", "x"), compressors="gzip",
        attributes={"units": "kilogram meter per second squared"},
    )  # fmt: skip
    root.create_array("large", data=(y * x).astype("int64") * 10**15 - 9 * 10**18, chunks=(30, 45))
    root.create_array(
        "x", data=np.linspace(-123.456789, 456.123456, 90), dimension_names=("x",),
        attributes={"units": "degrees_east"},
    )  # fmt: skip
    root.create_array(
        "empty", shape=(500, 700), chunks=(100, 100), dtype="float32", fill_value=-9999
    )
    with StoreServer(store) as server:
        yield server


OVERFLOWS = """() => {
    const outer = document.querySelector("main").getBoundingClientRect();
    const found = [];
    for (const it of document.querySelectorAll("main *")) {
        const box = it.getBoundingClientRect();
        if (!box.width || it.closest(".scroll, pre")) continue;
        const parent = it.parentElement.getBoundingClientRect();
        if (box.right > outer.right + 1 || box.left < outer.left - 1) found.push(it.outerHTML.slice(0, 120));
        if (it.closest(".legend, .row") && box.right > parent.right + 1) found.push(it.outerHTML.slice(0, 120));
    }
    return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1000, 400])
def test_nothing_overflows(browser, wide_numbers, width, theme):
    with closing(browser.new_page(viewport={"width": width, "height": 800})) as page:
        page.emulate_media(color_scheme=theme)
        for route in (
            "", "height", "height?view=values", "height?view=chunks", "large?view=values",
            "large?view=chunks", "x?view=values", "empty?view=values", "empty?view=chunks",
        ):  # fmt: skip
            go(page, wide_numbers, route)
            page.wait_for_load_state("networkidle")
            assert page.evaluate(OVERFLOWS) == [], route
            assert page.evaluate("document.documentElement.scrollWidth") <= width, route


def test_axes_have_units_and_coordinates(browser, wide_numbers):
    with closing(browser.new_page(viewport={"width": 1280, "height": 800})) as page:
        go(page, wide_numbers, "height?view=values")
        assert page.inner_text(".axis.across") == "x (degrees_east): -123.4568 to 456.1235 →"
        assert page.text_content(".axis.down").startswith(
            "northward_distance_from_the_origin: 0 to"
        )
        assert "kilogram meter" in page.inner_text(".legend")
        box = page.locator("canvas.picture").bounding_box()
        page.mouse.move(box["x"] + 2, box["y"] + 2)
        assert "x 0 (-123.4568 degrees_east)" in page.inner_text(".readout")


def test_nothing_stored_yet(browser, wide_numbers):
    with closing(browser.new_page()) as page:
        go(page, wide_numbers, "empty?view=values")
        page.wait_for_selector(".nothing:has-text('Nothing stored yet')")
        assert "-9999" in page.inner_text(".nothing")
        assert page.locator("canvas.picture").count() == 0
        go(page, wide_numbers, "empty?view=chunks")
        page.wait_for_selector(".nothing:has-text('Nothing stored yet')")
        assert page.locator("canvas.map").count() == 0


def test_common_names_and_codecs_once(browser, wide_numbers):
    with closing(browser.new_page(viewport={"width": 1280, "height": 800})) as page:
        go(page, wide_numbers, "large")
        assert page.inner_text("main").count("zstd") == 1
        go(page, wide_numbers, "large?view=values")
        options = page.locator(".drawn option").all_text_contents()
        assert {"viridis", "inferno", "minimum-maximum"} <= {*options}
        assert pixel(page, "canvas.scale", 0, 0) == [0x44, 0x01, 0x54, 255]
        assert pixel(page, "canvas.scale", 0.999, 0) == [0xFD, 0xE7, 0x25, 255]


def test_themes_and_widths_do_not_change_the_picture(browser, wide_numbers):
    shots = set()
    for theme, width in (("light", 1280), ("dark", 1000), ("dark", 400)):
        with closing(browser.new_page(viewport={"width": width, "height": 800})) as page:
            page.emulate_media(color_scheme=theme)
            go(page, wide_numbers, "height?view=values")
            shots.add(page.eval_on_selector("canvas.picture", "(it) => it.toDataURL()"))
            box = page.locator("canvas.picture").bounding_box()
            assert box["width"] > 200
            assert box["height"] > 100
    assert len(shots) == 1
