// Creation of DOM elements. Stored text is always inserted as text, never as markup.

/**
 * Create an element.
 *
 * Attributes whose names begin with "on" are listeners; true and false set boolean attributes;
 * undefined and null are ignored.
 */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Create an SVG element. */
export function drawing(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

let numbers = 0;

/** Return a unique element id. */
export function freshId(word) {
  numbers += 1;
  return `${word}-${numbers}`;
}

/** Create a button. */
export function button(text, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, text);
}

/** Create a control with a label. */
export function labelled(text, control) {
  control.id ||= freshId("control");
  return element("span", { class: "field" }, element("label", { for: control.id }, text), control);
}

/** Create a select element; options are [value, text] pairs. */
export function choice(options, chosen, onchange) {
  const list = element("select", { onchange: () => onchange(list.value) });
  for (const [value, text] of options) {
    list.append(element("option", { value, selected: String(value) === String(chosen) }, text));
  }
  return list;
}

/** Create a box with problems and their JSON pointers; null if there are none. */
export function problemList(problems, title, kind = "error") {
  if (!problems.length) return null;
  const items = problems.map(({ pointer, message }) => {
    const where = pointer ? [element("code", { class: "pointer" }, pointer), " "] : [];
    return element("li", {}, ...where, message);
  });
  return element(
    "div",
    { class: `${kind} problems` },
    element("h3", {}, title),
    element("ul", {}, ...items),
  );
}

/** Create a select element with a label. */
export const labelledChoice = (text, ...rest) => labelled(text, choice(...rest));

/** Create a box with an error message and, optionally, a button to retry. */
export function errorBox(error, again) {
  const box = element(
    "div",
    { class: "error", role: "alert" },
    element("strong", {}, "Cannot show this. "),
    element("span", {}, error.message || String(error)),
  );
  if (again) box.append(" ", button("Try again", again));
  return box;
}
