// The URL fragment of a view: #/path/of/node?view=values

/** Parse the URL fragment. */
export function current() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  let plain;
  try {
    plain = path.split("/").filter(Boolean).map(decodeURIComponent).join("/");
  } catch {
    plain = path;
  }
  return { path: plain, view: new URLSearchParams(query).get("view") ?? "" };
}

/** Return the URL fragment of a node, optionally with a view. */
export function hrefOf(path, view = "") {
  const steps = path.split("/").filter(Boolean).map(encodeURIComponent).join("/");
  return `#/${steps}${view ? `?view=${view}` : ""}`;
}
