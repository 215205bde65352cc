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
  const zero = Date.parse(run.created_at);
  const since = (at: string) => Math.max(0, Date.parse(at) - zero);
  const spans: Span[] = [];
  const open = new Map<string, Span>();
  /** Model calls during which a worker died, by the same keys. */
  const lost = new Map<string, Span>();
  const begin = (key: string, span: Omit<Span, 'end'>) => {
    const begun: Span = { ...span, end: span.start, open: true };
    open.set(key, begun);
    spans.push(begun);
  };
  const finish = (key: string, at: number, more: Partial<Span> = {}): Span | undefined => {
    const span = open.get(key);
    if (!span) return undefined;
    Object.assign(span, more, { end: Math.max(span.start, at) });
    delete span.open;
    open.delete(key);
    return span;
  };
  const failCalls = (at: number, note: string) => {
    for (const [key, span] of open) if (span.kind === 'model') finish(key, at, { kind: 'retry', note });
  };
  /** Model calls that were not made. */
  const drop = () => {
    for (const [key, span] of open)
      if (span.kind === 'model') {
        open.delete(key);
        spans.splice(spans.indexOf(span), 1);
      }
  };
  if (run.started_at) spans.push({ kind: 'queue', title: 'Waited for a worker', start: 0, end: since(run.started_at) });
  else
    begin('queue', {
      kind: 'queue',
      title: run.waiting_for ? limitWait(run.waiting_for) : 'Waits for a worker',
      start: 0,
    });

  /** When the last event was written. */
  let reached = 0;
  for (const { kind, data, at, iteration } of events) {
    const before = reached;
    const t = since(at);
    reached = t;
    const text = (key: string) => String(data[key] ?? '');
    const instant = (of: Span['kind'], title: string, bad = false) =>
      spans.push({ kind: of, title, start: t, end: t, bad });
    switch (kind) {
      case 'llm_started':
        finish('limit', t);
        begin(text('call_id'), { kind: 'model', title: `Model call ${iteration}`, start: t, callId: text('call_id') });
        break;
      case 'llm_completed': {
        const seq = Number(data['seq']);
        const note = usageNote(data['usage'] as Record<string, number> | undefined);
        const begun = lost.get(text('call_id'));
        // the answer was already stored when the worker died
        if (!finish(text('call_id'), t, { seq, note }) && begun) Object.assign(begun, { kind: 'model', seq, note });
        break;
      }
      case 'worker_lost': {
        const seen = Math.min(t, Math.max(before, data['last_seen_at'] ? since(text('last_seen_at')) : t));
        const unknown = new Set((data['tool_call_ids'] ?? []) as string[]);
        const note = `noticed ${((t - seen) / 1000).toFixed(1)} s later`;
        spans.push({ kind: 'down', title: 'Worker died', start: seen, end: t, note });
        for (const [key, span] of [...open]) {
          const { kind, title } = span;
          if (kind === 'tool' ? !unknown.has(key.slice('tool '.length)) : kind !== 'model') continue;
          finish(key, seen, { kind: 'lost', note: 'the worker died here' });
          // a repeated model call has a separate event
          if (kind === 'tool') begin(key, { kind, title, start: t });
          else lost.set(key, span);
        }
        break;
      }
      case 'llm_lost':
        // after a release: the worker was stopped
        finish(text('call_id'), t, { kind: 'lost', note: 'lost with its worker' });
        break;
      case 'run_delayed':
        drop();
        begin('limit', { kind: 'queue', title: limitWait(data), start: t });
        break;
      case 'limit_reached':
        if (data['ends']) drop();
        instant('input', data['limit'] ? `Limit ${text('limit')} reached` : 'Budget reached');
        break;
      case 'llm_retry':
        failCalls(t, 'failed, retried');
        break;
      case 'tool_started':
        begin(`tool ${text('tool_call_id')}`, { kind: 'tool', title: text('tool_name'), start: t });
        break;
      case 'tool_completed': {
        const took = Number(data['duration_ms'] ?? 0);
        const status = text('status');
        const attempts = Number(data['attempts'] ?? 1);
        const note = [status === 'ok' ? '' : status, attempts > 1 ? `${attempts} attempts` : '']
          .filter(Boolean)
          .join(', ');
        const more = { seq: Number(data['seq']), bad: status !== 'ok', ...(note ? { note } : {}) };
        const key = `tool ${text('tool_call_id')}`;
        const begun = open.get(key);
        // A round is committed as a whole, so each tool reports its own duration.
        const end = begun && took > 0 ? Math.min(t, begun.start + took) : t;
        if (!finish(key, end, more))
          spans.push({ kind: 'tool', title: text('tool_name'), start: Math.max(0, t - took), end: t, ...more });
        break;
      }
      case 'approval_requested':
        begin(`approval ${text('round')}.${text('index')}`, {
          kind: 'approval',
          title: `Approval of ${text('tool_name')}`,
          start: t,
        });
        break;
      case 'approval_decided':
        finish(`approval ${text('round')}.${text('index')}`, t, {
          bad: text('decision') === 'denied',
          note: [text('decision'), data['by'] ? `by ${text('by')}` : ''].filter(Boolean).join(' '),
        });
        break;
      case 'input_injected':
        instant('input', 'Input reached the model');
        break;
      case 'request_completed':
      case 'request_failed':
      case 'request_cancelled':
        if (kind === 'request_failed') failCalls(t, 'failed');
        if (kind === 'request_failed') instant('end', 'Failed', true);
        else instant('end', kind === 'request_completed' ? 'Completed' : 'Cancelled');
        break;
    }
  }
  const last = run.finished_at ? since(run.finished_at) : Math.max(0, now - zero);
  for (const span of open.values()) span.end = Math.max(span.start, last);
  return { spans, total: Math.max(1, last, ...spans.map(({ end }) => end)) };
}

const limitWait = ({ limit }: { limit?: unknown }): string => `Wait for the limit ${String(limit)}`;

const usageNote = (usage: Record<string, number> | undefined): string =>
  usage ? `${usage['input_tokens']} in, ${usage['output_tokens']} out` : '';
