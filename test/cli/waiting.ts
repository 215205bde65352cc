import { agentTool, defineAgent, defineTool, waitFor, type Lanefold, type RunHandle } from 'lanefold';
import { expect } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { callCli } from './call-cli.ts';
import type { CliResult } from './cli.ts';

const awaitEvent = defineTool({
  name: 'await_event',
  input: z.object({ event: z.string() }),
  execute: ({ event }) => waitFor(event, { timeoutMs: 86_400_000 }),
});
/** The call that waits for an event, as a turn of a script. */
export const on = (event: string) => ({ tool: 'await_event', args: { event } });

const clerk = defineAgent({
  name: 'clerk',
  model: `scripted:${JSON.stringify([on('signed'), 'done'])}`,
  tools: [awaitEvent],
});
const lead = defineAgent({ name: 'lead', model: 'scripted:echo', tools: [awaitEvent, agentTool(clerk)] });

export interface Waiting {
  lanefold: TestLanefold;
  env: Record<string, string>;
  /** The command line on the database of `lanefold`. */
  run(...args: string[]): Promise<CliResult>;
  enqueue(calls: object[], on?: Pick<Lanefold, 'runs'>): Promise<RunHandle>;
  /** Enqueues a run whose calls wait, and resolves when they do. */
  start(calls: object[], on?: Pick<Lanefold, 'runs'>): Promise<RunHandle>;
  /** The results of the calls of a run, once it has ended. */
  results(run: RunHandle): Promise<(string | null)[]>;
}

/** A worker whose agents wait, and the command line beside it. */
export async function startWaiting(): Promise<Waiting> {
  const secret = 'a secret of this test';
  const lanefold = await startLanefold({ agents: [lead, clerk], queuePrefix: 'lf', tokenSecrets: [secret] });
  await lanefold.startWorker();
  const env = { DATABASE_URL: lanefold.database.url, REDIS_URL: '', LANEFOLD_TOKEN_SECRET: secret };
  const enqueue: Waiting['enqueue'] = (calls, { runs } = lanefold) =>
    runs.enqueue({ agent: 'lead', input: 'go', model: `scripted:${JSON.stringify([{ tools: calls }, 'done'])}` });
  return {
    lanefold,
    env,
    enqueue,
    run: (...args) => callCli(args, { env }),
    async start(calls, { runs } = lanefold) {
      const handle = await enqueue(calls, { runs });
      await until('its calls wait', async () => {
        const { status, waits } = await runs.get(handle);
        return status === 'suspended' && waits.length === calls.length;
      });
      return handle;
    },
    async results({ threadId, id }) {
      await lanefold.runs.wait({ threadId, id });
      return (await ledgerOf(lanefold, threadId, id)).map(({ result }) => result);
    },
  };
}

export const told = (text: string) => expect.stringContaining(text) as string;
export const time = expect.stringMatching(/^\d{4}-.*Z$/) as string;
export const rowsOf = (stdout: string): string[][] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));
