// The values view of an array: an image, a line or a table.

import { Coordinates, isNothingStored } from "./coordinates.js";
import { element, errorBox } from "./dom.js";
import { LineView } from "./line.js";
import { PictureView } from "./picture.js";
import { View } from "./selection.js";
import { viewControls } from "./view_controls.js";
import { textTable } from "./tables.js";
import { elementText } from "./text.js";
import { WindowSource } from "./window.js";

/** Show the elements of an array. */
export function valuesView(node) {
  const panel = element("section", { class: "values", "aria-label": "Values" });
  if (!node.readable) {
    panel.append(element("p", {}, "The array cannot be read; see its problems in the overview."));
    return panel;
  }
  if (node.shape.includes(0)) {
    panel.append(element("p", {}, "The array has no elements."));
    return panel;
  }
  const source = new WindowSource(node);
  const coordinates = new Coordinates(node).load();
  let isEmpty = null; // whether nothing is stored, once it is known
  const view = new View(source);
  const stage = element("div", { class: "stage" });
  let shownView = null;
  let going = null;
  let waiting = null;

  const show = async () => {
    going?.abort();
    going = new AbortController();
    const { signal } = going;
    clearTimeout(waiting);
    waiting = setTimeout(() => panel.setAttribute("aria-busy", "true"), 150);
    try {
      const read = await source.read(view.selection(), signal);
      if (signal.aborted) return;
      if (isEmpty === null || isEmpty) isEmpty = isOneValue(read) && (await isNothingStored(node));
      const axes = await coordinates;
      if (signal.aborted) return;
      shownView = isEmpty ? nothingStored(node) : showWindow(node, view, read, shownView, controls.again, axes);
      if (stage.firstChild !== shownView.shown) stage.replaceChildren(shownView.shown);
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      shownView = null;
      stage.replaceChildren(errorBox(error, show));
    } finally {
      if (!signal.aborted) {
        clearTimeout(waiting);
        panel.setAttribute("aria-busy", "false");
      }
    }
  };
  const controls = viewControls(node, view, show);
  panel.append(controls.shown, stage);
  show();
  return panel;
}

/** Whether all elements of a window are equal. */
function isOneValue({ data, texts }) {
  const all = texts?.flat(Infinity) ?? data;
  return all.every((value) => Object.is(value, all[0]));
}

function nothingStored(node) {
  const fill = node.info["Fill value"] ?? JSON.stringify(node.metadata.fill_value);
  const text = `Nothing stored yet: every element is the fill value ${fill}.`;
  return { shown: element("p", { class: "note nothing" }, text) };
}

/** Show a window in the existing view, if possible, to keep its options. */
function showWindow(node, view, read, before, again, coordinates) {
  if (!view.shape.length)
    return { shown: element("p", { class: "single" }, read.texts?.[0] ?? elementText(read, 0)) };
  if (read.texts) return { shown: textTable(node, view, read.texts) };
  const Kind = view.down === null ? LineView : PictureView;
  const shownView = before instanceof Kind ? before : new Kind(node, view, again, coordinates);
  shownView.update(read);
  return shownView;
}
