// @module-tag slow
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { LineWriter } from '../../src/runs/formats/portable/line.ts';
import { refused } from '../db/helpers.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { lineWriter } from './rehash.ts';
import { contextsOf, factsOf, linesOf } from './support.ts';

const long = 'A line of a long report.\n'.repeat(500);
const report = defineTool({ name: 'report', input: z.object({}), execute: () => long, needsApproval: true });
const agent = defineAgent({
  name: 'agent',
  model: 'scripted:[{"tool": "report", "args": {}}, "done"]',
  instructions: 'Report.',
  tools: [report],
});
let lanefold: TestLanefold;
let lines: string[];
let rev: number;

beforeAll(async () => {
  lanefold = await startLanefold({ agents: [agent], scriptedModels: true, largeContentBytes: 4_096 });
  await lanefold.tenants.configure('acme', { chained: true });
  const acme = lanefold.forTenant('acme');
  const { id } = await acme.threads.create({ id: 'told', metadata: { customer: 7 } });
  const worker = await lanefold.startWorker();
  const run = await acme.runs.enqueue({ agent: 'agent', input: long, threadId: id, requestId: 'first' });
  for await (const item of acme.runs.stream(run)) {
    if (item.type === 'event' && item.event.kind === 'approval_requested')
      await acme.runs.approve(run, '1.0', { by: 'ann' });
  }
  await worker.stop();
  lines = await linesOf(acme.threads, id);
  ({ rev } = await acme.threads.peek(id));
});
afterAll(() => lanefold?.close());

const importAs = (id: string, all: string[], tenant = 'acme') =>
  lanefold.forTenant(tenant).threads.import({ format: 'lanefold', lines: all }, { id });

test('large texts, runs, approvals and the ledger come along, and the copy is a thread like others', async () => {
  const acme = lanefold.forTenant('acme');
  const copy = await importAs('copy', lines);
  expect(copy).toMatchObject({ rev: rev + 1, notes: [] });
  const { pool } = lanefold.database;
  expect(await contextsOf(pool, 'copy', rev)).toEqual(await contextsOf(pool, 'told', rev));
  expect(await factsOf(pool, 'copy', rev)).toEqual(await factsOf(pool, 'told', rev));
  const of = async (threadId: string) => {
    const [run] = (await acme.runs.list({ threadId })).data;
    const { usage, result, status, terminationReason, agent, model } = await acme.runs.get({ threadId, id: run!.id });
    const { rows: calls } = await pool.query(
      "select to_jsonb(c) - 'thread_id' as call from lanefold.run_tool_call c where thread_id = $1",
      [threadId],
    );
    return {
      usage,
      result,
      status,
      terminationReason,
      agent,
      model,
      calls,
      cost: (await acme.threads.get(threadId)).cost,
    };
  };
  expect(await of('copy')).toEqual(await of('told'));
  expect((await of('copy')).calls).toMatchObject([
    { call: { status: 'ok', approval: { decision: 'approved', by: 'ann' } } },
  ]);
  // the copy has a chain, and the same request is the same run
  expect(await lanefold.evidence.verify('copy')).toEqual([]);
  const again = await acme.runs.enqueue({ agent: 'agent', input: long, threadId: 'copy', requestId: 'first' });
  expect(again).toMatchObject({ duplicate: true, status: 'completed' });
  const next = await acme.runs.enqueue({ agent: 'agent', input: 'more', threadId: 'copy', model: 'scripted:["more"]' });
  const worker = await lanefold.startWorker();
  expect(await acme.runs.wait(next)).toMatchObject({ status: 'completed', result: 'more' });
  await worker.stop();
  expect(await lanefold.evidence.verify('copy')).toEqual([]);
  const last = (await acme.threads.entries('copy', { kind: 'thread_import' }))[0]!;
  expect(last).toMatchObject({ seq: rev, payload: { format: 'lanefold', thread_id: 'told', entries: rev, notes: [] } });
});

