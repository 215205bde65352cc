import type { Run } from '../../../database/store/run/run.ts';
import { priced } from '../../../runs/operations/runs/cost.ts';
import type { ScoredCase, ScorerInput } from '../scorers/scorer.ts';
import type { OpenEval, StartedItem } from '../store/items.ts';
import type { RunAnswer } from '../store/read-answer.ts';
import type { Expected } from '../types.ts';

/** What a run took. */
export interface Used {
  duration_ms: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  estimated_tokens: number | null;
  /** Null if the price is unknown. */
  cost_micros: number | null;
}

/** @param reused it was paid for before */
export async function usedBy(counting: Parameters<typeof priced>[0], run: Run, reused = false): Promise<Used> {
  const { cost, unpricedTokens } = await priced(counting, run);
  const { input_tokens: sent = 0, output_tokens: received = 0 } = run.usage ?? {};
  const unpriced = sent + received > 0 && (cost === null || unpricedTokens > 0);
  const micros = unpriced ? null : Math.round((cost ?? 0) * 1_000_000);
  return {
    duration_ms: run.durationMs,
    input_tokens: run.usage?.input_tokens ?? null,
    output_tokens: run.usage?.output_tokens ?? null,
    estimated_tokens: run.usage?.['estimated_tokens'] ?? null,
    cost_micros: reused ? 0 : micros,
  };
}

/** @param of null: the run was not asked for an eval */
export const scorerInput = (
  run: Pick<Run, 'threadId' | 'id' | 'agent' | 'model'>,
  answer: RunAnswer,
  used: Used,
  expected: Expected,
  of: ScoredCase | null,
): Omit<ScorerInput, 'signal'> => ({
  answer: answer.text,
  toolCalls: answer.calls.map(({ name, arguments: args }) => ({ name, arguments: args })),
  messages: answer.messages,
  feedback: answer.feedback,
  expected,
  case: of,
  run: {
    threadId: run.threadId,
    id: run.id,
    agent: run.agent,
    model: run.model,
    durationMs: used.duration_ms,
    inputTokens: used.input_tokens,
    outputTokens: used.output_tokens,
    costMicros: used.cost_micros,
  },
});

/** What scorers are told of the run of an item. */
export function itemInput(
  { spec }: OpenEval,
  { case: source, agent }: StartedItem,
  run: Run,
  answer: RunAnswer,
  used: Used,
): Omit<ScorerInput, 'signal'> {
  const { id, dataset, tags, split, note, expected } = source!;
  const of = { id, dataset: dataset ?? spec.dataset, tags, split, note };
  return scorerInput({ ...run, agent }, answer, used, (expected ?? {}) as Expected, of);
}
