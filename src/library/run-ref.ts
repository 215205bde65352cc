/** A run by its thread and id. */
export interface RunRef {
  threadId: string;
  id: string;
}
