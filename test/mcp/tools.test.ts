// @module-tag slow
import { createMCPClient } from '@ai-sdk/mcp';
import { defineAgent } from 'lanefold';
import { mountMcp } from 'lanefold/mcp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agents, errorOf, newClient, oldClient, runOf, startRig, textOf, type ClientChoice, type Rig } from './rig.ts';

describe('tools, as the official clients use them over HTTP', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
    await rig.work();
  });
  afterAll(() => rig?.close());

  /** What the clients of all generations have in common. */
  type AnyClient = Pick<Awaited<ReturnType<typeof newClient>>, 'listTools' | 'callTool' | 'getServerVersion'>;
  const clients: [string, (choice?: ClientChoice) => Promise<AnyClient>, tags?: 'slow'][] = [
    ['2026-07-28', (choice) => newClient(rig.url, choice)],
    ['the first SDK', async (choice) => (await oldClient(rig.url, choice)) as unknown as AnyClient],
    // speaks as the first SDK does
    ['2025-11-25', (choice) => newClient(rig.url, { ...choice, mode: 'legacy' }), 'slow'],
  ];

  for (const [era, connect, tags] of clients)
    describe(era, tags ? { tags } : {}, () => {
      test('lists the agents and its own tools, with schemas that the client compiles', async () => {
        const client = await connect();
        expect(client.getServerVersion()).toMatchObject({ name: 'lanefold' });
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual([
          'typist',
          'echo',
          'triage',
          'broken',
          'lanefold_start_run',
          'lanefold_run_status',
          'lanefold_run_result',
          'lanefold_steer',
          'lanefold_cancel',
          'lanefold_decide',
          'lanefold_resolve',
        ]);
        const [typist] = tools;
        expect(typist).toMatchObject({
          description: expect.stringContaining('Types what you say.') as string,
          inputSchema: { type: 'object', required: ['message'], additionalProperties: false },
          outputSchema: { type: 'object', required: ['thread_id', 'run_id', 'status'] },
          annotations: { readOnlyHint: false, openWorldHint: true },
        });
      });

      test('calls an agent, and continues with its thread', async () => {
        const client = await connect();
        await client.listTools();
        const first = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
        expect(first.isError).toBeFalsy();
        expect(textOf(first)).toContain('hello');
        const { thread_id, ...run } = runOf(first);
        expect(run).toMatchObject({ status: 'completed', termination_reason: 'final_answer', output: textOf(first) });
        const second = await client.callTool({ name: 'echo', arguments: { message: 'again', thread_id } });
        expect(runOf(second).thread_id).toBe(thread_id);
        expect((await rig.front.runs.list({ threadId: thread_id })).data).toHaveLength(2);
      });

      test('returns what the contract of an agent promises', async () => {
        const client = await connect();
        // the client checks structuredContent against the schema it listed
        await client.listTools();
        const result = await client.callTool({ name: 'triage', arguments: { message: 'go' } });
        expect(runOf(result)).toMatchObject({ status: 'completed', output: { urgent: true, parts: [{ name: 'a' }] } });
        expect(JSON.parse(textOf(result))).toEqual({ urgent: true, parts: [{ name: 'a' }] });
      });

      test('a retry with the same request_id finds the run of the first call', async () => {
        const client = await connect();
        const request_id = `retry-${era.replaceAll(' ', '-')}`;
        const call = (message: string) => client.callTool({ name: 'echo', arguments: { message, request_id } });
        const first = runOf(await call('once'));
        expect(runOf(await call('once'))).toEqual(first);
        expect((await rig.front.runs.list({ threadId: first.thread_id })).data).toHaveLength(1);
        expect(errorOf(await call('something else')).code).toBe('idempotency_mismatch');
      });

      test('a failed run is an error of the tool, with its thread to continue with', async () => {
        const client = await connect();
        await client.listTools();
        const error = errorOf(await client.callTool({ name: 'broken', arguments: { message: 'go' } }));
        expect(error).toMatchObject({ code: expect.any(String), message: expect.stringContaining('out of order') });
        expect(error).toMatchObject({ thread_id: expect.any(String), run_id: expect.any(String) });
      });

      test('says what is wrong with a call', async () => {
        const client = await connect();
        const call = (name: string, args: object) => client.callTool({ name, arguments: args as never });
        await expect(call('stranger', { message: 'x' })).rejects.toMatchObject({
          code: -32602,
          message: expect.stringContaining('stranger'),
        });
        expect(errorOf(await call('echo', {}))).toMatchObject({
          code: 'invalid_input',
          message: expect.stringContaining('message'),
        });
        expect(errorOf(await call('echo', { message: 'x', mesage: 'y' })).message).toContain('mesage');
        expect(errorOf(await call('echo', { message: '   ' })).code).toBe('empty_content');
        expect(errorOf(await call('echo', { message: 'x', thread_id: '../x' })).code).toBe('invalid_input');
        expect(errorOf(await call('echo', { message: 'x', thread_id: 'nowhere' })).code).toBe('thread_not_found');
        expect(errorOf(await call('lanefold_start_run', { agent: 'stranger', message: 'x' })).code).toBe(
          'unknown_agent',
        );
        const gone = { thread_id: 'nowhere', run_id: 'run_1' };
        expect(errorOf(await call('lanefold_run_status', gone)).code).toBe('run_not_found');
        expect(errorOf(await call('lanefold_run_result', gone)).code).toBe('run_not_found');
        expect(errorOf(await call('lanefold_cancel', gone)).code).toBe('thread_not_found');
      });
    });

  test('the client of the AI SDK calls an agent, too', async () => {
    const client = await createMCPClient({ transport: { type: 'http', url: rig.url.href } });
    const { echo } = await client.tools();
    const result = await echo!.execute!(
      { message: 'from afar' },
      { toolCallId: 'c1', messages: [], context: undefined },
    );
    expect(runOf(result as object)).toMatchObject({
      status: 'completed',
      output: expect.stringContaining('from afar') as string,
    });
    await client.close();
  });

  test('a server of some agents starts no others, whatever tool is called', async () => {
    const some = await rig.front.startServer({ port: 0, mcp: mountMcp({ agents: ['echo'] }) });
    const client = await newClient(new URL('/mcp', some.url));
    const start = (agent: string) =>
      client.callTool({
        name: 'lanefold_start_run',
        arguments: { agent, message: 'x', thread_id: agent, create_thread: true },
      });
    const error = errorOf(await start('triage'));
    expect(error).toMatchObject({ code: 'unknown_agent', hint: 'Nothing was started. It serves echo.' });
    await expect(rig.front.threads.get('triage')).rejects.toMatchObject({ code: 'thread_not_found' });
    expect(JSON.parse(textOf(await start('echo')))).toMatchObject({ thread_id: 'echo' });
    await expect(client.callTool({ name: 'triage', arguments: { message: 'x' } })).rejects.toMatchObject({
      code: -32602,
    });
  });
});

test('an agent with a name that providers reject is a tool with another name, and answers to both', async () => {
  const name = 'orders.eu-v2';
  const rig = await startRig(
    {},
    {},
    {
      agents: [
        ...agents,
        defineAgent({ name, model: 'scripted:echo' }),
        defineAgent({ name: 'lanefold.cancel', model: 'scripted:echo' }),
      ],
    },
  );
  try {
    await rig.work();
    const client = await newClient(rig.url);
    const { tools } = await client.listTools();
    const listed = tools.map((tool) => tool.name);
    expect(listed).toEqual(expect.arrayContaining(['typist', 'orders_eu-v2', 'lanefold_cancel']));
    expect(new Set(listed).size).toBe(listed.length);
    expect(tools.find((tool) => tool.name === 'orders_eu-v2')).toMatchObject({ title: name });
    for (const tool of ['orders_eu-v2', name]) {
      const run = runOf(await client.callTool({ name: tool, arguments: { message: 'hello' } }));
      expect(run).toMatchObject({ status: 'completed', output: expect.stringContaining('hello') as string });
      const { data } = await rig.front.runs.list({ threadId: run.thread_id });
      expect(data).toMatchObject([{ agent: name }]);
    }
  } finally {
    await rig.close();
  }
});
