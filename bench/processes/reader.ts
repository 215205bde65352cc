/** A process that reads the streams of many runs, and records how late each event arrives. */
import { createLanefold, type RunRef } from 'lanefold';
import { givenOptions, serve } from '../support/serve.ts';

export interface ReaderReport {
  /** From the time of each event to its arrival, in milliseconds. */
  delays: number[];
  cpuMs: number;
}

const { databaseUrl } = givenOptions<{ databaseUrl: string }>();
const lanefold = await createLanefold({ databaseUrl, redisUrl: null, queuePrefix: 'streams' });
const delays: number[] = [];
let reading: Promise<void>[] = [];
let spent = process.cpuUsage();

async function read(run: RunRef, openedAt: number): Promise<void> {
  for await (const item of lanefold.runs.stream(run)) {
    if (item.type === 'event' && item.event.at.getTime() > openedAt) delays.push(Date.now() - item.event.at.getTime());
  }
}

serve({
  open({ runs }: { runs: RunRef[] }) {
    const openedAt = Date.now();
    delays.length = 0;
    reading = runs.map((run) => read(run, openedAt));
    spent = process.cpuUsage();
  },
  /** Answers when all streams have ended. */
  async report(): Promise<ReaderReport> {
    await Promise.all(reading);
    const { user, system } = process.cpuUsage(spent);
    return { delays, cpuMs: (user + system) / 1_000 };
  },
  stop: () => lanefold.close(),
});
