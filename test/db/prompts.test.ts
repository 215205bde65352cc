import { describe, expect, test } from 'vitest';
import { newThread, useLog } from './helpers.ts';
import { answer, sqlRun } from './sql-run.ts';

const log = useLog();

let runs = 0;

/** Runs an agent with this prompt to its end; returns the roles and contents its model was given. */
async function runAgent(threadId: string, prompt: string | null, contextRef = 'default'): Promise<[string, string][]> {
  const run = sqlRun(log.db, threadId, `run${++runs}`);
  await run.enqueue({ contextRef, input: 'q' });
  const claim = await run.claim({ prompt });
  await run.commit(0, answer('a'));
  return (claim['context'] as { role: string; content: string }[]).map((m) => [m.role, m.content]);
}

const promptOf = async (threadId: string, contextRef = 'default') =>
  (await log.contexts.project(threadId, { contextRef })).find((row) => row.role === 'system')?.content;

const changes = async (threadId: string) => (await log.threads.entries(threadId, { kind: 'ai_config_change' })).length;

const anchor = (threadId: string, systemPrompt?: string | null, contextRef = 'default') =>
  log.contexts.replace(
    threadId,
    { entries: [], ...(systemPrompt === undefined ? {} : { systemPrompt }) },
    { contextRef },
  );

describe('a thread’s prompt', () => {
  test('is the first entry and applies to every lane', async () => {
    const threadId = await newThread(log, { systemPrompt: 'thread' });
    expect(await log.threads.entries(threadId)).toMatchObject([
      { seq: 0, kind: 'ai_config_change', payload: { field: 'system_prompt', value: 'thread' } },
    ]);
    expect(await runAgent(threadId, 'agent')).toEqual([
      ['system', 'thread'],
      ['user', 'q'],
    ]);
    expect(await runAgent(threadId, 'agent', 'plan')).toEqual([
      ['system', 'thread'],
      ['user', 'q'],
    ]);
    expect(await changes(threadId)).toBe(1);
  });

  test('of null means none, also for agents that have one', async () => {
    const threadId = await newThread(log, { systemPrompt: null });
    expect(await runAgent(threadId, 'agent')).toEqual([['user', 'q']]);
    expect(await changes(threadId)).toBe(1);
  });
});

describe('an agent’s prompt', () => {
  test('is in the log before the user message of its run, once as long as it stays', async () => {
    const threadId = await newThread(log);
    expect(await runAgent(threadId, 'one')).toEqual([
      ['system', 'one'],
      ['user', 'q'],
    ]);
    expect((await log.threads.entries(threadId)).map((e) => e.role ?? e.kind)).toEqual([
      'ai_config_change',
      'user',
      'assistant',
    ]);
    await runAgent(threadId, 'one');
    expect(await changes(threadId)).toBe(1);
  });

  test('is replaced by the next agent’s, also by none', async () => {
    const threadId = await newThread(log);
    await runAgent(threadId, 'one');
    expect((await runAgent(threadId, 'two'))[0]).toEqual(['system', 'two']);
    expect((await runAgent(threadId, null))[0]).toEqual(['user', 'q']);
    expect(await changes(threadId)).toBe(3);
    expect((await runAgent(threadId, 'two'))[0]).toEqual(['system', 'two']);
  });

  test('is its lane’s alone', async () => {
    const threadId = await newThread(log);
    await runAgent(threadId, 'one');
    expect(await promptOf(threadId, 'plan')).toBeUndefined();
    expect((await runAgent(threadId, 'two', 'plan'))[0]).toEqual(['system', 'two']);
    expect(await promptOf(threadId)).toBe('one');
  });

  test('of null writes nothing where there is none', async () => {
    const threadId = await newThread(log);
    expect(await runAgent(threadId, null)).toEqual([['user', 'q']]);
    expect(await changes(threadId)).toBe(0);
  });
});

describe('an anchor', () => {
  test.each([
    ['without the key inherits', undefined, 'thread'],
    ['with a string sets', 'anchor', 'anchor'],
    ['with null removes', null, undefined],
    ['with the empty string sets none', '', undefined],
  ])('%s the prompt, for the next run too', async (_, systemPrompt, expected) => {
    const threadId = await newThread(log, { systemPrompt: 'thread' });
    await anchor(threadId, systemPrompt);
    expect(await promptOf(threadId)).toBe(expected);
    expect((await runAgent(threadId, 'agent')).filter(([role]) => role === 'system')).toEqual(
      expected === undefined ? [] : [['system', expected]],
    );
    expect(await promptOf(threadId, 'plan')).toBe('thread');
  });

  test('without the key inherits what an earlier anchor set or removed', async () => {
    const threadId = await newThread(log, { systemPrompt: 'thread' });
    await anchor(threadId, 'anchor');
    await anchor(threadId);
    expect(await promptOf(threadId)).toBe('anchor');
    await anchor(threadId, null);
    await anchor(threadId);
    expect(await promptOf(threadId)).toBeUndefined();
    expect((await runAgent(threadId, 'agent'))[0]).toEqual(['user', 'q']);
  });

  test('without the key on a fresh lane leaves room for the agent’s', async () => {
    const threadId = await newThread(log);
    await anchor(threadId);
    expect((await runAgent(threadId, 'agent'))[0]).toEqual(['system', 'agent']);
    await anchor(threadId);
    expect((await runAgent(threadId, 'next'))[0]).toEqual(['system', 'next']);
  });

  test('that set a prompt keeps agents from replacing it', async () => {
    const threadId = await newThread(log);
    await runAgent(threadId, 'one');
    await anchor(threadId, 'pinned');
    expect((await runAgent(threadId, 'two'))[0]).toEqual(['system', 'pinned']);
  });
});

test('a claim by a worker that does not know the agent leaves the lane its prompt', async () => {
  const threadId = await newThread(log);
  await runAgent(threadId, 'from the agent');
  const run = sqlRun(log.db, threadId, `run${++runs}`);
  await run.enqueue();
  const before = await changes(threadId);
  await run.claim({ knowsAgent: false });
  expect([await changes(threadId), await promptOf(threadId)]).toEqual([before, 'from the agent']);
  await run.finish({ status: 'failed', reason: 'error' });
});
