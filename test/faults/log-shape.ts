import type { Lanefold } from 'lanefold';
import { entriesOf } from '../support/log.ts';

/** The entries of a thread without ids and times, which differ between two runs of the same conversation. */
export async function shapeOf(lanefold: Lanefold, threadId: string): Promise<unknown[]> {
  return (await entriesOf(lanefold, threadId)).map(({ seq, kind, contextRef, role, payload, refs }) => {
    const { run_id: _run, request_id: _request, ...content } = payload;
    const { llm_call_id: _call, ...notes } = refs;
    return { seq, kind, contextRef, role, content, notes };
  });
}
