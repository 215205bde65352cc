import { write } from './log.ts';
import { otherBody, noRun, refuse } from './refusal.ts';
import { activeRun, queuedInputs, runOf, type Body, type Run, type Thread } from './state.ts';

/** Queues input for the active run, once for each id. */
export function enqueueInput(thread: Thread, p: Body): Body {
  const { id, kind, by, content, expected_run_id: expected } = p;
  const known = thread.inputs.get(id);
  if (known) {
    const same = known.kind === kind && known.by === by && known.content === content;
    if (!same || (expected !== undefined && expected !== known.run_id)) refuse(otherBody);
    return { status: known.status, input_id: id, run_id: known.run_id, duplicate: true };
  }
  const run = activeRun(thread);
  if (expected !== undefined && expected !== run?.id && !runOf(thread, expected)) refuse(noRun);
  if (!run) refuse('LF025');
  if (expected !== undefined && expected !== run.id) refuse('LF026');
  if (run.sealed_at !== null) refuse('LF027');
  if (run.options?.['takes_input'] === false) refuse('LF028');
  if (queuedInputs(thread, run).length >= 64) refuse('LF031');
  thread.inputs.set(id, { id, run_id: run.id, kind, by, content, status: 'queued' });
  return { status: 'queued', input_id: id, run_id: run.id, request_id: run.request_id };
}

/** Appends the queued input of a run as messages, in order, and returns them for its worker. */
export function drainInputs(thread: Thread, run: Run): Body[] {
  return queuedInputs(thread, run).map((input) => {
    const { id, kind, by, content } = input;
    const seq = thread.entries.length;
    input.status = 'injected';
    write(thread, [{ role: 'user', payload: { content }, refs: { kind, by, input_id: id } }], run);
    return { seq, role: 'user', content, refs: { kind } };
  });
}
