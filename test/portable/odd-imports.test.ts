// @module-tag long
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { isLanefoldError, type ThreadSource } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type Api } from '../api/helpers.ts';
import { cases } from '../support/cases.ts';
import { lineWriter } from './rehash.ts';
import { linesOf } from './support.ts';

/*
 * Histories in which anything may stand anywhere: an import is refused as a mistake of its caller, or makes a thread that all
 * readers read.
 */
let api: Api;
let paths: string[];
beforeAll(async () => {
  api = await startApi({ worker: false });
  const { body } = await api.call('GET', '/openapi.json');
  paths = Object.entries((body as { paths: Record<string, object> }).paths)
    .filter(
      ([path, methods]) => 'get' in methods && /^\/v1\/threads\/\{thread_id\}[^{}]*(\{context_ref\})?$/.test(path),
    )
    .map(([path]) => path)
    .filter((path) => !/stream|events|marks/.test(path));
  expect(paths).toEqual(expect.arrayContaining(['/v1/threads/{thread_id}/ui-messages']));
});
afterAll(() => api?.close());

type Tree = Record<string, unknown> | unknown[];
function circle(): Record<string, unknown> {
  const round: Record<string, unknown> = { type: 'text', text: 'round' };
  round['again'] = [round];
  return round;
}
const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
/** New ones for each history, because a mutation may change them too. */
const oddValues = (): unknown[] => [
  undefined,
  null,
  true,
  0,
  -0,
  -1,
  1e308,
  NaN,
  Infinity,
  10n,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\uffff1',
  '__proto__',
  [],
  {},
  [[]],
  [null],
  [{}],
  { type: 'text' },
  { type: null, text: [1] },
  { role: 'tool', content: [7] },
  JSON.parse('{"__proto__": {"role": "user"}, "constructor": 1, "toString": 2, "length": 4000000000}'),
  { toJSON: 'no' },
  new Date(0),
  new Date(NaN),
  new Map([[1, 2]]),
  new Uint8Array(3),
  () => 1,
  Symbol('s'),
  circle(),
  nested(150),
  nested(5_000),
  'x'.repeat(300),
  'user',
  'assistant',
  'system',
  'tool',
  'tool-',
  'dynamic-tool',
  'c1',
  'output-available',
  'langgraph_checkpoint',
  'openai_agents_items',
  'ai_context_operation',
  'data:,%',
  '1e400',
];

/** The lists and objects of a value, each with its keys. */
function branchesOf(value: unknown, seen = new Set<unknown>()): { of: Tree; key: string }[] {
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return [];
  if (seen.has(value) || seen.size > 500) return [];
  seen.add(value);
  return Object.entries(value).flatMap(([key, each]) => [{ of: value as Tree, key }, ...branchesOf(each, seen)]);
}

interface Mutation {
  at: number;
  how: 'replace' | 'delete' | 'add' | 'repeat' | 'move';
  what: number;
}
const mutations = fc.array(
  fc.record({
    at: fc.nat(),
    how: fc.constantFrom<Mutation['how']>('replace', 'replace', 'replace', 'delete', 'add', 'repeat', 'move'),
    what: fc.nat(oddValues().length - 1),
  }),
  { minLength: 1, maxLength: 4 },
);

function mutate<T>(root: T, changes: readonly Mutation[]): T {
  const holder = { root };
  const odd = oddValues();
  for (const { at, how, what } of changes) {
    const all = branchesOf(holder);
    if (all.length === 0) break;
    const { of, key } = all[at % all.length]!;
    const value = odd[what];
    const tree = of as Record<string, unknown>;
    if (how === 'delete') {
      if (Array.isArray(of)) of.splice(Number(key), 1);
      // what a value keeps, such as the bytes of an array, stays
      else Reflect.deleteProperty(tree, key);
    } else if (how === 'add' && !Array.isArray(of)) Reflect.set(tree, `odd${what}`, value);
    else if (how === 'repeat' && Array.isArray(of)) of.push(of[Number(key)]);
    else if (how === 'move') Reflect.set(tree, key, all[what % all.length]!.of);
    else Reflect.set(tree, key, value);
  }
  return holder.root;
}

