import type { Run, RunEvent } from '../../api/types.ts';

/** A bar of the waterfall; an instant where `end` equals `start`. Times in ms since the run was accepted. */
export interface Span {
  kind: 'queue' | 'model' | 'tool' | 'approval' | 'input' | 'down' | 'lost' | 'retry' | 'end';
  title: string;
  start: number;
  end: number;
  /** Not ended yet. */
  open?: boolean;
  /** It failed. */
  bad?: boolean;
  note?: string;
  callId?: string;
  seq?: number;
}

/** The trace of a run as bars, in the order in which they began. */
export function spansOf(run: Run, events: RunEvent[], now: number): { spans: Span[]; total: number } {
  const trace = new Trace(Date.parse(run.created_at));
  if (run.started_at)
    trace.spans.push({ kind: 'queue', title: 'Waited for a worker', start: 0, end: trace.since(run.started_at) });
  else {
    const title = run.limited_by ? limitWait(run.limited_by) : 'Waits for a worker';
    trace.begin('queue', { kind: 'queue', title, start: 0 });
  }
  for (const event of events) {
    const t = trace.since(event.at);
    const { kind, data } = event;
    if (kind.startsWith('tool_')) readTool(trace, event, t);
    else if (kind.startsWith('llm_')) readModel(trace, event, t);
    else if (kind === 'worker_lost') readDeath(trace, data, t);
    else readOther(trace, event, t);
    trace.reached = t;
  }
  const last = run.finished_at ? trace.since(run.finished_at) : Math.max(0, now - Date.parse(run.created_at));
  trace.close(last);
  return { spans: trace.spans, total: Math.max(1, last, ...trace.spans.map(({ end }) => end)) };
}

/** The bars so far. Those that have not ended are found by the key under which they began. */
class Trace {
  readonly spans: Span[] = [];
  readonly #open = new Map<string, Span>();
  /** Model calls during which a worker died, by the same keys. */
  readonly lost = new Map<string, Span>();
  /** When the event before this one was written. */
  reached = 0;

  constructor(readonly zero: number) {}

  since = (at: string): number => Math.max(0, Date.parse(at) - this.zero);

  begin(key: string, span: Omit<Span, 'end'>): void {
    const begun: Span = { ...span, end: span.start, open: true };
    this.#open.set(key, begun);
    this.spans.push(begun);
  }

  finish(key: string, at: number, more: Partial<Span> = {}): Span | undefined {
    const span = this.#open.get(key);
    if (!span) return undefined;
    Object.assign(span, more, { end: Math.max(span.start, at) });
    delete span.open;
    this.#open.delete(key);
    return span;
  }

  instant = (kind: Span['kind'], title: string, t: number, bad = false): void => {
    this.spans.push({ kind, title, start: t, end: t, bad });
  };

  startOf = (key: string): number | undefined => this.#open.get(key)?.start;

