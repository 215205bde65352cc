/** A row that breaks an invariant. */
export interface Violation {
  invariant: string;
  /** The condition that does not hold. */
  name: string;
  row: Record<string, unknown>;
}
