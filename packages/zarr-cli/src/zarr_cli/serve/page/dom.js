// Making elements. Text is always text: nothing that was stored is ever read as markup.

/**
 * Make an element.
 *
 * Attributes whose names begin with "on" are listeners; true and false are for those
 * without values; undefined and null leave an attribute out.
 */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for a part of a drawing. */
export function drawing(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

let numbers = 0;

/** A word that no other element has for its id. */
export function freshId(word) {
  numbers += 1;
  return `${word}-${numbers}`;
}

/** A control with its label. */
export function labelled(text, control) {
  control.id ||= freshId("control");
  return element("span", { class: "field" }, element("label", { for: control.id }, text), control);
}

/** A list to choose from; options are [value, text] pairs. */
export function choice(options, chosen, onchange) {
  const list = element("select", { onchange: () => onchange(list.value) });
  for (const [value, text] of options) {
    list.append(element("option", { value, selected: String(value) === String(chosen) }, text));
  }
  return list;
}

/** What went wrong, where it was to be shown, with a way to try again. */
export function errorBox(error, again) {
  const box = element(
    "div",
    { class: "error", role: "alert" },
    element("strong", {}, "This could not be shown. "),
    element("span", {}, error.message || String(error)),
  );
  if (again) box.append(" ", element("button", { type: "button", onclick: again }, "Try again"));
  return box;
}
