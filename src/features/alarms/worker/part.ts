import { CoalescedPoll } from '../../../base/common/timer.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { countSelected, newestRuns } from '../../../database/store/run/select-runs.ts';
import type { StartPart } from '../../../worker/part.ts';
import { dropCounts, settleAlarm, takeAlarms, type Counted, type TakenAlarm } from '../store/alarms.ts';

/** After this, another worker counts for an alarm that a dead one had taken. */
const holdMs = 30_000;
/** How many alarms a look takes: further ones are for the next look, or for other workers. */
const mostAlarms = 4;
/** How many runs of an alarm its event names. */
const named = 5;
const keptDays = 7;
const batch = 1_000;
const mostBatches = 20;

/** Counts for alarms. Without alarms it costs one small query per sweep. */
export const alarmsPart =
  (scopeTo: (tenant: string) => Database): StartPart =>
  ({ db, privatePrefix, sweepMs, onError }) => {
    const cleanup = [{ everyMs: 600_000, work: () => dropOldCounts(db) }];
    // as the webhooks that are told, they are the business of shared workers
    if (privatePrefix !== null) return { sweeps: cleanup };
    const poll = new CoalescedPoll(async (stopping) => {
      for (let more = true; more && !stopping();) {
        const taken = await takeAlarms(db, holdMs, mostAlarms);
        for (const alarm of taken) await settle(db, scopeTo(alarm.tenant), alarm, sweepMs).catch(onError);
        more = taken.length === mostAlarms;
      }
    }, onError);
    return { sweeps: [{ work: () => poll.poll() }, ...cleanup], close: () => poll.close() };
  };

/** @param own the connections of its tenant, which show its runs alone */
async function settle(db: Database, own: Database, alarm: TakenAlarm, sweepMs: number): Promise<void> {
  await settleAlarm(db, alarm, await count(own.lists, alarm), sweepMs);
}

async function count(db: Database, { filter, share, from }: TakenAlarm): Promise<Counted> {
  const matching = { ...filter, createdAfter: from };
  const runs = await countSelected(db, matching);
  const allRuns = share === null ? null : await countSelected(db, { ...ofAgent(filter), createdAfter: from });
  return { runs, allRuns, newest: runs === 0 ? [] : await newestRuns(db, matching, named) };
}

/** What tells which runs there are, rather than what has become of them. */
const kindOfRun = new Set(['agent', 'version', 'model', 'children', 'metadata', 'text']);

const ofAgent = (filter: TakenAlarm['filter']): TakenAlarm['filter'] =>
  Object.fromEntries(Object.entries(filter).filter(([field]) => kindOfRun.has(field)));

async function dropOldCounts(db: Database): Promise<void> {
  for (let no = 0; no < mostBatches; no++) if ((await dropCounts(db, keptDays, batch)) < batch) return;
}