const image = 'data:image/png;base64,QUJD';
const openAi = () => ({
  object: 'list',
  id: 'conv',
  instructions: 'Be kind.',
  data: [
    { role: 'system', content: [{ type: 'input_text', text: 'Help.' }] },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Hi' },
        { type: 'input_image', image_url: image },
      ],
    },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'x' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes', annotations: [] }] },
    { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"a": 1}' },
    { type: 'function_call_output', call_id: 'c1', output: 'seen' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c2', function: { name: 'look', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'more' }] },
    { role: 'assistant', content: 'Done', refusal: null },
  ],
});
const aiSdk = () => [
  { id: 's', role: 'system', parts: [{ type: 'text', text: 'Help.' }] },
  {
    id: 'u',
    role: 'user',
    parts: [
      { type: 'text', text: 'Hi' },
      { type: 'file', mediaType: 'image/png', url: image },
    ],
  },
  {
    id: 'a',
    role: 'assistant',
    metadata: { x: 1 },
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'text', text: 'Yes', state: 'done', providerMetadata: { openai: { itemId: 'i' } } },
      { type: 'tool-look', toolCallId: 'c1', state: 'output-available', input: { a: 1 }, output: { b: [2] } },
      { type: 'step-start' },
      { type: 'dynamic-tool', toolName: 'g', toolCallId: 'c2', state: 'output-error', input: {}, errorText: 'no' },
      { type: 'tool-f', toolCallId: 'c3', state: 'output-denied', input: {}, approval: { id: 'p', reason: 'no' } },
      { type: 'text', text: 'Done' },
    ],
  },
  // as models read them
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c4', toolName: 'look', input: {} }], parts: [] },
];
const langGraph = () => ({
  checkpoint: {
    id: 'k',
    ts: '2026-11-01T00:00:00Z',
    channel_values: {
      messages: [
        new SystemMessage('Help.'),
        new HumanMessage({
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image_url', image_url: { url: image } },
          ],
        }),
        new AIMessage({ content: 'Hm', tool_calls: [{ id: 'c1', name: 'look', args: { a: 1 } }] }),
        new ToolMessage({ content: 'seen', tool_call_id: 'c1', status: 'error' }),
        { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'AIMessage'], kwargs: { content: 'Done' } },
      ] as unknown[],
      other: 1,
    },
  },
  pendingWrites: [['task', 'messages', 'x']] as [string, string, unknown][],
});

let made = 0;
async function expectReadable(source: ThreadSource): Promise<'refused' | 'read'> {
  const id = `odd-${++made}`;
  const { threads } = api.lanefold;
  const refusal: unknown = await threads.import(source, { id }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refusal !== undefined) {
    if (!isLanefoldError(refusal) || refusal.status >= 500) throw refusal;
    return 'refused';
  }
  for (const path of paths) {
    const own = path.replace('{thread_id}', id).replace('{context_ref}', 'default');
    const { status, text } = await api.call('GET', own);
    if (status !== 200) throw new Error(`${own} answered ${status}: ${text}`);
  }
  await threads.agUiSnapshot(id);
  await threads.import({ format: 'lanefold', lines: await linesOf(threads, id) }, { id: `${id}-again` });
  return 'read';
}

const sources: [string, (changes: readonly Mutation[]) => ThreadSource][] = [
  ['openai', (changes) => ({ format: 'openai', items: mutate(openAi(), changes) })],
  ['ai-sdk', (changes) => ({ format: 'ai-sdk', messages: mutate(aiSdk(), changes) as never })],
  [
    'langgraph',
    (changes) => {
      const tuple = mutate(langGraph(), changes);
      return { format: 'langgraph', checkpointer: { getTuple: () => Promise.resolve(tuple) }, threadId: 'x' };
    },
  ],
];

test.each(sources)('%s: what is odd is refused, or read by all readers', async (_, of) => {
  expect(await expectReadable(of([]))).toBe('read');
  const ends = { refused: 0, read: 0 };
  await fc.assert(
    fc.asyncProperty(mutations, async (changes) => void (ends[await expectReadable(of(changes))] += 1)),
    { numRuns: cases(16) },
  );
  // about half of them
  expect(ends.read).toBeGreaterThan(0);
});

const word = JSON.parse('{"toString": 1}') as unknown;
const oddRefs = [word, [word], 7, null, '', '\uffff1', nested(100)].flatMap((value) =>
  ['input_id', 'kind', 'llm_call_id', 'ag_ui', 'contents'].flatMap((name) => [
    { [name]: value },
    { kind: 'steer', [name]: value },
  ]),
);

/** Imports with each of the refs, and says how many were read. */
async function expectRefsReadable(all: readonly object[]): Promise<number> {
  const { threads } = api.lanefold;
  const id = `whole-${++made}`;
  await threads.import({ format: 'openai', items: openAi() }, { id });
  const lines = await linesOf(threads, id);
  let read = 0;
  for (const refs of all) {
    const forged = lineWriter(lines, (fields) => {
      // the digest of a lane has the refs
      if (fields.type === 'head') return { ...fields, lanes: [] };
      return fields['kind'] === 'ai_message' ? { ...fields, run_id: 'r', refs } : fields;
    });
    if ((await expectReadable({ format: 'lanefold', lines: forged })) === 'read') read += 1;
  }
  return read;
}

const everyThird = oddRefs.filter((_, i) => i % 3 === 0);
test('lanefold: odd refs of messages are refused, or read by all readers', async () => {
  expect(await expectRefsReadable(everyThird)).toBeGreaterThan(3);
});
test('lanefold: any odd ref is refused, or read by all readers', { tags: 'slow' }, async () => {
  expect(await expectRefsReadable(oddRefs)).toBeGreaterThan(10);
});

test.each([
  ['is nested endlessly', nested(5_000)],
  ['contains itself', circle()],
])('a field beside the items that %s is noted as left out', async (_, extra) => {
  const items = { object: 'list', data: [{ role: 'user', content: 'Hi' }], extra };
  const { notes } = await api.lanefold.threads.import({ format: 'openai', items }, { id: `odd-${++made}` });
  expect(notes).toEqual([expect.objectContaining({ outcome: 'left_out', where: 'extra' })]);
});
