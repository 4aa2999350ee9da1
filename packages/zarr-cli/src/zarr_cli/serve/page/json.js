// JSON values as collapsible trees.

import { element } from "./dom.js";

const SHORT = 60; // maximum characters on one line
const MOST = 500; // maximum members to show per object

/** Create a tree for a value; short values stay on one line. */
export function jsonTree(value, isOpen = false) {
  if (value === null || typeof value !== "object") return leaf(value);
  const text = JSON.stringify(value);
  if (text.length <= SHORT) return element("code", {}, text.replaceAll(",", ", "));
  const isList = Array.isArray(value);
  const entries = isList ? value.map((item, at) => [String(at), item]) : Object.entries(value);
  const what = isList ? `list of ${entries.length}` : `object of ${entries.length}`;
  const details = element("details", { class: "json", open: isOpen }, element("summary", {}, what));
  const fill = () => {
    if (!details.open || details.childElementCount > 1) return;
    details.append(
      element(
        "ul",
        {},
        ...entries
          .slice(0, MOST)
          .map(([name, item]) =>
            element("li", {}, element("span", { class: "member" }, `${name}: `), jsonTree(item)),
          ),
      ),
    );
    if (entries.length > MOST)
      details.append(element("p", { class: "faint" }, `and ${entries.length - MOST} more`));
  };
  details.addEventListener("toggle", fill);
  fill();
  return details;
}

function leaf(value) {
  if (typeof value === "string")
    return element("span", { class: "text" }, value === "" ? '""' : value);
  return element("code", {}, String(value));
}
