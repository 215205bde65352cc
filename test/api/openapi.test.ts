import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assistant } from '../../src/ops/cli/assistant.ts';

import { startApi, type Api } from './helpers.ts';
import { operationsOf, type OpenApi, type Schema } from './document.ts';

describe('the OpenAPI document', () => {
  let api: Api;
  let document: OpenApi;
  beforeAll(async () => {
    api = await startApi({ worker: false });
    document = (await api.call('GET', '/openapi.json')).body;
  });
  afterAll(() => api?.close());

  test('is version 3.1, and every reference in it resolves', () => {
    expect(document.openapi).toBe('3.1.0');
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);
    expect(refs.length).toBeGreaterThan(50);
    for (const ref of new Set(refs)) {
      const target = ref
        .replace(/^#\//, '')
        .split('/')
        .reduce<Record<string, unknown> | undefined>((node, key) => node?.[key] as never, document as never);
      expect(target, ref).toBeDefined();
    }
  });

  test('lists every operation once, with summary, parameters and responses', () => {
    const operations = operationsOf(document);
    const ids = operations.map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(
      expect.arrayContaining([
        'createThread',
        'appendEntries',
        'getContext',
        'applyContextOperation',
        'createRun',
        'listThreadEvents',
        'listThreads',
        'listAllRuns',
        'listApprovals',
        'getCall',
      ]),
    );
    for (const operation of operations) {
      const name = operation.operationId;
      expect(operation.summary, name).toBeTruthy();
      expect(operation.tags, name).toHaveLength(1);
      expect(
        Object.keys(operation.responses).some((status) => status.startsWith('2')),
        name,
      ).toBe(true);
      const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = operation.parameters
        .filter((parameter) => parameter.in === 'path')
        .map((parameter) => parameter.name);
      expect(declared, name).toEqual(inPath);
      if (!operation.path.startsWith('/v1/')) continue;
      expect(operation.security, name).toEqual([{ bearer: [] }]);
      expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(['400', '401', '500']));
      if (operation.requestBody)
        expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(['413', '415']));
    }
  });

  test('has one schema per resource and an example for every body', () => {
    const names = Object.keys(document.components.schemas);
    expect(new Set(names.map((name) => name.replace(/(?<=.)(Input|Output|\d+)$/, ''))).size).toBe(names.length);
    for (const operation of operationsOf(document)) {
      const schema = operation.requestBody?.content['application/json'].schema;
      if (!schema) continue;
      const named = document.components.schemas[schema.$ref!.split('/').at(-1)!];
      expect(named, operation.operationId).toHaveProperty('example');
    }
  });

  test('describes a named schema as what it is, not as one of its users does, and allows null beside it', () => {
    const { schemas } = document.components;
    expect(schemas['Id']!.description).toMatch(/^1 to 128 characters of/);
    expect(schemas['ContextPolicy']!.description).toMatch(/^How the context is cut/);
    expect(schemas['RunStatus']!.enum).not.toContain(null);
    expect(schemas['Mark']!.properties!['llm_call_id']).toMatchObject({
      anyOf: [{ $ref: '#/components/schemas/Id' }, { type: 'null' }],
    });
    // a reference and a type that may be null, both required, allow no null
    const isNull = ({ type }: Schema) => type === 'null' || (Array.isArray(type) && type.includes('null'));
    const contradictions: string[] = [];
    JSON.stringify(document, (key, value: Schema | null) => {
      if (value?.allOf?.some(isNull)) contradictions.push(`${key}: ${JSON.stringify(value)}`);
      return value;
    });
    expect(contradictions).toEqual([]);
  });

  test('tries out what `lanefold dev` has: its agent, on a thread that is created, and ids of what they are', () => {
    const { schemas } = document.components as { schemas: Record<string, { example?: object; properties?: object }> };
    expect(schemas['NewRun']!.example).toMatchObject({ agent: assistant.name, create_thread: true });
    for (const name of ['RunReceipt', 'Run', 'RunSnapshot'])
      expect(schemas[name]!.properties).toMatchObject({ id: { example: expect.stringMatching(/^run_/) as string } });
  });

  test('has the same fields as the responses', async () => {
    await api.call('POST', '/v1/threads', { id: 't', system_prompt: 'P' });
    await api.call('POST', '/v1/threads/t/entries', {
      entries: [{ kind: 'ai_message', payload: { role: 'user', content: 'x' } }],
    });
    const run = await api.call('POST', '/v1/threads/t/runs', { agent: 'calc', input: 'x' });
    await api.call('POST', `${run.headers.get('location')}/cancel`);
    await api.lanefold.startWorker();
    const get = async (path: string) => (await api.call('GET', path)).body as Record<string, never>;
    const answers: Record<string, object> = {
      Thread: await get('/v1/threads/t'),
      Entry: (await get('/v1/threads/t/entries'))['data']![0]!,
      EntryPage: await get('/v1/threads/t/entries'),
      Config: await get('/v1/threads/t/config'),
      ToolList: await get('/v1/threads/t/tools'),
      Lane: (await get('/v1/threads/t/contexts'))['data']![0]!,
      Context: await get('/v1/threads/t/contexts/default?explain=true'),
      ContextMessage: (await get('/v1/threads/t/contexts/default'))['messages']![0]!,
      RunReceipt: run.body,
      RunSnapshot: await get(run.headers.get('location')!),
      ThreadPage: await get('/v1/threads'),
      ThreadSummary: (await get('/v1/threads'))['data']![0]!,
      AgentList: await get('/v1/agents'),
      Agent: (await get('/v1/agents'))['data']![0]!,
      Activity: await get('/v1/activity'),
      WorkerList: await get('/v1/workers'),
      Worker: (await get('/v1/workers'))['data']![0]!,
      ListedRun: (await get('/v1/threads/t/runs'))['data']![0]!,
      RunPage: await get('/v1/threads/t/runs'),
      RunEvent: (await get('/v1/threads/t/events'))['data']![0]!,
    };
    for (const [name, answer] of Object.entries(answers)) {
      const { properties } = document.components.schemas[name]!;
      expect(Object.keys(answer).sort(), name).toEqual(Object.keys(properties!).sort());
    }
  });
});
