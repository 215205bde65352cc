import type { Lanefold } from 'lanefold';
import { entriesOf } from '../support/log.ts';

/** A thread's entries without what differs between two runs of the same conversation: ids, times, call numbers. */
export async function shapeOf(lanefold: Lanefold, threadId: string): Promise<unknown[]> {
  return (await entriesOf(lanefold, threadId)).map(({ seq, kind, contextRef, role, payload, refs }) => {
    const { run_id: _run, request_id: _request, ...content } = payload;
    const { llm_call_id: _call, ...notes } = refs;
    return { seq, kind, contextRef, role, content, notes };
  });
}
