// The overview of a node: properties, codecs, attributes, members, problems.

import { requestJson } from "./requests.js";
import { button, element, errorBox, problemList } from "./dom.js";
import { jsonTree } from "./json.js";
import { hrefOf } from "./route.js";
import { shape as shapeText, whole } from "./text.js";

/** Show the overview of a node. */
export function overview(node) {
  return element(
    "section",
    { class: "overview", "aria-label": "Overview" },
    problemList(node.problems, "This node cannot be opened:"),
    problemList(node.remarks, "Notes:", "note"),
    node.kind === "group" || node.kind === "folder" ? members(node) : null,
    Object.keys(node.info).length ? card("Properties", pairs(withoutCodecs(node))) : partial(node),
    node.metadata ? card("Codecs, in the order of encoding", pipeline(node.metadata)) : null,
    node.kind === "folder" ? null : card("Attributes", attributes(node)),
    node.kind === "group" ? card("Problems below", search(node)) : null,
  );
}

// The codecs have a card of their own.
const CODECS = new Set(["Filters", "Serializer", "Compressors"]);

function withoutCodecs({ info, metadata }) {
  if (!metadata) return info;
  return Object.fromEntries(Object.entries(info).filter(([name]) => !CODECS.has(name)));
}

function card(title, ...children) {
  return element("section", { class: "card" }, element("h3", {}, title), ...children);
}

function pairs(table) {
  return element(
    "table",
    { class: "pairs" },
    element(
      "tbody",
      {},
      ...Object.entries(table).map(([name, value]) =>
        element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)),
      ),
    ),
  );
}

/** Show the metadata of an array that cannot be opened. */
function partial(node) {
  if (!node.metadata) return null;
  const { shape, data_type: type, chunk_grid: grid, fill_value: fill } = node.metadata;
  return card(
    "Properties from the metadata",
    pairs({
      "Data type": nameOf(type),
      Shape: shapeText(shape),
      "Chunk grid": nameOf(grid),
      "Fill value": JSON.stringify(fill),
    }),
  );
}

/** Return the name of a definition in metadata, which is a string or an object. */
const nameOf = (definition) => definition.name ?? definition;

function pipeline(metadata) {
  const steps = metadata.codecs.map((definition) => {
    const name = nameOf(definition);
    const configuration = definition.configuration ?? {};
    const inner = Array.isArray(configuration.codecs) ? pipeline(configuration) : null;
    const rest = Object.entries(configuration).filter(
      ([key]) => !(inner && key.endsWith("codecs")),
    );
    return element(
      "li",
      {},
      element("strong", {}, name),
      rest.length
        ? element(
            "span",
            { class: "faint" },
            ` ${rest.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join(", ")}`,
          )
        : null,
      inner,
    );
  });
  return element("ol", { class: "pipeline" }, ...steps);
}

function attributes(node) {
  const entries = Object.entries(node.attributes);
  if (!entries.length) return element("p", { class: "faint" }, "None.");
  return pairs(Object.fromEntries(entries.map(([name, value]) => [name, jsonTree(value)])));
}

function members(node) {
  const list = element("tbody", {});
  const table = element(
    "table",
    { class: "members" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...["Name", "Kind", "Shape", "Data type"].map((text) =>
          element("th", { scope: "col" }, text),
        ),
      ),
    ),
    list,
  );
  const box = card("Members", element("div", { class: "scroll" }, table));
  const load = async (first) => {
    try {
      const { children, next } = await requestJson("children", { path: node.path, first });
      for (const child of children) {
        const path = node.path ? `${node.path}/${child.name}` : child.name;
        list.append(
          element(
            "tr",
            {},
            element("td", {}, element("a", { href: hrefOf(path) }, child.name)),
            element("td", { class: child.kind === "damaged" ? "wrong" : null }, child.kind),
            element("td", {}, child.shape ? shapeText(child.shape) : ""),
            element("td", {}, child.data_type ?? ""),
          ),
        );
      }
      if (next !== null) {
        const more = button("Show more", () => {
          more.remove();
          load(next);
        });
        box.append(more);
      } else if (!list.firstChild) {
        table.replaceWith(element("p", { class: "faint" }, "None."));
      }
    } catch (error) {
      box.append(errorBox(error));
    }
  };
  load(0);
  return box;
}

/** Search for nodes that cannot be opened, on request, because it reads all metadata below. */
function search(node) {
  const found = element("div", { "aria-live": "polite" });
  const look = async () => {
    found.replaceChildren(element("p", { class: "waiting" }, "Opening every node below …"));
    try {
      const { damaged, looked, complete } = await requestJson("problems", {
        path: node.path,
        seconds: 20,
      });
      const summary = `${whole(looked)} nodes were opened${complete ? "" : " (not all)"}; ${damaged.length || "none"} failed.`;
      found.replaceChildren(
        element("p", {}, summary),
        ...damaged.map(({ path, problems }) =>
          problemList(problems, element("a", { href: hrefOf(path) }, `/${path}`), "error", "h4"),
        ),
      );
    } catch (error) {
      found.replaceChildren(errorBox(error, look));
    }
  };
  return element(
    "div",
    {},
    button("Check every node below", look),
    found,
  );
}
