// The hierarchy as a collapsible tree with keyboard support.

import { requestJson } from "./requests.js";
import { button, element } from "./dom.js";
import { hrefOf } from "./route.js";

/** The tree of a store; `choose` is called with the path of the selected node. */
export class Tree {
  constructor(choose) {
    this.choose = choose;
    this.items = new Map();
    this.shown = element("ul", {
      role: "tree",
      class: "tree",
      "aria-label": "Hierarchy",
      onkeydown: (event) => this.key(event),
    });
  }

  /** Insert the root. */
  begin(root) {
    const item = this.item("", { name: "/", ...root });
    this.shown.replaceChildren(item);
    item.row.tabIndex = 0;
    return item.isGroup ? this.unfold(item) : null;
  }

  /** Unfold the nodes above a node, then select it. */
  async show(path) {
    const steps = path.split("/").filter(Boolean);
    for (let depth = 0; depth < steps.length; depth += 1) {
      const above = this.items.get(steps.slice(0, depth).join("/"));
      if (above) await this.unfold(above);
    }
    for (const item of this.items.values()) {
      const isHere = item.path === path;
      item.setAttribute("aria-selected", String(isHere));
      item.row.tabIndex = isHere ? 0 : -1;
      if (isHere) item.row.scrollIntoView({ block: "nearest" });
    }
    if (!this.items.has(path)) this.items.get("").row.tabIndex = 0;
  }

  item(path, { name, kind, shape, reason }) {
    const isGroup = kind === "group" || kind === "folder";
    const row = element(
      "a",
      {
        class: `node ${kind}`,
        href: hrefOf(path),
        tabindex: -1,
        title: reason,
        onclick: (event) => {
          event.preventDefault();
          this.choose(path);
        },
      },
      element("span", {
        class: "twist",
        "aria-hidden": "true",
        onclick: (event) => {
          if (!isGroup) return;
          event.preventDefault();
          event.stopPropagation();
          this.toggle(treeItem);
        },
      }),
      element("span", { class: "mark", "aria-hidden": "true" }),
      element("span", { class: "name" }, name),
      element(
        "span",
        { class: "faint" },
        isGroup ? "" : shape ? `(${shape.join(", ")})` : kind === "damaged" ? kind : "",
      ),
    );
    const treeItem = element(
      "li",
      {
        role: "treeitem",
        "aria-selected": "false",
        "aria-expanded": isGroup ? "false" : null,
        "aria-label": `${name}, ${kind}`,
      },
      row,
    );
    Object.assign(treeItem, { path, row, isGroup });
    this.items.set(path, treeItem);
    return treeItem;
  }

  toggle(item) {
    if (item.getAttribute("aria-expanded") === "true") this.fold(item);
    else this.unfold(item);
  }

  fold(item) {
    item.setAttribute("aria-expanded", "false");
  }

  async unfold(item) {
    if (!item.isGroup) return;
    item.setAttribute("aria-expanded", "true");
    item.loading ??= this.load(item, 0, element("ul", { role: "group" }));
    await item.loading;
  }

  async load(item, first, list) {
    if (!list.parentNode) item.append(list);
    try {
      const { children, next } = await requestJson("children", { path: item.path, first });
      for (const child of children) {
        list.append(this.item(item.path ? `${item.path}/${child.name}` : child.name, child));
      }
      if (next !== null) {
        const more = element(
          "li",
          { role: "none" },
          button("Show more", () => {
            more.remove();
            this.load(item, next, list);
          }),
        );
        list.append(more);
      } else if (!list.firstChild) {
        list.append(element("li", { role: "none", class: "faint" }, "empty"));
      }
    } catch (error) {
      item.loading = undefined;
      list.replaceChildren(
        element(
          "li",
          { role: "none", class: "wrong" },
          error.message,
          " ",
          button("Try again", () => {
            list.remove();
            this.unfold(item);
          }),
        ),
      );
    }
  }

  key(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.target.tagName === "BUTTON") return;
    const rows = [...this.shown.querySelectorAll("[role=treeitem]")].filter(
      (other) => other.row.offsetParent !== null,
    );
    const at = rows.indexOf(item);
    const isOpen = item.getAttribute("aria-expanded") === "true";
    const actions = {
      ArrowDown: () => rows[at + 1],
      ArrowUp: () => rows[at - 1],
      Home: () => rows[0],
      End: () => rows.at(-1),
      ArrowRight: () =>
        item.isGroup && !isOpen ? void this.unfold(item) : item.isGroup ? rows[at + 1] : null,
      ArrowLeft: () =>
        isOpen ? void this.fold(item) : item.parentElement.closest("[role=treeitem]"),
      Enter: () => void this.choose(item.path),
      " ": () => void this.choose(item.path),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    const next = actions[event.key]();
    if (!next) return;
    item.row.tabIndex = -1;
    next.row.tabIndex = 0;
    next.row.focus();
  }
}
