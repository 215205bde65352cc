import { headersOf } from '../provider.ts';
import type { Random } from '../schedule.ts';
import { waitForEnd, type Client, persist, type KnownSchedule } from './journal.ts';
import type { ScheduleDefinition } from '../../../features/schedules/types.ts';
import { onAbort } from '../../../base/common/timer.ts';
import type { Receiver } from '../services/receiver.ts';

export const limitedAgent = 'chaos-limited';

/** The limits of the limited agent. Calls and tokens both refuse, and so do slots. */
export const strictLimits = [
  { name: 'strict-calls', kind: 'requests', amount: 20, perMs: 2_000 },
  { name: 'strict-tokens', kind: 'tokens', amount: 3_400, perMs: 2_000 },
  { name: 'strict-slots', kind: 'concurrency', amount: 6, perMs: null },
] as const;

/** For a rush: a limit lets one call pass in each interval. */
const narrow = { 'strict-calls': 1, 'strict-tokens': 320 };
/** More runs than a process looks at at once. */
const rushSize = 80;

/**
 * Runs of an agent with three limits: a rush of runs while the limits are narrow, so that many wait for each of them, and
 * then a few at once for as long as the campaign lasts.
 */
export async function haveLimitedRuns(client: Client, random: Random, stopping: AbortSignal): Promise<void> {
  const run = async (name: string) => {
    const threadId = `chaos-limited-${name}`;
    const request = {
      agent: limitedAgent,
      input: `Do ${name}.`,
      threadId,
      createThread: true,
      headers: headersOf(threadId),
    };
    const { lanefold, acknowledged, signal } = client;
    const { id } = await persist(() => lanefold.runs.enqueue({ ...request, requestId: threadId }), signal);
    acknowledged.runs.push({ threadId, id });
    return { threadId, id };
  };
  const together = (label: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => run(`${label}.${i}`)));
  await setStrictLimits(client, { 'strict-calls': narrow['strict-calls'] });
  const first = await together('first', rushSize);
  await setStrictLimits(client, narrow);
  const second = await together('second', rushSize);
  await setStrictLimits(client, {});
  await waitForEnd(client, [...first, ...second]);
  for (let n = 0; !stopping.aborted; n++) await waitForEnd(client, await together(`${n}`, random.int(4, 12)));
}

/** @param amounts other amounts, by name */
export async function setStrictLimits(
  { lanefold, signal }: Pick<Client, 'lanefold' | 'signal'>,
  amounts: Partial<Record<string, number>>,
): Promise<void> {
  for (const { name, kind, amount, perMs } of strictLimits) {
    const interval = perMs === null ? {} : { per: perMs };
    const limit = { kind, scope: { agent: limitedAgent }, amount: amounts[name] ?? amount, ...interval };
    await persist(() => lanefold.limits.set(name, limit), signal);
  }
}

export const oddAgent = 'chaos-odd';
/** Later calls get what was odd before as part of their context. */
const runsPerThread = 4;

/** Runs whose provider gives odd answers, one after the other. They may fail, but they end. */
export async function haveOddRuns(client: Client, slot: number, stopping: AbortSignal): Promise<void> {
  const { lanefold, acknowledged, signal } = client;
  for (let n = 0; !stopping.aborted; n++) {
    const threadId = `chaos-odd-${slot}-${Math.floor(n / runsPerThread)}`;
    const request = {
      agent: oddAgent,
      input: `Do odd ${n}.`,
      threadId,
      createThread: true,
      headers: headersOf(threadId),
    };
    const { id } = await persist(() => lanefold.runs.enqueue({ ...request, requestId: `${threadId}.${n}` }), signal);
    acknowledged.runs.push({ threadId, id });
    await waitForEnd(client, [{ threadId, id }]);
  }
}

export const scheduledAgent = 'chaos-scheduled';

const common = { agent: scheduledAgent, input: 'It is {{slot}}.' };
const definitions: Record<string, ScheduleDefinition & { everyMs: number }> = {
  'chaos-queued': { ...common, everyMs: 3_000, overlap: 'queue', catchUp: 'all' },
  'chaos-one-thread': { ...common, everyMs: 4_000, overlap: 'queue', catchUp: 'all', threadId: 'chaos-scheduled' },
  'chaos-skipping': { ...common, everyMs: 2_000, overlap: 'skip', jitterMs: 300 },
  'chaos-interrupting': { ...common, everyMs: 5_000, overlap: 'interrupt' },
};

/** Sets schedules, and pauses them when the campaign stops. */
export async function haveSchedules(client: Client, stopping: AbortSignal): Promise<void> {
  const { lanefold, acknowledged, signal } = client;
  const known: KnownSchedule[] = [];
  for (const [name, definition] of Object.entries(definitions)) {
    await persist(() => lanefold.schedules.set(name, definition), signal);
    known.push({ name, everyMs: definition.everyMs, setAt: Date.now(), lastSlot: 0 });
  }
  await new Promise<void>((resolve) => onAbort(stopping, resolve));
  for (const schedule of known) {
    // slots that no worker has seen when it is paused are not listed one by one
    const { data } = await persist(() => lanefold.schedules.slots(schedule.name, { limit: 1 }), signal);
    await persist(() => lanefold.schedules.pause(schedule.name), signal);
    const complete = definitions[schedule.name]!.catchUp === 'all';
    acknowledged.schedules.push({ ...schedule, lastSlot: complete ? (data[0]?.slot.getTime() ?? 0) : 0 });
  }
}

/** One whose events of a thread come one after the other, and one whose do not. */
export const webhooks = [
  { name: 'chaos-plain', ordered: false },
  { name: 'chaos-ordered', ordered: true },
] as const;

/** Sets the webhooks, before there are runs that they could miss. */
export async function setWebhooks({ lanefold, signal }: Client, receiver: Receiver): Promise<void> {
  const types = ['run.completed' as const, 'run.failed' as const, 'run.cancelled' as const];
  for (const { name, ordered } of webhooks) {
    const url = `${receiver.url}/${name}`;
    const { secret } = await persist(() => lanefold.webhooks.set(name, { url, types, ordered }), signal);
    // the answer with the secret of a new webhook may have been lost
    const known = secret ?? (await persist(() => lanefold.webhooks.rotate(name), signal)).secret;
    receiver.trust(name, known);
  }
}

/** Sends what waits for another attempt at once, which may be hours away. */
export async function hurryWebhooks({ lanefold, signal }: Client): Promise<void> {
  for (const { name } of webhooks) {
    const waiting = await persist(() => lanefold.webhooks.deliveries(name, { status: 'pending', limit: 200 }), signal);
    const later = waiting.filter(
      ({ nextAt, attempts }) => attempts > 0 && nextAt && nextAt.getTime() > Date.now() + 1_000,
    );
    for (const { id } of later) await persist(() => lanefold.webhooks.redeliver(name, { id }), signal);
  }
}
