declare const strategyName: unique symbol;

/** A run by its thread and id. */
export interface RunRef<Strategy extends string = string> {
  threadId: string;
  id: string;
  /** For the compiler alone: the strategy that the result is of. */
  readonly [strategyName]?: Strategy;
}
