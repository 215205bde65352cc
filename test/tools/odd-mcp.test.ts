// @module-tag slow
import { createMCPClient } from '@ai-sdk/mcp';
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAgentRegistry } from '../../src/agent/definition/registry.ts';
import { contextOf, expectSound, ledgerOf } from '../support/log.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';
import { oddServer, startMcpServer, type HttpMcpServer, type OddTool } from './fixtures/mcp-server.ts';

const long = 'search_'.repeat(12);
const names = [
  'ok',
  'orders.list',
  'orders/list',
  'a.b',
  'a_b',
  'own',
  'read_content',
  'große Suche',
  `${long}1`,
  `${long}2`,
  '',
];
const echoes: OddTool[] = names.map((name) => ({
  name,
  result: (args) => ({ content: [{ type: 'text', text: JSON.stringify([name, args]) }] }),
}));

const text = (value: string) => ({ type: 'text', text: value });
const binary = 'AAAA'.repeat(50);
const answers: [name: string, result: Record<string, unknown>, status: string, content: unknown][] = [
  [
    'limited',
    { isError: true, content: [], structuredContent: { code: 'RATE_LIMITED' } },
    'error',
    { ok: false, error: { type: 'tool_error', message: '{"code":"RATE_LIMITED"}', retryable: false } },
  ] as never,
  [
    'blank_error',
    { isError: true, content: [text(' ')], structuredContent: { code: 7 } },
    'error',
    errorOf('{"code":7}'),
  ],
  [
    'both_error',
    { isError: true, content: [text('No.')], structuredContent: { code: 7 } },
    'error',
    errorOf('No.\n{"code":7}'),
  ],
  [
    'twice_error',
    { isError: true, content: [text('{ "code": 7 }')], structuredContent: { code: 7 } },
    'error',
    errorOf('{ "code": 7 }'),
  ],
  [
    'mute_error',
    { isError: true, content: [] },
    'error',
    errorOf('The MCP tool reported an error without saying which'),
  ],
  ['structured', { content: [], structuredContent: { total: 3, ids: [1, 2] } }, 'ok', { total: 3, ids: [1, 2] }],
  ['blank_text', { content: [text('')], structuredContent: { total: 3 } }, 'ok', { total: 3 }],
  ['without_content', { structuredContent: { total: 3 } }, 'ok', { total: 3 }],
  ['both', { content: [text('three')], structuredContent: { total: 3 } }, 'ok', 'three'],
  ['empty', { content: [] }, 'ok', ''],
  ['audio', { content: [{ type: 'audio', data: binary, mimeType: 'audio/wav' }] }, 'ok', note('audio audio/wav')],
  ['image', { content: [{ type: 'image', data: binary, mimeType: 'image/png' }] }, 'ok', note('file image/png')],
  [
    'resource',
    { content: [{ type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'the text' } }] },
    'ok',
    'the text',
  ],
  [
    'blob',
    {
      content: [
        text('here'),
        { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: binary } },
      ],
    },
    'ok',
    `here\n${note('resource file:///a.pdf application/pdf')}`,
  ],
  [
    'link',
    { content: [{ type: 'resource_link', uri: 'file:///b.txt', name: 'b' }] },
    'ok',
    { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
  ],
];

function errorOf(message: string) {
  return { ok: false, error: { type: 'tool_error', message, retryable: false } };
}
function note(what: string) {
  return `[${what}: omitted, because tool messages are text]`;
}

