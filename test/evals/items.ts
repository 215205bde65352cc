import type { EvalItem, Score, ScorerInput } from 'lanefold/evals';

const goodScore: Score = { scorer: 'answer', version: '1', score: 1, reason: null, error: null };

const goodItem: EvalItem = {
  caseId: 'case_1',
  tags: [],
  variant: 'a',
  repeat: 1,
  status: 'done',
  answer: '20 €',
  error: null,
  scores: [goodScore],
  durationMs: 800,
  inputTokens: 90,
  outputTokens: 8,
  costMicros: 120,
  endedBy: null,
  diverged: null,
  reused: false,
};

/** An item that ended well, with one score of 1, except for the fields given. */
export const itemOf = (fields: Partial<EvalItem> = {}): EvalItem => ({ ...goodItem, ...fields });

export const scoreOf = (score: number | null, fields: Partial<Score> = {}): Score => ({
  ...goodScore,
  score,
  ...fields,
});

/** One item per score, as repeats of a case. */
export const repeatsOf = (caseId: string, variant: string, scores: number[], fields: Partial<EvalItem> = {}) =>
  scores.map((score, i) => itemOf({ caseId, variant, repeat: i + 1, scores: [scoreOf(score)], ...fields }));

export const inputOf = (fields: Partial<ScorerInput> = {}): Omit<ScorerInput, 'signal'> => ({
  answer: '',
  toolCalls: [],
  messages: [],
  expected: {},
  feedback: [],
  case: { id: 'case_1', dataset: 'refunds', tags: [], split: null, note: null },
  run: {
    threadId: 'thread_1',
    id: 'run_1',
    agent: 'support',
    model: 'scripted:a',
    durationMs: 800,
    inputTokens: 90,
    outputTokens: 8,
    costMicros: 120,
  },
  ...fields,
});
