// The address of what is shown: #/path/of/node?view=picture

/** Read the address. */
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

/** The address of a node, and of one of its views. */
export function hrefOf(path, view = "") {
  const steps = path.split("/").filter(Boolean).map(encodeURIComponent).join("/");
  return `#/${steps}${view ? `?view=${view}` : ""}`;
}
