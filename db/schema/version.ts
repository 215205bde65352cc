/** The version of the schema this code writes. Raise it with every release that has a migration or a change under db/sql. */
export const schemaVersion = 2;

/**
 * The oldest code that can still use this schema. Increase it only when a change breaks older workers; they then refuse
 * to start instead of writing data that the new schema misinterprets.
 */
export const minCompatibleVersion = 1;
