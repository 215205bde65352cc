import { channel } from 'node:diagnostics_channel';

/** A statement as a process sends it. */
export interface SentStatement {
  /** The name of the prepared statement. */
  name: string;
  /** Its arguments; of a statement that is shared, the one item of this call, as JSON. */
  values: readonly unknown[];
  /** Its rows; of a shared statement, the row that answers the item. */
  answer: Promise<unknown>;
}

const sent = channel('lanefold.statement');

/** Tells listeners of a statement in the same turn of the event loop, before it can be answered. */
export function announce<Answer>(
  name: string,
  values: readonly unknown[] | undefined,
  answer: Promise<Answer>,
): Promise<Answer> {
  if (sent.hasSubscribers) sent.publish({ name, values: values ?? [], answer } satisfies SentStatement);
  return answer;
}

/** Listens to the statements of all databases of this process, until the returned function is called. */
export function onStatement(listener: (statement: SentStatement) => void): () => void {
  const receive = (message: unknown) => listener(message as SentStatement);
  sent.subscribe(receive);
  return () => void sent.unsubscribe(receive);
}
