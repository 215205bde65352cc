import fc from 'fast-check';
import { merge, type HistoryEvent, type OperationName, type SnapshotEntry } from '../../src/ops/history/event.ts';

/** An operation as a client saw it: it took effect at `point`, between its beginning and its end. */
export interface Timed {
  f: OperationName;
  call: object;
  from: number;
  point: number;
  to: number;
  /** `lost` after it took effect, or before it did. */
  ending: 'answered' | 'lost' | 'never';
}

/** When an operation happens; operations overlap at random. */
export const interval = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 9 }))
  .map(([from, length, tenths]) => ({ from, point: from + (length * tenths) / 10, to: from + length }));

export const ending = fc.constantFrom<Timed['ending'][]>('answered', 'answered', 'answered', 'lost', 'never');

/** What a model answers when an operation takes effect; undefined if it refuses. */
export type Model = (operation: Timed) => object | undefined;

/** Executes operations one after the other, at their points, and returns the history that clients saw. */
export function historyOf(operations: readonly Timed[], model: Model, threadId = 't'): HistoryEvent[] {
  const answers = new Map<Timed, object | undefined>();
  for (const operation of operations.toSorted((a, b) => a.point - b.point))
    if (operation.ending !== 'never') answers.set(operation, model(operation));
  return merge(
    operations.flatMap((operation, process) => {
      const { f, call, from, to, ending: how } = operation;
      const event = { index: 0, process: `p${process}`, f, thread_id: threadId };
      const answer = answers.get(operation);
      const end =
        how !== 'answered'
          ? ({ type: 'info', error: 'lost' } as const)
          : answer
            ? ({ type: 'ok', value: structuredClone(answer) } as const)
            : ({ type: 'fail', error: 'refused' } as const);
      return [
        { ...event, time: from, type: 'invoke' as const, value: call },
        { ...event, time: to, ...end },
      ];
    }),
  );
}

export const note = (value: string, seq: number): SnapshotEntry => ({
  seq,
  kind: 'note',
  context_ref: null,
  role: null,
  op_id: null,
  run_id: null,
  request_id: null,
  is_anchor: false,
  payload: { text: value },
  refs: { value },
  value,
});
