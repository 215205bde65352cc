import type { Lanefold } from 'lanefold';
import { entriesOf } from '../support/log.ts';

export interface Shape {
  seq: number;
  content: Record<string, unknown>;
  notes: Record<string, unknown>;
}

/** The entries of a thread without ids and times, which differ between two runs of the same conversation. */
export async function shapeOf(lanefold: Lanefold, threadId: string): Promise<Shape[]> {
  return (await entriesOf(lanefold, threadId)).map(({ seq, kind, contextRef, role, payload, refs }) => {
    const { run_id: _run, request_id: _request, ...content } = payload;
    const { llm_call_id: _call, ...notes } = refs;
    return { seq, kind, contextRef, role, content, notes };
  });
}

/** The same of a conversation that contains the id of its thread, so that those of two threads can be compared. */
export async function shapeAs(lanefold: Lanefold, threadId: string): Promise<Shape[]> {
  const entries = await shapeOf(lanefold, threadId);
  for (const { notes } of entries) {
    // expectSound checks hashes against each thread's log
    delete notes['context_hash'];
    delete notes['output_hash'];
  }
  return JSON.parse(JSON.stringify(entries).replaceAll(threadId, 'THREAD')) as Shape[];
}
