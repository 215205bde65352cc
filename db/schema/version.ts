/** The version of the schema this code writes. Raise it with every release that has a migration or a change under db/sql. */
export const schemaVersion = 3;

/**
 * The oldest code that still works on this schema. Raise it only when a change breaks running workers: they refuse to
 * start then, instead of writing what the new schema no longer means.
 */
export const minCompatibleVersion = 3;
