// The views of a node, one of which is visible.

import { chunksView } from "./chunks.js";
import { documentsView } from "./documents.js";
import { element, errorBox, freshId } from "./dom.js";
import { overview } from "./overview.js";
import { hrefOf } from "./route.js";
import { nameOf, shape as shapeText } from "./text.js";
import { valuesView } from "./values.js";

const VIEWS = {
  overview: { title: "Overview", make: overview },
  values: { title: "Values", make: valuesView, ofArrays: true },
  chunks: { title: "Chunks", make: chunksView, ofArrays: true },
  documents: { title: "Documents", make: documentsView, notOfFolders: true },
};

/** The default view. */
const DEFAULT = "overview";

/** Show a node; `chosen` is the name of the view. */
export function nodeView(node, chosen) {
  const names = Object.keys(VIEWS).filter(
    (name) =>
      (!VIEWS[name].ofArrays || node.kind === "array") &&
      (!VIEWS[name].notOfFolders || node.kind !== "folder"),
  );
  const shown = names.includes(chosen) ? chosen : DEFAULT;
  const panelId = freshId("panel");
  const tabs = names.map((name) =>
    element(
      "a",
      {
        role: "tab",
        id: `tab-${name}`,
        href: hrefOf(node.path, name),
        "aria-selected": String(name === shown),
        "aria-controls": panelId,
        tabindex: name === shown ? 0 : -1,
      },
      VIEWS[name].title,
      name === "overview" && node.problems.length
        ? element("span", { class: "count", title: "problems" }, String(node.problems.length))
        : null,
    ),
  );
  const bar = element(
    "div",
    {
      role: "tablist",
      class: "tabs",
      "aria-label": "Views",
      onkeydown: (event) => moveFocus(event, tabs),
    },
    ...tabs,
  );
  return element(
    "article",
    { class: "node-view" },
    trail(node.path),
    element("h2", {}, nameOf(node.path), " ", summary(node)),
    bar,
    element(
      "div",
      { role: "tabpanel", id: panelId, "aria-labelledby": `tab-${shown}` },
      createView(VIEWS[shown], node),
    ),
  );
}

/** Create a view; if this fails, show the error instead. */
function createView(view, node) {
  try {
    return view.make(node);
  } catch (error) {
    console.error(error);
    return errorBox(error);
  }
}

function moveFocus(event, tabs) {
  const at = tabs.indexOf(event.target);
  const next = {
    ArrowRight: tabs[at + 1],
    ArrowLeft: tabs[at - 1],
    Home: tabs[0],
    End: tabs.at(-1),
  }[event.key];
  if (!next) return;
  event.preventDefault();
  next.click();
}

function trail(path) {
  const steps = path.split("/").filter(Boolean);
  const links = steps
    .slice(0, -1)
    .map((name, depth) => [
      " / ",
      element("a", { href: hrefOf(steps.slice(0, depth + 1).join("/")) }, name),
    ]);
  if (!steps.length) return null;
  return element(
    "nav",
    { class: "trail", "aria-label": "Groups above" },
    element("a", { href: hrefOf("") }, "root"),
    ...links.flat(),
  );
}

function summary(node) {
  if (node.kind === "damaged") return element("span", { class: "badge wrong" }, "damaged");
  if (node.kind !== "array")
    return element(
      "span",
      { class: "faint" },
      node.kind === "group" ? "group" : "folder, not a node",
    );
  const shape = node.shape ?? node.metadata.shape;
  const text = `${shapeText(shape)}  ${node.data_type ?? ""}`;
  return element("span", { class: "faint" }, text);
}
