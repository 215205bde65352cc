import type { Counting } from '../../../agent/models/counting.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readActivity, type Counted, type Fact } from '../../../database/store/activity/read-activity.ts';
import type { Period } from '../../../database/store/activity/slots.ts';
import type { FleetActivity } from '../../../database/store/worker/types.ts';
import { costOf } from '../runs/cost.ts';

const mostHours = 366 * 24;

/** @throws LanefoldError `invalid_input` */
export async function activity(db: Database, counting: Counting, period: Period): Promise<FleetActivity> {
  assertPeriod(period, db.settings.clock.now());
  const found = await readActivity(db.reader, period);
  const slots = await Promise.all(
    groups(found.slots, found.slotFacts, ({ at }) => String(at)).map(async ({ counts, facts }) => ({
      at: counts[0]!.at,
      ...(await totals(counting, counts, facts)),
      unfinished: sum(counts, 'unfinished'),
      waitP50Ms: waitOf(facts, 0.5),
      waitP95Ms: waitOf(facts, 0.95),
    })),
  );
  const agents = await Promise.all(
    groups(found.agents, found.agentFacts, ({ agent, version }) => JSON.stringify([agent, version])).map(
      async ({ counts, facts }) => {
        const { agent, version } = counts[0]!;
        return { agent, version, ...(await totals(counting, counts, facts)) };
      },
    ),
  );
  const { workers, deploys, since, until, slotMinutes } = found;
  return {
    workers,
    errors: errorsOf(found.slotFacts),
    slots,
    agents: agents.toSorted((a, b) => b.runs - a.runs),
    deploys,
    slotMinutes,
    since,
    until,
  };
}

function assertPeriod({ hours, since, ...period }: Period, now: number): void {
  const hint = `Name hours up to ${mostHours}, or a start before the end and at most 366 days apart.`;
  if (since && hours !== undefined)
    throw new LanefoldError('invalid_input', 'Both `hours` and `since` are set.', {
      hint,
      details: { field: 'since' },
    });
  if (!since) return;
  const length = (period.until?.getTime() ?? now) - since.getTime();
  if (length <= 0 || length > mostHours * 3_600_000)
    throw new LanefoldError('invalid_input', 'The period is empty or too long.', { hint, details: { field: 'since' } });
}

interface Group {
  counts: Counted[];
  facts: Fact[];
}

/** What is counted of each slot, or of each version, in the order of the counts. */
function groups(counts: Counted[], facts: Fact[], keyOf: (of: Counted | Fact) => string): Group[] {
  const found = new Map<string, Group>();
  for (const one of counts) {
    const key = keyOf(one);
    const group = found.get(key);
    if (group) group.counts.push(one);
    else found.set(key, { counts: [one], facts: [] });
  }
  for (const one of facts) found.get(keyOf(one))?.facts.push(one);
  return [...found.values()];
}

const sum = (counts: Counted[], name: Exclude<keyof Counted, 'at' | 'agent' | 'version' | 'model'>): number =>
  counts.reduce((total, one) => total + one[name], 0);

async function totals(counting: Counting, counts: Counted[], facts: Fact[]) {
  const { cost, unpricedTokens } = await costOf(
    counting,
    counts.filter(({ inputTokens, outputTokens }) => inputTokens + outputTokens > 0),
  );
  return {
    runs: sum(counts, 'runs'),
    failed: sum(counts, 'failed'),
    unanswered: sum(counts, 'unanswered'),
    inputTokens: sum(counts, 'inputTokens'),
    outputTokens: sum(counts, 'outputTokens'),
    cachedTokens: sum(counts, 'cachedTokens'),
    cost: cost ?? 0,
    unpricedTokens,
    marks: facts
      .filter(({ fact }) => fact === 'mark')
      .map(({ value: mark, runs }) => ({ mark, runs }))
      .toSorted((a, b) => b.runs - a.runs || (a.mark < b.mark ? -1 : 1)),
  };
}

function errorsOf(facts: Fact[]): FleetActivity['errors'] {
  const found = new Map<string, FleetActivity['errors'][number]>();
  for (const { fact, value: type, runs, lastAt } of facts) {
    if (fact !== 'error') continue;
    const known = found.get(type);
    if (!known) found.set(type, { type, runs, lastAt });
    else {
      known.runs += runs;
      if (lastAt > known.lastAt) known.lastAt = lastAt;
    }
  }
  return [...found.values()].toSorted((a, b) => b.runs - a.runs || (a.type < b.type ? -1 : 1));
}

/** How long this share of the runs waited at most: as if those of a step were spread over it evenly. */
export function waitOf(facts: Pick<Fact, 'fact' | 'value' | 'runs'>[], share: number): number | null {
  const steps = facts
    .filter(({ fact }) => fact === 'wait')
    .map(({ value, runs }) => ({ upTo: Number(value), runs }))
    .toSorted((a, b) => a.upTo - b.upTo);
  let left = share * steps.reduce((total, { runs }) => total + runs, 0);
  for (const { upTo, runs } of steps) {
    if (left <= runs) return Math.round(upTo * (1 - (1 - left / runs) * (1 - Math.SQRT1_2)));
    left -= runs;
  }
  return null;
}
