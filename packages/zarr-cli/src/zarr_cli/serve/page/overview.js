// The overview of a node: properties, codecs, attributes, problems.

import { element, problemList } from "./dom.js";
import { shape as shapeText } from "./text.js";

/** Show the overview of a node. */
export function overview(node) {
  return element(
    "section",
    { class: "overview", "aria-label": "Overview" },
    problemList(node.problems, "This node cannot be opened:"),
    problemList(node.remarks, "Notes:", "note"),
    Object.keys(node.info).length ? card("Properties", pairs(withoutCodecs(node))) : partial(node),
    node.metadata ? card("Codecs, in the order of encoding", pipeline(node.metadata)) : null,
    node.kind === "folder" ? null : card("Attributes", attributes(node)),
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
  return pairs(Object.fromEntries(entries.map(([name, value]) => [name, attribute(value)])));
}

function attribute(value) {
  if (typeof value === "string") return element("span", { class: "text" }, value || '""');
  const isObject = value !== null && typeof value === "object";
  return isObject ? element("pre", {}, JSON.stringify(value, null, 2)) : element("code", {}, String(value));
}