describe('a server with odd tools', () => {
  let servers: HttpMcpServer[];
  let clients: Awaited<ReturnType<typeof createMCPClient>>[];
  let lanefold: Runtime;
  const warned: object[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (facts: object) => void warned.push(facts) };
  const own = defineTool({ name: 'own', input: z.object({}), execute: () => 'mine' });

  beforeAll(async () => {
    const odd = answers.map(([name, result]) => ({ name, result: () => result }));
    const second = [{ name: 'ok', result: () => ({ content: [text('of the second server')] }) }];
    servers = await Promise.all([[...echoes, ...odd], second].map((tools) => startMcpServer(() => oddServer(tools))));
    clients = await Promise.all(servers.map(({ url }) => createMCPClient({ transport: { type: 'http', url } })));
    const [first, other] = await Promise.all(clients.map((client) => client.tools()));
    lanefold = await startRuntime(
      [defineAgent({ name: 'a', model: unset, tools: [own, first!, other!], toolMaxRetries: 0 })],
      {
        logger,
        largeContentBytes: 100_000,
      },
    );
  });
  afterAll(async () => {
    await lanefold?.close();
    await Promise.all((clients ?? []).map((client) => client.close().catch(() => {})));
    await Promise.all((servers ?? []).map((server) => server.close()));
  });

  const call = async (name: string, args: object = {}) => {
    const model = lanefold.model([{ calls: [{ id: 'c0', name, args }] }, { text: 'done' }]);
    const { threadId, run } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
    expect(run).toMatchObject({ status: 'completed', result: 'done' });
    await expectSound(lanefold, threadId);
    const [row] = await ledgerOf(lanefold, threadId);
    const content = (await contextOf(lanefold, threadId))[2]![1] as string;
    return { status: row!.status, content, tools: model.calls[0]!.tools!.map((tool) => tool.name) };
  };

  test('does not stop the process: its tools get names that providers accept, and calls reach them', async () => {
    const { tools } = await call('own');
    expect(tools.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
    expect(new Set(tools).size).toBe(tools.length);
    const shown = tools.slice(1, 1 + names.length);
    expect(shown.slice(0, 8)).toEqual([
      'ok',
      expect.stringMatching(/^orders_list_\w{8}$/),
      expect.stringMatching(/^orders_list_\w{8}$/),
      expect.stringMatching(/^a_b_\w{8}$/),
      'a_b',
      'own_2',
      'read_content_2',
      'gro_e_Suche',
    ]);
    expect(shown.at(-1)).toBe('tool');
    for (const [i, name] of names.entries()) {
      const { status, content } = await call(shown[i]!, { n: i });
      expect([status, JSON.parse(content)]).toEqual(['ok', [name, { n: i }]]);
    }
    expect((await call('own')).content).toBe('mine');
    expect((await call(tools.at(-2)!)).content).toBe('of the second server');
  });

  test('is warned about in the log', () => {
    expect(warned).toContainEqual({ agent: 'a', from: 'große Suche', to: 'gro_e_Suche' });
    expect(warned).toContainEqual({ agent: 'a', from: 'ok', to: 'ok_2' });
    expect(warned).not.toContainEqual(expect.objectContaining({ from: 'a_b' }));
  });

  test.each(answers)('%s: the model reads what the server says', async (name, _result, status, content) => {
    const called = await call(name);
    const expected = typeof content === 'string' ? content : JSON.stringify(content);
    expect([called.status, called.content]).toEqual([status, expected]);
  });
});

test('names do not depend on the order in which a server lists its tools', async () => {
  const toolsOf = async (listed: readonly string[]) => {
    const server = await startMcpServer(() =>
      oddServer(
        echoes
          .filter(({ name }) => listed.includes(name))
          .sort((a, b) => listed.indexOf(a.name) - listed.indexOf(b.name)),
      ),
    );
    const client = await createMCPClient({ transport: { type: 'http', url: server.url } });
    const renamed: Record<string, string> = {};
    const agents = [defineAgent({ name: 'a', model: unset, tools: await client.tools() })];
    await createAgentRegistry(agents, { onRename: ({ from, to }) => void (renamed[from] = to) });
    await client.close();
    await server.close();
    return renamed;
  };
  const forwards = await toolsOf(names);
  expect(Object.keys(forwards)).toHaveLength(7);
  expect(await toolsOf([...names].reverse())).toEqual(forwards);
});
