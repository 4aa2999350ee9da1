// Definitions of extensions in metadata, which are strings or objects.

/** Return the name of a definition. */
export const nameOf = (definition) =>
  typeof definition === "string" ? definition : definition.name;

/** Return the configuration of a definition. */
export const configurationOf = (definition) =>
  (typeof definition === "string" ? undefined : definition.configuration) ?? {};
