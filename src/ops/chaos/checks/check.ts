/** A query that returns no rows while its invariant holds. */
export interface Check {
  /** Number in docs/guarantees.md. */
  invariant: string;
  /** The condition, as a sentence. */
  name: string;
  /** `always`: between any two commits. `at_rest`: while no run is in progress. */
  holds: 'always' | 'at_rest';
  /** Returns one row per violation, with the thread in the first column. */
  sql: string;
}

/** A row that breaks an invariant. */
export interface Violation {
  invariant: string;
  /** The condition that does not hold. */
  name: string;
  row: Record<string, unknown>;
}