  openOf = (...kinds: Span['kind'][]): [string, Span][] =>
    [...this.#open].filter(([, { kind }]) => kinds.includes(kind));

  failCalls(at: number, note: string): void {
    for (const [key] of this.openOf('model')) this.finish(key, at, { kind: 'retry', note });
  }

  /** Removes the model calls that were not made. */
  dropCalls(): void {
    for (const [key, span] of this.openOf('model')) {
      this.#open.delete(key);
      this.spans.splice(this.spans.indexOf(span), 1);
    }
  }

  close(at: number): void {
    for (const span of this.#open.values()) span.end = Math.max(span.start, at);
  }
}

type Data = RunEvent['data'];

const text = (data: Data, key: string): string => String(data[key] ?? '');

function readModel(trace: Trace, { kind, data, iteration }: RunEvent, t: number): void {
  const key = text(data, 'call_id');
  switch (kind) {
    case 'llm_started':
      trace.finish('limit', t);
      return trace.begin(key, { kind: 'model', title: `Model call ${iteration}`, start: t, callId: key });
    case 'llm_completed': {
      const answered = {
        seq: Number(data['seq']),
        note: usageNote(data['usage'] as Record<string, number> | undefined),
      };
      const lost = trace.lost.get(key);
      // the answer was already stored when the worker died
      if (!trace.finish(key, t, answered) && lost) Object.assign(lost, { kind: 'model', ...answered });
      return;
    }
    case 'llm_lost':
      // after a release: the worker was stopped
      trace.finish(key, t, { kind: 'lost', note: 'lost with its worker' });
      return;
    case 'llm_retry':
      trace.failCalls(
        t,
        data['next_model'] === data['model'] ? 'failed, retried' : `failed, then ${text(data, 'next_model')}`,
      );
  }
}

function readTool(trace: Trace, { kind, data }: RunEvent, t: number): void {
  const key = `tool ${text(data, 'tool_call_id')}`;
  const title = text(data, 'tool_name');
  if (kind === 'tool_started') return trace.begin(key, { kind: 'tool', title, start: t });
  const took = Number(data['duration_ms'] ?? 0);
  const status = text(data, 'status');
  const attempts = Number(data['attempts'] ?? 1);
  const note = [status === 'ok' ? '' : status, attempts > 1 ? `${attempts} attempts` : ''].filter(Boolean).join(', ');
  const more = { seq: Number(data['seq']), bad: status !== 'ok', ...(note ? { note } : {}) };
  const begun = trace.startOf(key);
  // A round is committed as a whole, so each tool reports its own duration.
  const end = begun !== undefined && took > 0 ? Math.min(t, begun + took) : t;
  if (!trace.finish(key, end, more))
    trace.spans.push({ kind: 'tool', title, start: Math.max(0, t - took), end: t, ...more });
}

/** The calls that a dead worker left: they ended when it was last seen, and its tools start again now. */
function readDeath(trace: Trace, data: Data, t: number): void {
  const lastSeen = data['last_seen_at'] ? trace.since(text(data, 'last_seen_at')) : t;
  const seen = Math.min(t, Math.max(trace.reached, lastSeen));
  const unknown = new Set((data['tool_call_ids'] ?? []) as string[]);
  const note = `noticed ${((t - seen) / 1000).toFixed(1)} s later`;
  trace.spans.push({ kind: 'down', title: 'Worker died', start: seen, end: t, note });
  for (const [key, span] of trace.openOf('tool', 'model')) {
    const { kind, title } = span;
    if (kind === 'tool' && !unknown.has(key.slice('tool '.length))) continue;
    trace.finish(key, seen, { kind: 'lost', note: 'the worker died here' });
    // a repeated model call has a separate event
    if (kind === 'tool') trace.begin(key, { kind, title, start: t });
    else trace.lost.set(key, span);
  }
}

function readOther(trace: Trace, { kind, data }: RunEvent, t: number): void {
  const approval = `approval ${text(data, 'round')}.${text(data, 'index')}`;
  switch (kind) {
    case 'run_delayed':
      trace.dropCalls();
      return trace.begin('limit', { kind: 'queue', title: limitWait(data), start: t });
    case 'limit_reached':
      if (data['ends']) trace.dropCalls();
      return trace.instant('input', data['limit'] ? `Limit ${text(data, 'limit')} reached` : 'Budget reached', t);
    case 'approval_requested':
      return trace.begin(approval, { kind: 'approval', title: `Approval of ${text(data, 'tool_name')}`, start: t });
    case 'approval_decided':
      trace.finish(approval, t, {
        bad: text(data, 'decision') === 'denied',
        note: [text(data, 'decision'), data['by'] ? `by ${text(data, 'by')}` : ''].filter(Boolean).join(' '),
      });
      return;
    case 'input_injected':
      return trace.instant('input', 'Input reached the model', t);
    case 'request_completed':
      return trace.instant('end', 'Completed', t);
    case 'request_cancelled':
      return trace.instant('end', 'Cancelled', t);
    case 'request_failed':
      trace.failCalls(t, 'failed');
      trace.instant('end', 'Failed', t, true);
  }
}

const limitWait = ({ limit, circuit }: { limit?: unknown; circuit?: unknown }): string =>
  circuit === undefined ? `Wait for the limit ${String(limit)}` : `Wait for calls of ${String(circuit)}`;

const usageNote = (usage: Record<string, number> | undefined): string =>
  usage ? `${usage['input_tokens']} in, ${usage['output_tokens']} out` : '';
