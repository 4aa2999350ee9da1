// The stored documents of a node, word for word, read from the store by the page.

import { addressOf, readValue } from "./ask.js";
import { element, errorBox } from "./dom.js";
import { bytes } from "./text.js";

const MOST_BYTES = 1 << 18; // of a document that are shown

/** Show what a node stores to describe itself. */
export function documentsView(node) {
  const panel = element("section", { class: "documents", "aria-label": "Documents" });
  if (!node.documents.length) {
    panel.append(
      element(
        "p",
        {},
        "The node has no document of its own: it is there because others lie below it.",
      ),
    );
  }
  for (const key of node.documents) panel.append(stored(key, node.problems));
  return panel;
}

function stored(key, problems) {
  const text = element("pre", { tabindex: 0, "aria-label": key }, "Loading …");
  const box = element(
    "section",
    { class: "card" },
    element(
      "h3",
      {},
      element("a", { href: addressOf(key).href, target: "_blank", rel: "noopener" }, key),
    ),
    text,
  );
  const load = async () => {
    try {
      const data = await readValue(key, { range: `bytes=0-${MOST_BYTES - 1}` });
      const found = data === null ? "It has gone." : new TextDecoder().decode(data);
      text.replaceChildren(...marked(found, problems));
      if (data?.length === MOST_BYTES) {
        box.append(
          element(
            "p",
            { class: "faint" },
            `The first ${bytes(MOST_BYTES)}; the name above leads to all of it.`,
          ),
        );
      }
    } catch (error) {
      text.replaceWith(errorBox(error, () => box.replaceWith(stored(key, problems))));
    }
  };
  load();
  return box;
}

/** The text, with the members marked that problems point to. */
function marked(text, problems) {
  const names = problems.map(({ pointer }) => pointer.split("/")[1]).filter(Boolean);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const name = /^\s{1,4}"([^"]+)":/.exec(line)?.[1];
      return names.includes(name) ? element("mark", {}, line) : `${line}\n`;
    });
}
