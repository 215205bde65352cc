import fc from 'fast-check';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { RunJson } from '../../src/doors/mcp/api.ts';
import { inputRequestsOf } from '../../src/doors/mcp/input.ts';
import { readUri, threadUri } from '../../src/doors/mcp/resources.ts';
import { answerOf, type Rights, openCalls } from '../../src/doors/mcp/runs.ts';
import { detailedTask, readTaskId, taskId } from '../../src/doors/mcp/tasks.ts';
import { runSchema, usableContract } from '../../src/doors/mcp/agent-tool.ts';

const head = fc.constantFrom(...'aZ09');
const anyId = fc
  .tuple(head, fc.array(fc.constantFrom(...'aZ09._:@-'), { maxLength: 127 }))
  .map(([first, rest]) => first + rest.join(''));

describe('ids', () => {
  test('of tasks and resources come back as they were', () => {
    fc.assert(
      fc.property(anyId, anyId, anyId, (tool, thread_id, run_id) => {
        expect(readTaskId(taskId(tool, { thread_id, run_id }))).toEqual({ tool, run: { thread_id, run_id } });
        expect(readUri(threadUri(thread_id))).toEqual({ name: 'thread', variables: { thread_id } });
        const runUri = `${threadUri(thread_id)}/runs/${encodeURIComponent(run_id)}`;
        expect(readUri(runUri)).toEqual({ name: 'run', variables: { thread_id, run_id } });
      }),
    );
  });

  test('that are none are not read, and never throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `lanefold://threads/${text}`),
        ),
        (text) => {
          readUri(text);
          readTaskId(text);
        },
      ),
    );
    expect(readUri('lanefold://threads/a/contexts/b?at_seq=3')?.variables).toEqual({
      thread_id: 'a',
      context_ref: 'b',
      at_seq: '3',
    });
    expect(readUri('lanefold://threads/a?at_seq=3')).toBeUndefined();
    expect(readUri('lanefold://threads/a/contexts/b?other=3')).toBeUndefined();
  });
});

describe('contracts', () => {
  const json = (schema: z.ZodType) => z.toJSONSchema(schema) as never;
  const tree: z.ZodType = z.object({
    name: z.string(),
    get children() {
      return z.array(tree);
    },
  });

  test('that refer to themselves hold inside the schema of a tool', () => {
    const contract = json(tree);
    expect(JSON.stringify(contract)).toContain('"$ref":"#');
    const { fits, schema } = usableContract(contract);
    expect(schema).toBe(contract);
    expect(fits({ name: 'a', children: [{ name: 'b', children: [] }] })).toBe(true);
    expect(fits({ name: 'a', children: [{ name: 7, children: [] }] })).toBe(false);
    expect(JSON.stringify(runSchema(contract))).not.toContain('$schema');
  });

  test('keep what only looks like a reference', () => {
    const contract = {
      type: 'object',
      properties: { $ref: { type: 'string' }, a: { const: { $ref: '#/x' } } },
    } as never;
    expect(runSchema(contract)).toMatchObject({ properties: { output: contract } });
  });

  test('that no client could compile are left out, so that the other tools stay usable', () => {
    const broken = { type: 'object', properties: { a: { $ref: '#/$defs/none' } } } as never;
    expect(usableContract(broken).schema).toBeNull();
    expect(usableContract(null)).toMatchObject({ schema: null });
  });
});

describe('a run', () => {
  const statuses = ['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled'] as const;
  const anyWait = fc.record({
    round: fc.nat(9),
    index: fc.nat(9),
    name: fc.string(),
    kind: fc.constantFrom('approval', 'event', 'time', 'run'),
    event: fc.constant('e'),
    run: fc.constant(null),
    since: fc.constant('2026-11-25T10:00:00.000Z'),
    until: fc.constantFrom(null, '2026-11-26T10:00:00.000Z'),
  });
  const anyRun = fc
    .record({
      id: anyId,
      thread_id: anyId,
      agent: fc.constant('a'),
      status: fc.constantFrom(...statuses),
      termination_reason: fc.constantFrom(null, 'final_answer'),
      result: fc.jsonValue(),
      error: fc.constantFrom(null, { type: 'timeout', message: 'too slow' }),
      waits: fc.array(anyWait, { maxLength: 4 }),
      unattended: fc.constantFrom(null, { reason: 'no_worker', message: 'No worker.' }),
      created_at: fc.constant('2026-11-25T09:00:00.000Z'),
      started_at: fc.constantFrom(null, '2026-11-25T09:00:01.000Z'),
      finished_at: fc.constant(null),
    })
    .map((run) => {
      const waits = run.waits.map((wait) => ({ ...wait, call: `${wait.round}.${wait.index}` }));
      const approvals = waits.filter(({ kind }) => kind === 'approval').map(({ call }) => ({ call, arguments: {} }));
      return { ...run, waits, approvals } as unknown as RunJson;
    });
  const anyRights = fc.record({ approval: fc.boolean(), event: fc.boolean() });
  const check = new AjvJsonSchemaValidator().getValidator(runSchema(null));

  test('is always a result that its schema allows, or an error', () => {
    fc.assert(
      fc.property(anyRun, anyRights, (run, rights) => {
        const result = answerOf(run, () => true, rights);
        expect(result.isError === true).toBe(run.status === 'failed' || run.status === 'cancelled');
        if (!result.isError)
          expect(check(JSON.parse(JSON.stringify(result.structuredContent)))).toMatchObject({ valid: true });
      }),
    );
  });

  test('is a task that asks only a client that can ask, and only for what is open and its key may decide', () => {
    fc.assert(
      fc.property(anyRun, anyRights, fc.boolean(), (run, rights, elicits) => {
        const requests = elicits ? inputRequestsOf(run, rights) : undefined;
        const task = detailedTask('t', run, { requests, rights, result: () => answerOf(run, () => true, rights) });
        for (const key of Object.keys(requests ?? {})) expect(rights[key.split(':')[0] as keyof Rights]).toBe(true);
        const open = openCalls(run).filter(({ kind }) => rights[kind]);
        const asks = elicits && open.length > 0;
        expect(task.statusMessage.includes('may not')).toBe(!asks && openCalls(run).some(({ kind }) => !rights[kind]));
        expect(task.status === 'input_required').toBe(asks);
        expect('inputRequests' in task).toBe(asks);
        expect('result' in task).toBe(['completed', 'failed'].includes(run.status));
        expect(task.lastUpdatedAt >= task.createdAt).toBe(true);
        if (asks) expect(run.status).toBe('suspended');
      }),
    );
  });
});
