// @module-tag slow
import { MemorySession, type AgentInputItem, type Session } from '@openai/agents-core';
import fc from 'fast-check';
import { isLanefoldError } from 'lanefold';
import { LanefoldSession } from 'lanefold/openai-agents';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { laneView } from '../../src/runs/formats/mirror/lane-view.ts';
import { turnsOf } from '../../src/doors/openai-agents/items.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { cases } from '../support/cases.ts';
import { steps, type Step } from './arbitraries.ts';

let lanefold: TestLanefold;
beforeAll(async () => void (lanefold = await startLanefold()));
afterAll(() => lanefold?.close());

type Outcome = { value: unknown } | { refused: true };

async function perform(session: MemorySession | LanefoldSession, step: Step): Promise<Outcome> {
  const attempt = async (): Promise<unknown> => {
    switch (step.do) {
      case 'add':
        return session.addItems(step.items);
      case 'pop':
        return session.popItem();
      case 'clear':
        return session.clearSession();
      case 'read':
        return session.getItems(step.limit);
      case 'transact':
        return session.applyHistoryTransaction(step.args);
      case 'replace': {
        const suffix = step.count === 0 ? [] : (await session.getItems()).slice(-step.count);
        const expectedSuffix = step.exact
          ? suffix
          : suffix.map((item) => ({ ...(item as object), more: 1 }) as unknown as AgentInputItem);
        const transaction = { type: 'replace_suffix' as const, expectedSuffix, replacement: step.replacement };
        return session.applyHistoryTransaction({ operationId: step.operationId, transaction });
      }
      case 'reopen':
        return undefined;
    }
  };
  try {
    return { value: await attempt() };
  } catch (error) {
    // ours are typed; those of the SDK are not
    if (session instanceof LanefoldSession && !isLanefoldError(error)) throw error;
    return { refused: true };
  }
}

let sessions = 0;

async function sameAsMemory(sequence: readonly Step[]): Promise<void> {
  const number = sessions++;
  const sessionId = `session-${number}`;
  const model = new MemorySession({ sessionId });
  let real = new LanefoldSession(lanefold, { sessionId });
  for (const step of sequence) {
    if (step.do === 'reopen') real = new LanefoldSession(lanefold, { sessionId });
    const [expected, found] = [await perform(model, step), await perform(real, step)];
    if (!isDeepStrictEqual(found, expected)) expect(found, JSON.stringify(step)).toStrictEqual(expected);
  }
  // every step was compared; the rest of some, because it takes as long as the steps
  if (number % 4 > 0) return;
  const items = await (model as Session).getItems();
  const reread = await new LanefoldSession(lanefold, { sessionId }).getItems();
  if (!isDeepStrictEqual(reread, items)) expect(reread).toStrictEqual(items);
  if (!(await lanefold.threads.peek(sessionId).catch(() => undefined))) return;
  const rows = await lanefold.contexts.project(sessionId, { contextRef: 'openai_agents' });
  const { prompt, messages } = laneView(turnsOf(items));
  expect(rows.map(({ role, content }) => [role, content])).toEqual([
    ...(prompt === null ? [] : [['system', prompt]]),
    ...messages.map(({ role, content }) => [role, content]),
  ]);
}

/** Together, because most of a step is waiting for the database. */
const batch = 50;
const batches = cases(6);

test(`${batch * batches} sequences have the same results as in memory`, { timeout: 1_200_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: batch, maxLength: batch }), (sequences) =>
      Promise.all(sequences.map(sameAsMemory)).then(() => {}),
    ),
    { numRuns: batches, endOnFailure: true },
  );
});