test('the thread of one tenant cannot be exported by another one, and is imported into that of the importer', async () => {
  await refused(linesOf(lanefold.forTenant('bolt').threads, 'told'), 'thread_not_found');
  const copy = await importAs('in-bolt', lines, 'bolt');
  expect(await lanefold.threads.peek(copy.id)).toMatchObject({ tenantId: 'bolt', metadata: { customer: 7 } });
  await refused(importAs('told', lines, 'bolt'), 'thread_exists');
});

type Fields = Record<string, unknown> & { type: string };
const edit = (change: (fields: Fields) => Fields | undefined): string[] => lineWriter(lines, change);
const entries = (change: (fields: Fields) => object): string[] =>
  edit((fields) =>
    fields.type === 'entry' ? { ...fields, chain: null, ...change(fields) } : { ...fields, chain: null },
  );

/** With another JSON text, which no parsed value may have. */
function withText(text: string, other: string): string[] {
  const writer = new LineWriter();
  return lines.map((line) => {
    const { line: _line, hash: _hash, type, ...rest } = JSON.parse(line) as Fields & { hash: string };
    return writer.write(type, JSON.stringify(rest).replace(text, other));
  });
}

test('an export with new hashes is still held to the chain, the contexts and the rules of the log', async () => {
  const counts = async () =>
    (
      await lanefold.database.pool.query(
        'select (select count(*) from lanefold.thread), (select count(*) from lanefold._entry) as e',
      )
    ).rows;
  const before = await counts();
  const forged: [string, string, RegExp, string[]][] = [
    [
      'another message',
      'import_refused',
      /Entry \d is not the entry that thread told has in its chain/,
      edit((f) => (f['role'] === 'assistant' ? { ...f, payload: { ...(f['payload'] as object), content: 'no' } } : f)),
    ],
    [
      'another message without the chain',
      'import_refused',
      /The context of lane default differs/,
      entries((f) => (f['role'] === 'assistant' ? { payload: { ...(f['payload'] as object), content: 'no' } } : {})),
    ],
    [
      'a missing text',
      'invalid_input',
      /quotes a large text that was not imported/,
      edit((f) => (f.type === 'content' ? undefined : f.type === 'head' ? { ...f, contents: 0 } : f)),
    ],
    [
      'another text',
      'import_refused',
      /^Line \d has a text that is not the one/,
      edit((f) => (f.type === 'content' ? { ...f, text: 'x' } : f)),
    ],
    [
      'a second role',
      'import_refused',
      /^Line \d is malformed at role/,
      entries((f) => (f['role'] ? { role: 'system' } : {})),
    ],
    [
      'an anchor without a context',
      'invalid_input',
      /Entry \d is an anchor, or is not one/,
      entries((f) => (f['role'] === 'user' ? { is_anchor: true } : {})),
    ],
    [
      'a reserved kind',
      'invalid_input',
      /Entry \d has an op_id, or lacks one/,
      entries((f) =>
        f['kind'] === 'ai_config_change' ? { kind: 'ai_context_operation', context_ref: 'default' } : {},
      ),
    ],
    [
      'an orphan result',
      'open_tool_group',
      /do not form closed tool groups/,
      entries((f) => (f['role'] === 'tool' ? { payload: { ...(f['payload'] as object), tool_call_id: 'other' } } : {})),
    ],
    ['a lane with a space', 'invalid_id', /context_ref/, entries((f) => (f['role'] ? { context_ref: 'a b' } : {}))],
    [
      'a run twice',
      'invalid_input',
      /its id or request_id is taken/,
      lineWriter([...lines.slice(0, -1), lines.find((line) => line.includes('"type":"run"'))!, lines.at(-1)!], (f) =>
        f.type === 'head' ? { ...f, runs: 2 } : f,
      ),
    ],
    [
      'a run in the future',
      'invalid_input',
      /is malformed/,
      edit((f) => (f.type === 'run' ? { ...f, result_seq: 99 } : f)),
    ],
    [
      'a day that no month has',
      'import_refused',
      /^Line \d is malformed at at/,
      entries((f) => (f['role'] === 'user' ? { at: '2026-02-31T00:00:00.000000Z' } : {})),
    ],
    [
      'a number that no column has',
      'import_refused',
      /cannot be stored/,
      edit((f) => (f.type === 'run' ? { ...f, iteration: 2 ** 40 } : f)),
    ],
    [
      'tokens of another model that the run lacks',
      'import_refused',
      /^Line \d is malformed at other_usage: Has tokens that usage lacks/,
      edit((f) => (f.type === 'run' ? { ...f, other_usage: { 'openai:x': { input_tokens: 1_000_000 } } } : f)),
    ],
    [
      'a configuration of an unknown field',
      'import_refused',
      /^Line \d configures the unknown field model/,
      entries((f) => (f['kind'] === 'ai_config_change' ? { payload: { field: 'model', value: 'other' } } : {})),
    ],
    [
      'a policy with an unknown field',
      'import_refused',
      /^Line \d sets a policy that no agent could have\. .* keep is not one of its fields/,
      entries((f) => (f['kind'] === 'ai_config_change' ? { payload: { field: 'policy', value: { keep: 1 } } } : {})),
    ],
    [
      'tools that are no names',
      'invalid_input',
      /Entry \d sets the unknown field tools, or sets it to an invalid value/,
      entries((f) =>
        f['kind'] === 'ai_config_change' ? { payload: { field: 'tools', value: { added: [7], removed: [] } } } : {},
      ),
    ],
    [
      'a tool context that is a list',
      'invalid_input',
      /Entry \d sets the unknown field tool_context, or sets it/,
      entries((f) => (f['kind'] === 'ai_config_change' ? { payload: { field: 'tool_context', value: [] } } : {})),
    ],
    [
      'a number that no double has',
      'import_refused',
      /^Line 1 cannot be imported. The number 1e999 at \$\.metadata\.customer has more digits/,
      withText('"customer":7', '"customer":1e999'),
    ],
    [
      'a value that is too deep',
      'import_refused',
      /^Line 1 cannot be imported. The value is nested deeper than 216 levels/,
      withText('"customer":7', `"customer":${'['.repeat(50_000)}${']'.repeat(50_000)}`),
    ],
    [
      'another version',
      'import_refused',
      /^Line 1 says that the export has version 2/,
      edit((f) => (f.type === 'thread' ? { ...f, version: 2 } : f)),
    ],
    [
      'NUL in a payload',
      'import_refused',
      /^Line \d contains a NUL character or a lone surrogate at \$\.payload\.content/,
      entries((f) => (f['role'] === 'user' ? { payload: { content: 'a\u0000' } } : {})),
    ],
  ];
  for (const [name, code, message, all] of forged) {
    const error = await importAs('forged', all).catch((e: unknown) => e);
    expect(error, name).toMatchObject({ code });
    expect((error as Error).message, name).toMatch(message);
  }
  expect(await counts()).toEqual(before);
  expect(
    await importAs(
      'forged',
      edit((f) => f),
    ),
  ).toMatchObject({ rev: rev + 1 });
});

