import { randomOf, type Random } from '../schedule.ts';
import { type Client, persist } from './journal.ts';
import { converse, runCustom, type CustomWorkload } from './conversation.ts';
import { haveLimitedRuns, haveOddRuns, haveSchedules } from './features.ts';
import { builtInAgent } from './tools.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import { delay } from '../../../base/common/timer.ts';

interface Workload {
  seed: number;
  /** Concurrent conversations. */
  concurrency: number;
  custom?: CustomWorkload | undefined;
}

/** Limits the runs of a built-in thread, so that contexts stay short. */
const runsPerThread = 5;

/**
 * Has conversations, one after the other in each slot until `stopping` aborts, beside runs with strict limits, of a provider
 * with odd answers and of schedules; and people who decide until the client's
 * signal does. Resolves when every conversation has ended; rejects if one fails, or if people can no longer decide.
 */
export async function haveConversations(client: Client, workload: Workload, stopping: AbortSignal): Promise<void> {
  const { seed, concurrency, custom } = workload;
  if (!custom) await setLimits(client, concurrency);
  const slots = Array.from({ length: concurrency }, async (_, slot) => {
    const random = randomOf(seed, `conversation ${slot}`);
    const pauses = randomOf(seed, `pauses ${slot}`);
    for (let n = 0; !stopping.aborted; n++) {
      if (custom) await runCustom(client, `chaos-${slot}-${n}`, custom);
      else await converse(client, `chaos-${slot}-${Math.floor(n / runsPerThread)}`, `${slot}.${n}`, random, pauses);
    }
  });
  const others = custom
    ? []
    : [
        haveLimitedRuns(client, randomOf(seed, 'limited'), stopping),
        ...[0, 1].map((slot) => haveOddRuns(client, slot, stopping)),
        haveSchedules(client, stopping),
      ];
  const conversations = Promise.all([...slots, ...others]);
  const people = custom ? undefined : decide(client, randomOf(seed, 'people'));
  await Promise.race([conversations, ...(people ? [people.then(() => conversations)] : [])]);
}

/**
 * Limits that some runs have to wait for: slots for two thirds of the conversations, and a rate of model calls that
 * bursts exceed, both of the built-in agent. Tokens are reserved and settled, and starts are counted, without a delay.
 */
async function setLimits({ lanefold: { limits }, signal }: Client, concurrency: number): Promise<void> {
  const scope = { agent: builtInAgent };
  const slots = Math.max(2, Math.ceil((concurrency * 2) / 3));
  await persist(() => limits.set('slots', { kind: 'concurrency', scope, amount: slots }), signal);
  await persist(() => limits.set('calls', { kind: 'requests', scope, amount: 5 * concurrency, per: 'second' }), signal);
  await persist(() => limits.set('tokens', { kind: 'tokens', amount: 1e12, per: 'hour' }), signal);
  await persist(() => limits.set('starts', { kind: 'runs', amount: 1e12, calendar: 'month' }), signal);
}

/**
 * People who decide on every call that waits for approval. For some calls two of them decide at the same time, and
 * disagree: the first decision counts.
 */
export async function decide({ lanefold, signal }: Client, random: Random): Promise<void> {
  const { approvals, runs } = lanefold;
  while (!signal.aborted) {
    const { data } = await persist(() => approvals.list({ limit: 50 }), signal);
    const decisions = data.flatMap(({ threadId, runId, call }) => {
      const run = { threadId, id: runId };
      const approve = () => runs.approve(run, call, { by: 'ann' });
      const deny = () => runs.deny(run, call, { by: 'bob', reason: 'No.' });
      if (random.chance(0.3)) return [approve, deny];
      return [random.chance(0.7) ? approve : deny];
    });
    await Promise.all(decisions.map((decision) => persist(decision, signal).catch(ignoreLate)));
    await delay(random.int(50, 300), { signal }).catch(() => {});
  }
}

/** Another person decided first, or the run has ended or been cancelled meanwhile. */
function ignoreLate(error: unknown): void {
  if (!isLanefoldError(error, 'already_decided') && !isLanefoldError(error, 'not_awaiting_approval')) throw error;
}
