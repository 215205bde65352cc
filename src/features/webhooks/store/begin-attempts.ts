import type { Database } from '../../../database/postgres/pool.ts';
import { overThreads } from '../../../database/store/each-thread.ts';
import type { Attempt, AttemptRef } from './deliveries.ts';
import type { WaitingEvent } from './due-deliveries.ts';
import { groupByThread, writeThreads } from './write-threads.ts';

type Endpoint = Pick<Attempt, 'webhook_id' | 'tenant_id' | 'url' | 'secrets' | 'failures'>;

interface Payload {
  data: Record<string, unknown>;
}

/** An event to be taken from the outbox, and the endpoints whose first attempts begin at once. */
export interface ChosenEvent extends WaitingEvent {
  begin: string[];
}

interface Spread {
  payload: Payload;
  begun: (Endpoint & { id: string; full: boolean })[] | null;
}

/** Takes events from the outbox and begins their first attempts; see `spread_event`. */
export async function spreadEvents(db: Database, events: readonly ChosenEvent[], leaseMs: number): Promise<Attempt[]> {
  if (events.length === 0) return [];
  const given = events.map(({ thread_id, type, key, begin }) => ({ thread_id, type, key, begin }));
  type Row = { thread_id: string; spread: Spread };
  const rows = await overThreads<(typeof given)[number], Row>(db, given, {
    together: () =>
      db.query<Row>(
        'spread_events',
        `select e.thread_id, s.spread from jsonb_to_recordset($1) as e (thread_id text, type text, key text, begin jsonb)
         cross join lateral lanefold.spread_event(e.thread_id, e.type, e.key, e.begin, $2) as s (spread) where s.spread is not null`,
        [JSON.stringify(given), leaseMs],
      ),
    one: ({ thread_id, type, key, begin }) =>
      db.query<Row>(
        'spread_event',
        `select $1::text as thread_id, s.spread from lanefold.spread_event($1, $2, $3, $4, $5) as s (spread) where s.spread is not null`,
        [thread_id, type, key, JSON.stringify(begin), leaseMs],
      ),
  });
  return rows.flatMap(({ thread_id, spread }) => attemptsOf(thread_id, spread));
}

/** The body is written once for all endpoints that get the same. */
function attemptsOf(thread_id: string, { payload, begun }: Spread): Attempt[] {
  const bodies = new Map<boolean, string>();
  const bodyOf = (full: boolean) => {
    const body = bodies.get(full) ?? JSON.stringify(full ? payload : withoutResult(payload));
    bodies.set(full, body);
    return body;
  };
  return (begun ?? []).map(({ full, ...rest }) => ({ ...rest, thread_id, attempt: 1, nth: 1, body: bodyOf(full) }));
}

function withoutResult(payload: Payload): Payload {
  const { result: _, result_bytes: __, ...data } = payload.data;
  return { ...payload, data };
}

/** A due attempt, as it was found. */
export interface FoundAttempt extends AttemptRef {
  /** Whether the last attempt of its endpoint had failed. */
  failing: boolean;
}

/** Begins attempts that are due; see `take_deliveries`. */
export async function takeDeliveries(db: Database, due: readonly FoundAttempt[], leaseMs: number): Promise<Attempt[]> {
  const threads = groupByThread(due, ({ id, attempt, failing }) => ({ id, attempt, failing }));
  const columns = `a.answer -> 'locked' as locked, a.answer -> 'begun' as begun`;
  type Begun = Omit<Attempt, 'thread_id' | 'body'> & { payload: Payload };
  const answers = await writeThreads<{ thread_id: string; locked: string[]; begun: Begun[] | null }>(
    db,
    'take_deliveries',
    threads,
    {
      together: `select t.thread_id, ${columns} from jsonb_to_recordset($1) as t (thread_id text, items jsonb)
        cross join lateral lanefold.take_deliveries(t.thread_id, t.items, $2, false) as a (answer)`,
      one: `select $1::text as thread_id, ${columns} from lanefold.take_deliveries($1, $2, $3, true) as a (answer)`,
      values: [leaseMs],
    },
  );
  return answers.flatMap(({ thread_id, begun }) =>
    (begun ?? []).map(({ payload, ...attempt }) => ({ ...attempt, thread_id, body: JSON.stringify(payload) })),
  );
}