test.each<[string, object]>([
  ['a text for a count', { usage: { input_tokens: 'many' } }],
  ['more than can be added up', { usage: { total_tokens: 9_007_199_254_740_991 } }],
  ['what is no usage at all', { other_usage: -1 }],
  ['what is no usage, for another model', { other_usage: { 'scripted:echo': 'free' } }],
])('an import is refused whose usage has %s, on which lists over threads would fail', async (_, change) => {
  let at = 0;
  const found = lines.findIndex((line) => (JSON.parse(line) as { type: string }).type === 'run');
  const forged = lineWriter(lines, (fields) => (at++ === found ? { ...fields, ...change } : fields));
  await refused(importAs('forged-usage', forged), 'import_refused');
  expect(await lanefold.threads.list()).toMatchObject({ data: expect.any(Array) as unknown });
});

test('an id that no index takes is refused as what it is', async () => {
  const acme = lanefold.forTenant('acme');
  const { id } = await acme.threads.create();
  await acme.contexts.switch(id, 'other');
  // no two of its parts are the same, so that it is as long when compressed
  const long = Array.from({ length: 9_000 }, (_, i) => (i * 7_919).toString(36)).join('');
  const forged = lineWriter(await linesOf(acme.threads, id), (fields) =>
    fields['op_id'] === undefined || fields['op_id'] === null ? fields : { ...fields, op_id: long },
  );
  await refused(importAs('forged-id', forged), 'import_refused');
});
