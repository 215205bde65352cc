import fc from 'fast-check';
import { expect } from 'vitest';
import type { NewContext } from '../../src/runs/operations/contexts/types.ts';
import type { NewEntry } from '../../src/runs/operations/threads/append.ts';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { anyJson, anyText, closedMessages } from './arbitraries.ts';
import { logOf, refused, value, type TestLog } from './helpers.ts';
import { answer, asks, results, sqlRun } from './sql-run.ts';

export const lanes = ['default', 'plan', 'research'];

type Messages = JsonObject[];

export type Action =
  | { do: 'append'; lane: string; messages: Messages }
  | { do: 'replace'; lane: string; prompt: string | null | undefined; messages: Messages }
  | { do: 'switch'; lane: string }
  | { do: 'note'; lane: string | undefined; payload: JsonObject }
  | { do: 'branch'; at: number; lane: string | undefined; asks: 'nothing' | 'anew' | 'again' }
  | { do: 'refused'; lane: string; messages: Messages }
  | {
      do: 'run';
      lane: string;
      prompt: string | null;
      tools: number;
      end: 'answer' | 'fail' | 'fail in tools' | 'restore' | 'cancel';
      deferred: string | undefined;
    };

const lane = fc.constantFrom(...lanes);

/** A random life of a thread, with every way an entry can come into a log. */
export const history = fc.record({
  prompt: fc.constantFrom(undefined, null, 'You are the thread.'),
  actions: fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('append' as const), lane, messages: closedMessages }),
      fc.record({
        do: fc.constant('replace' as const),
        lane,
        prompt: fc.constantFrom(undefined, undefined, null, '', 'You are the anchor.'),
        messages: closedMessages,
      }),
      fc.record({ do: fc.constant('switch' as const), lane }),
      fc.record({
        do: fc.constant('note' as const),
        lane: fc.option(lane, { nil: undefined }),
        payload: fc.dictionary(anyText, anyJson, { maxKeys: 2 }),
      }),
      fc.record({
        do: fc.constant('branch' as const),
        at: fc.nat(1_000),
        lane: fc.option(lane, { nil: undefined }),
        asks: fc.constantFrom('nothing' as const, 'anew' as const, 'again' as const),
      }),
      fc.record({ do: fc.constant('refused' as const), lane, messages: closedMessages }),
      fc.record({
        do: fc.constant('run' as const),
        lane,
        prompt: fc.constantFrom(null, 'You are one agent.', 'You are another agent.'),
        tools: fc.nat(2),
        end: fc.constantFrom(
          'answer' as const,
          'fail' as const,
          'fail in tools' as const,
          'restore' as const,
          'cancel' as const,
        ),
        deferred: fc.option(lane, { nil: undefined }),
      }),
    ),
    { minLength: 1, maxLength: 8 },
  ),
});

const toEntry = (contextRef: string) => (message: JsonObject) => ({ contextRef, message }) as unknown as NewEntry;

const toContext = (entries: Messages, systemPrompt?: string | null): NewContext =>
  ({ entries, ...(systemPrompt === undefined ? {} : { systemPrompt }) }) as unknown as NewContext;

let runs = 0;

/** Carries an action out on a thread without an active run. */
export async function play(log: TestLog, threadId: string, action: Action): Promise<void> {
  switch (action.do) {
    case 'append':
      await log.threads.append(threadId, action.messages.map(toEntry(action.lane)));
      return;
    case 'replace':
      await log.contexts.replace(threadId, toContext(action.messages, action.prompt), { contextRef: action.lane });
      return;
    case 'switch':
      await log.contexts.switch(threadId, action.lane);
      return;
    case 'note':
      await log.threads.append(threadId, [
        { kind: 'note', payload: action.payload, ...(action.lane ? { contextRef: action.lane } : {}) },
      ]);
      return;
    case 'branch':
      return playBranch(log, threadId, action);
    case 'refused': {
      const before = await logOf(log.db, threadId);
      const orphan = [...action.messages, { role: 'tool', content: 'x', tool_call_id: 'nobody asked' }];
      await refused(log.threads.append(threadId, orphan.map(toEntry(action.lane))), 'open_tool_group');
      await refused(log.contexts.replace(threadId, toContext(orphan), { contextRef: action.lane }), 'open_tool_group');
      expect(await logOf(log.db, threadId)).toEqual(before);
      return;
    }
    case 'run':
      await playRun(log, threadId, action);
  }
}

/** Branches after any entry; inside a tool group, and after what is no question, it is refused. */
async function playBranch(log: TestLog, threadId: string, { at, lane, asks }: Extract<Action, { do: 'branch' }>) {
  const before = await logOf(log.db, threadId);
  const known =
    lane !== undefined && (await log.contexts.lanes(threadId)).some(({ contextRef }) => contextRef === lane);
  const id = `run${++runs}`;
  const input = asks === 'anew' ? { input: { content: 'anew' } } : {};
  const run = {
    run_id: id,
    request_id: id,
    request_hash: 'aa',
    agent: 'agent',
    strategy: 'react',
    model: 'scripted:x',
  };
  const p = {
    op_id: id,
    hash: 'aa',
    after_seq: (at % (before.length + 1)) - 1,
    ...(known ? { context_ref: lane } : {}),
    ...(asks === 'nothing' ? {} : { run: { ...run, ...input } }),
  };
  try {
    await value(log.db, 'select lanefold.branch($1, $2)', threadId, p);
  } catch (error) {
    expect(['open_tool_group', 'invalid_input']).toContain((error as { code: string }).code);
    expect(await logOf(log.db, threadId)).toEqual(before);
    return;
  }
  if (asks === 'nothing') return;
  const accepted = sqlRun(log.db, threadId, id);
  await accepted.claim();
  await accepted.commit(0, answer('done'));
}

async function playRun(log: TestLog, threadId: string, action: Extract<Action, { do: 'run' }>): Promise<void> {
  const run = sqlRun(log.db, threadId, `run${++runs}`);
  await run.enqueue({
    contextRef: action.lane,
    ...(action.end === 'restore' ? { options: { on_failure: 'rewind' } } : {}),
  });
  await run.claim({ prompt: action.prompt });
  if (action.deferred)
    await log.contexts.replace(threadId, toContext([{ role: 'user', content: 'deferred' }]), {
      contextRef: action.deferred,
    });
  let step = 0;
  const ids = ['c1', 'c2'];
  for (let round = 1; round <= action.tools; round++) {
    await run.commit(step++, asks(ids, round));
    await run.commit(step++, results(ids, round));
  }
  if (action.end === 'fail in tools') await run.commit(step++, asks(ids, action.tools + 1));
  if (action.end === 'cancel') await run.cancel();
  if (action.end === 'answer' || action.end === 'cancel') await run.commit(step, answer('done'));
  else await run.finish({ status: 'failed', reason: 'error', error: { type: 'x', message: 'y' } }, 1);
}
