/** A question to the database whose answer is empty when an invariant holds. */
export interface Check {
  /** Number in docs/guarantees.md. */
  invariant: string;
  /** What must hold, as a sentence. */
  name: string;
  /** `always`: between any two commits. `at_rest`: when no run is under way. */
  holds: 'always' | 'at_rest';
  /** Returns a row for each breach, the thread first. */
  sql: string;
}
