import type { ScheduleDefinition } from '../../../features/schedules/definition/definition.ts';
import type { Client, KnownSchedule } from './client.ts';
import { persist } from './persist.ts';
import { onAbort } from '../../../base/common/on-abort.ts';

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
