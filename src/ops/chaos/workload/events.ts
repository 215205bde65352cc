import type { Random } from '../random.ts';
import type { Client, SentEvent } from './client.ts';
import { persist } from './persist.ts';
import { delay } from '../../../base/common/timer.ts';

/** An event that a call of a run waits for, as the client sends it. */
export interface PlannedEvent {
  event: string;
  afterMs: number;
  /** Several may reach the wait at once: the first counts. */
  times: number;
  /** Kept for calls that begin to wait later; otherwise the wait has a time limit. */
  kept: boolean;
}

const keepMs = 3_600_000;

export const planEvent = (random: Random, event: string): PlannedEvent => ({
  event,
  afterMs: random.int(0, 1_500),
  times: random.chance(0.3) ? 2 : 1,
  kept: random.chance(0.7),
});

/** Sends the events that a run waits for. */
export async function sendEvents(client: Client, planned: readonly PlannedEvent[]): Promise<void> {
  await Promise.all(
    planned.map(async ({ event, afterMs, times, kept }) => {
      await delay(afterMs);
      await Promise.all(Array.from({ length: times }, (_, n) => send(client, event, { n }, kept)));
    }),
  );
}

async function send({ lanefold, acknowledged, signal }: Client, event: string, payload: object, kept: boolean) {
  const sent: SentEvent = { event, content: JSON.stringify(payload), released: null };
  acknowledged.events.push(sent);
  const receipt = await persist(() => lanefold.events.send(event, payload, kept ? { keepMs } : {}), signal);
  sent.released = receipt.released;
}
