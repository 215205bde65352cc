import type { Mark, MarkCount, JsonObject } from '../../api/types.ts';
import { clip, duration, fullTime } from '../../parts/format.ts';
import { href } from '../../state/route.ts';

export const icons: Record<Tone, string> = { bad: '✕', warn: '▲', note: '●' };
const maxChars = 160;

/** A mark in words, linked to the place it refers to. */
function Badge({ kind, words, to }: { kind: string; words: string; to: string }) {
  const tone = kinds[kind]?.[0] ?? 'note';
  const shown = clip(words, maxChars);
  return (
    <a href={to} class={`tag badge ${tone}`} data-mark={kind} title={shown === words ? undefined : words}>
      <span aria-hidden="true">{icons[tone]}</span> {shown}
    </a>
  );
}

/** The marks of a list row with their counts; each links to its first place. */
export function CountedMarks({
  threadId,
  marks,
  known = [],
}: {
  threadId: string;
  marks: MarkCount[] | null | undefined;
  /** Kinds that the row shows anyway. */
  known?: (string | false)[] | undefined;
}) {
  const shown = marks?.filter(({ kind }) => !known.includes(kind)) ?? [];
  if (shown.length === 0) return null;
  return (
    <span class="marks">
      {shown.map(({ kind, count, seq, run_id: runId, llm_call_id: callId }) => {
        const [, one, several] = kinds[kind] ?? ['note', kind, kind];
        const words = count > 1 ? `${count} ${several}` : /^tool|^run/.test(one) ? `1 ${one}` : one;
        const to = callId
          ? href('threads', threadId, 'calls', callId)
          : seq === null
            ? href('threads', threadId, 'runs', runId)
            : href('threads', threadId, { at: String(seq) });
        return <Badge key={kind} kind={kind} words={words} to={to} />;
      })}
    </span>
  );
}

/**
 * The marks of an entry or a run, equal ones combined with their count. Each links to its model call, or else to the
 * run.
 */
export function Marks({ threadId, marks = [] }: { threadId: string; marks: readonly Mark[] | undefined }) {
  if (marks.length === 0) return null;
  const badges = new Map<string, { kind: string; words: string; to: string; count: number }>();
  for (const mark of marks) {
    const words = wordsOf(mark);
    const to = mark.llm_call_id
      ? href('threads', threadId, 'calls', mark.llm_call_id)
      : href('threads', threadId, 'runs', mark.run_id);
    const same = badges.get(`${to} ${words}`);
    if (same) same.count += 1;
    else badges.set(`${to} ${words}`, { kind: mark.kind, words, to, count: 1 });
  }
  return (
    <div class="marks">
      {[...badges].map(([key, { kind, words, to, count }]) => (
        <Badge key={key} kind={kind} words={count > 1 ? `${words} (${count} times)` : words} to={to} />
      ))}
    </div>
  );
}

/** Severity: a failure, an extra cost, or information. */
export type Tone = 'bad' | 'warn' | 'note';

/** The severity of each kind, and its label in a list for one and for several. */
export const kinds: Record<string, [tone: Tone, one: string, several: string]> = {
  tool_failed: ['bad', 'tool failed', 'tools failed'],
  arguments_refused: ['bad', 'arguments refused', '× arguments refused'],
  tool_retried: ['warn', 'tool retried', 'tools retried'],
  model_retried: ['warn', 'model retried', '× model retried'],
  model_fell_back: ['warn', 'fell back', '× fell back'],
  worker_lost: ['bad', 'worker died', 'workers died'],
  cut: ['warn', 'cut', '× cut'],
  over_budget: ['warn', 'over budget', '× over budget'],
  cache_missed: ['warn', 'cache missed', '× cache missed'],
  handoffs_looped: ['warn', 'handoffs looped', '× handoffs looped'],
  ended_early: ['warn', 'ended early', '× ended early'],
  model_overridden: ['note', 'model overridden', '× model overridden'],
  liked: ['note', 'liked', '× liked'],
  disliked: ['bad', 'disliked', '× disliked'],
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
  fallback: 'another model was asked than before',
};

const outcomes: Record<string, string> = {
  error: 'Tool failed',
  unknown: 'Tool’s outcome unknown',
  abandoned: 'Tool call abandoned',
};

/** What a run waits for, in a menu. */
export const waitWords: Record<string, string> = {
  approval: 'approval',
  limit: 'a limit',
  worker: 'a worker',
  run: 'the run before it',
  agent: 'another agent',
  event: 'an event',
  time: 'a time',
  start_at: 'its start',
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
    case 'arguments_refused':
      return `Arguments refused: ${text('tool')} was not called`;
    case 'handoffs_looped':
      return `Handed over to ${text('agent')} ${text('times')} times`;
    case 'ended_early':
      return `${data['answered'] === false ? 'No answer' : 'Ended early'}: ${text('reason').replaceAll('_', ' ')}`;
    case 'tool_retried':
      return `Attempted ${text('attempts')} times`;
    case 'model_fell_back':
      return `${text('model')} answered instead of ${text('instead_of')}`;
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
    case 'liked':
    case 'disliked': {
      const [is, by, comment] = [kind === 'liked' ? 'Liked' : 'Disliked', data['by'], data['comment']];
      return `${is}${by === undefined ? '' : ` by ${text('by')}`}${comment === undefined ? '' : `: ${text('comment')}`}`;
    }
    case 'steered':
      return `Sent ${fullTime(text('sent_at'))} by ${text('by')}, reached the model ${duration(
        Date.parse(text('reached_at')) - Date.parse(text('sent_at')),
      )} later`;
    case 'steer_dropped':
      return `Steering by ${text('by')} dropped: the run ended before it reached the model`;
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
