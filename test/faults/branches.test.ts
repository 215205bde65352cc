// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { patient, startHarness, type FaultHarness } from './harness.ts';

describe('a process that dies with a branch', () => {
  let harness: FaultHarness;
  beforeAll(async () => {
    harness = await startHarness();
    harness.callServer.respond = ({ userMessages }) => ({ text: `Answer to ${userMessages}.` });
  });
  afterAll(() => harness?.close());

  /** A thread with an answered question, whose branch is asked for in a process that dies. */
  async function crash(threadId: string, how: object, again: boolean) {
    const worker = await harness.startWorker(patient);
    await harness.runs.wait(
      await harness.runs.enqueue({ agent: 'fault', input: threadId, threadId, createThread: true }),
    );
    await worker.stop();
    const [question] = (await harness.threads.tree(threadId)).data;
    const options = {
      agent: 'fault',
      opId: 'change',
      ...(again ? { afterSeq: question!.seq } : { afterSeq: -1, input: threadId }),
    };
    const child = await harness.spawnWorker({ ...how, branches: { threadId, options } });
    await until('the process is dead', () => child.exited);
    expect(child.process.signalCode).toBe('SIGKILL');
    await harness.quiet();
    return options;
  }

  test.each([
    ['dieBefore', 'branch:1', true],
    ['dieAfter', 'branch:1', true],
    ['dieAfter', 'branch:1', false],
    // of the run on the branch, which its process has taken at once or as a job
    ['dieBefore', 'commit_step:1', true],
    ['dieAfter', 'commit_step:1', false],
  ] as const)('%s %s: repeated, the request has one branch, one run and one answer', async (how, statement, again) => {
    const threadId = `${how}-${statement.split(':')[0]}-${again}`;
    const options = await crash(threadId, { [how]: statement }, again);
    const made = await harness.threads.branch(threadId, options);
    expect(made).toMatchObject({ contextRef: 'default@2', shown: true });
    await harness.expireLease(threadId);
    await harness.replaceJobs();
    const worker = await harness.startWorker(patient);
    expect(await harness.runs.wait(made.run!)).toMatchObject({ status: 'completed' });
    await worker.stop();
    expect(await harness.threads.branches(threadId)).toHaveLength(2);
    expect((await harness.runs.list({ threadId })).data).toHaveLength(2);
    const { data } = await harness.threads.tree(threadId);
    expect(data.map(({ role, place, siblings }) => `${role} ${place}/${siblings}`)).toEqual(
      again
        ? ['user 1/1', 'assistant 1/2', 'assistant 2/2']
        : ['user 1/2', 'assistant 1/1', 'user 2/2', 'assistant 1/1'],
    );
    await expectSound(harness, threadId);
  });
});
