// The page: the tree, the selected node, and the display of errors.

import { requestJson } from "./requests.js";
import { button, element, errorBox } from "./dom.js";
import { nodeView } from "./node_view.js";
import { current, hrefOf } from "./route.js";
import { nameOf } from "./text.js";
import { Tree } from "./tree.js";

const main = document.getElementById("main");
const sidebar = document.getElementById("sidebar");
const fold = document.getElementById("fold");
const tree = new Tree((path) => {
  location.hash = hrefOf(path, path === shownPath ? "" : current().view);
});

let shownPath = null;
let turn = 0;

async function show() {
  const { path, view } = current();
  turn += 1;
  const mine = turn;
  const isNew = path !== shownPath;
  const hadTab = document.activeElement?.getAttribute("role") === "tab";
  document.body.classList.remove("unfolded");
  fold.setAttribute("aria-expanded", "false");
  main.setAttribute("aria-busy", "true");
  try {
    const node = await requestJson("node", { path });
    if (mine !== turn) return;
    shownPath = path;
    main.replaceChildren(nodeView(node, view));
    document.title = `${nameOf(path)} – Zarr store`;
    if (hadTab) main.querySelector("[role=tab][aria-selected=true]").focus();
    if (isNew) main.scrollTo(0, 0);
  } catch (error) {
    if (mine === turn) {
      main.replaceChildren(errorBox(error, show), ...(path ? [wayBack(path)] : []));
    }
  } finally {
    if (mine === turn) main.setAttribute("aria-busy", "false");
  }
  tree.show(path).catch(report);
}

/** Return links to the groups above a node that cannot be shown. */
function wayBack(path) {
  const steps = path.split("/").slice(0, -1);
  const above = steps.map((_, depth) => steps.slice(0, depth + 1).join("/"));
  const links = ["", ...above].map((group) =>
    element("a", { href: hrefOf(group) }, group ? `/${group}` : "root of the store"),
  );
  return element("p", { class: "way-back" }, "Go to: ", ...links.flatMap((link) => [link, "  "]));
}

async function begin() {
  try {
    const root = await requestJson("node", { path: "" });
    const name = String(root.info.Store ?? "")
      .split(" ")
      .at(-1);
    document.getElementById("place").textContent = decodeURIComponent(
      name.replace(/\/$/, "").split("/").at(-1) || "Zarr store",
    );
    document.getElementById("place").title = name;
    sidebar.replaceChildren(tree.shown);
    await tree.begin({ kind: root.kind, shape: root.shape });
  } catch (error) {
    sidebar.replaceChildren(errorBox(error, begin));
  }
  await show();
}

/** Show an unexpected error. */
function report(error) {
  console.error(error);
  const box = errorBox(error ?? new Error("unknown error"));
  box.append(" ", button("Close", () => box.remove()));
  document.getElementById("alerts").replaceChildren(box);
}

window.addEventListener("error", (event) => {
  if (event.error) report(event.error);
});
window.addEventListener("unhandledrejection", (event) => report(event.reason));
window.addEventListener("hashchange", show);

fold.addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("unfolded");
  fold.setAttribute("aria-expanded", String(isOpen));
});

begin();
