import { headersOf } from '../provider/models.ts';
import type { Random } from '../random.ts';
import { waitForEnd, type Client } from './client.ts';
import { persist } from './persist.ts';

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
