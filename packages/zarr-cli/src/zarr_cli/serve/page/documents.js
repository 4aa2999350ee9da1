// The stored metadata documents of a node.

import { urlOf, readValue } from "./requests.js";
import { element, errorBox } from "./dom.js";
import { bytes } from "./text.js";

const MOST_BYTES = 1 << 18; // maximum to show of a document

/** Show the metadata documents of a node. */
export function documentsView(node) {
  const panel = element("section", { class: "documents", "aria-label": "Documents" });
  if (!node.documents.length) {
    panel.append(
      element(
        "p",
        {},
        "This node has no metadata document; it exists because there are nodes below it.",
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
      element("a", { href: urlOf(key).href, target: "_blank", rel: "noopener" }, key),
    ),
    text,
  );
  const load = async () => {
    try {
      const data = await readValue(key, { range: `bytes=0-${MOST_BYTES - 1}` });
      const found =
        data === null ? "This document no longer exists." : new TextDecoder().decode(data);
      text.replaceChildren(...marked(found, problems));
      if (data?.length === MOST_BYTES) {
        box.append(
          element(
            "p",
            { class: "faint" },
            `The first ${bytes(MOST_BYTES)}; the link above opens the whole document.`,
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

/** Return the text, with the fields marked that have problems. */
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
