import type { JsonObject, Mark } from '../../api/types.ts';
import { duration, fullTime } from '../../parts/format.ts';

/** Severity: a failure, an extra cost, or information. */
export type Tone = 'bad' | 'warn' | 'note';

/** The severity of each kind, and its label in a list for one and for several. */
export const kinds: Record<string, [tone: Tone, one: string, several: string]> = {
  tool_failed: ['bad', 'tool failed', 'tools failed'],
  tool_retried: ['warn', 'tool retried', 'tools retried'],
  model_retried: ['warn', 'model retried', '× model retried'],
  worker_lost: ['bad', 'worker died', 'workers died'],
  cut: ['warn', 'cut', '× cut'],
  over_budget: ['warn', 'over budget', '× over budget'],
  cache_missed: ['warn', 'cache missed', '× cache missed'],
  model_overridden: ['note', 'model overridden', '× model overridden'],
  steered: ['note', 'steered', '× steered'],
  steer_dropped: ['bad', 'steering dropped', '× steering dropped'],
  prompt_changed: ['note', 'prompt changed', '× prompt changed'],
  context_replaced: ['note', 'context replaced', '× context replaced'],
  compacted: ['note', 'compacted', '× compacted'],
  waiting: ['note', 'waiting', 'waiting'],
  abandoned: ['bad', 'abandoned', 'abandoned'],
  failed: ['bad', 'run failed', 'runs failed'],
};

export const causes: Record<string, string> = {
  prompt: 'the prompt changed',
  anchor: 'the context was replaced',
  policy: 'the policy left out different messages than before',
};

const outcomes: Record<string, string> = {
  error: 'Tool failed',
  unknown: 'Tool’s outcome unknown',
  abandoned: 'Tool call abandoned',
};

const waits: Record<string, string> = {
  run: 'waits for the run before it',
  approval: 'waits for approval',
  event: 'waits for an event',
  time: 'waits for a time',
  agent: 'waits for another agent',
  start_at: 'is delayed',
  worker: 'waits for a worker that knows its agent',
  limit: 'waits for the limit',
};

/** The text of a mark in the conversation. */
export function wordsOf({ kind, data }: Mark): string {
  const text = (key: string) => String(data[key] ?? '');
  switch (kind) {
    case 'tool_failed':
      return `${outcomes[text('status')]!}: ${text('tool')}`;
    case 'tool_retried':
      return `Attempted ${text('attempts')} times`;
    case 'model_retried':
      return data['lost']
        ? 'Model call lost with its worker and retried'
        : `Model call retried after: ${errorIn(data)}`;
    case 'worker_lost':
      return 'A worker died before this';
    case 'over_budget':
      return 'Over budget: the messages the policy must keep exceed it';
    case 'cut':
      return 'Cut by policy';
    case 'cache_missed':
      return `Cache missed: ${causes[text('cause')]}${data['seq'] === undefined ? '' : ` (#${text('seq')})`}`;
    case 'model_overridden':
      return `${text('model')} instead of the ${data['transformer'] ? 'run' : 'agent'}’s ${text('instead_of')}`;
    case 'steered':
      return `Sent ${fullTime(text('sent_at'))} by ${text('source')}, reached the model ${duration(
        Date.parse(text('reached_at')) - Date.parse(text('sent_at')),
      )} later`;
    case 'steer_dropped':
      return `Steering by ${text('source')} dropped: the run ended before it reached the model`;
    case 'waiting':
      return waits[text('for')]! + limitIn(data) + (data['until'] ? ` until ${fullTime(text('until'))}` : '');
    case 'failed':
      return `failed: ${text('type')}: ${text('message')}`;
    default:
      return kinds[kind]?.[1] ?? kind;
  }
}

const limitIn = ({ limit, key }: JsonObject): string =>
  limit === undefined ? '' : ` ${String(limit)}${key === undefined ? '' : ` (${String(key)})`}`;

const errorIn = (data: JsonObject): string => String((data['error'] as JsonObject | null)?.['message'] ?? '');
