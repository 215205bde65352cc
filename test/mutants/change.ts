/** A text of a function or file, and the wrong one in its place. */
export type Replacement = [text: string, broken: string];

/** One mistake. */
export interface Change {
  name: string;
  /** By function of the database. */
  sql?: Record<string, Replacement[]>;
  /** By file. */
  source?: Record<string, Replacement[]>;
}
