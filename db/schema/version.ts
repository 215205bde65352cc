/** The schema version this code writes. Increase it in every release with a migration or a change in db/sql. */
export const schemaVersion = 2;

/**
 * The oldest code that can still use this schema. Increase it only when a change breaks older workers; they then refuse
 * to start instead of writing data that the new schema misinterprets.
 */
export const minCompatibleVersion = 1;
