import { createLanefold } from 'lanefold';
import { stopSignal } from '../stop.ts';
import agents from './agents.ts';

const lanefold = await createLanefold({
  agents,
  migrate: true,
  schedules: {
    report: {
      agent: 'reporter',
      input: 'Write the report of {{date}}. The one before it was for {{previous}}.',
      cron: process.argv[2] ?? '0 2 * * *',
      timeZone: 'Europe/Berlin',
      // if no worker ran at two, the report is written when one starts
      catchUp: 'one',
    },
  },
});
await lanefold.startWorker({
  async onRunEnd({ threadId, runId, status }) {
    const { result } = await lanefold.runs.get({ threadId, id: runId });
    console.log(`${status} ${threadId}: ${result ?? 'no report'}`);
  },
});
const { next } = await lanefold.schedules.get('report');
console.log(`next reports: ${next.map((slot) => slot.toISOString()).join(', ')}`);

await stopSignal();
await lanefold.close();
