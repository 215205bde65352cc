import type { Observer } from './observer.ts';

/** How often a campaign used what most runs do without. */
export interface Exercised {
  /** Completed runs by strategy, other than `react`; where no check failed, each has the expected result. */
  strategies: Record<string, number>;
  /** Runs that a tool call of another run started. */
  sub_agents: number;
  handoffs: number;
  decisions: number;
  forks: number;
  /** Times that a run which had started waited for a limit. */
  delays: number;
  /** Calls of runs with strict limits. */
  limited_calls: number;
  odd_answers: number;
  /** Slots of schedules that started a run. */
  slots: number;
  /** Waits of calls for an event or a time that ended. */
  waits: number;
  /** Events that a webhook got, and requests that it did not answer as it should. */
  webhook_events: number;
  webhook_failures: number;
}

export async function readExercised(observer: Observer): Promise<Exercised> {
  const strategies = await observer.query<{ strategy: string; count: number }>(
    `select r.strategy, count(*)::int from history.strategy_run s join lanefold.run r on r.thread_id = s.thread_id and r.id = s.run_id
     where r.status = 'completed' group by 1 order by 1`,
  );
  const [counts] = await observer.query<Omit<Exercised, 'strategies'>>(
    `select (select count(*)::int from lanefold._child_run) as sub_agents,
       count(*) filter (where kind = 'handed_over')::int as handoffs,
       count(*) filter (where kind = 'approval_decided')::int as decisions,
       (select count(*)::int from lanefold.thread where parent_thread_id is not null) as forks,
       count(*) filter (where kind = 'run_delayed')::int as delays,
       (select count(*)::int from history.limited_call) as limited_calls,
       (select count(odd)::int from history.provider_call) as odd_answers,
       (select count(*)::int from lanefold.schedule_slot where status = 'fired') as slots,
       (select count(*)::int from lanefold.run_wait where kind in ('event', 'time') and status in ('resolved', 'expired')) as waits,
       (select count(distinct id)::int from history.webhook_request where accepted) as webhook_events,
       (select count(*)::int from history.webhook_request where not accepted) as webhook_failures
     from lanefold.run_event where kind in ('handed_over', 'approval_decided', 'run_delayed')`,
  );
  return { strategies: Object.fromEntries(strategies.map(({ strategy, count }) => [strategy, count])), ...counts! };
}
