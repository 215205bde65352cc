// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newClient, oldClient, startRig, type Rig } from './rig.ts';

describe('resources', () => {
  let rig: Rig;
  let run: { threadId: string; id: string };
  beforeAll(async () => {
    rig = await startRig();
    await rig.work();
    run = await rig.front.runs.enqueue({ agent: 'echo', input: 'remember me', threadId: 'a:b', createThread: true });
    await rig.front.runs.wait(run);
    for (let i = 0; i < 60; i++) await rig.front.threads.create({ id: `t${i}` });
  });
  afterAll(() => rig?.close());

  const clients: [
    string,
    () => Promise<
      Pick<Awaited<ReturnType<typeof newClient>>, 'listResources' | 'readResource' | 'listResourceTemplates'>
    >,
  ][] = [
    ['2026-07-28', () => newClient(rig.url)],
    ['the first SDK', async () => (await oldClient(rig.url)) as never],
  ];

  test.each(clients)('%s lists threads page by page', async (_, connect) => {
    const client = await connect();
    const uris: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listResources({ ...(cursor === undefined ? {} : { cursor }), limit: 1 } as never);
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(uris).size).toBe(61);
    expect(uris).toContain('lanefold://threads/a%3Ab');
  });

  test.each(clients)('%s reads a thread, its context, its run and what the model saw', async (_, connect) => {
    const client = await connect();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'lanefold://threads/{thread_id}',
      'lanefold://threads/{thread_id}/contexts/{context_ref}{?at_seq}',
      'lanefold://threads/{thread_id}/runs/{run_id}',
      'lanefold://threads/{thread_id}/calls/{seq}',
    ]);
    const read = async (uri: string) => {
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }]);
      return JSON.parse((contents[0] as { text: string }).text) as never;
    };
    expect(await read('lanefold://threads/a%3Ab')).toMatchObject({ id: 'a:b', rev: 2 });
    expect(await read('lanefold://threads/a:b/contexts/default')).toMatchObject({
      messages: [{ role: 'user', content: 'remember me' }, { role: 'assistant' }],
    });
    expect(await read('lanefold://threads/a:b/contexts/default?at_seq=0')).toMatchObject({
      messages: [{ role: 'user' }],
    });
    expect(await read(`lanefold://threads/a:b/runs/${run.id}`)).toMatchObject({ id: run.id, status: 'completed' });
    expect(await read('lanefold://threads/a:b/calls/1')).toMatchObject({
      messages: [{ content: 'remember me' }],
      verified: true,
    });
  });

  test.each(clients)('%s hears that a resource does not exist', async (_, connect) => {
    const client = await connect();
    const wrong = ['lanefold://threads/none', 'lanefold://threads/a:b/runs/none', 'lanefold://threads/a:b/calls/0'];
    const odd = [
      'lanefold://threads/a:b/calls/x',
      'lanefold://threads/a:b/calls/99',
      'lanefold://nothing',
      'file:///etc/passwd',
    ];
    const strange = [
      'lanefold://threads/..%2F..%2Fv1',
      'lanefold://threads/%ZZ',
      'lanefold://threads/a:b/contexts/default?at_seq=-5',
    ];
    for (const uri of [...wrong, ...odd, ...strange])
      await expect(client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32602 });
    await expect(client.listResources({ cursor: 'not one' }), 'cursor').rejects.toMatchObject({ code: -32602 });
  });
});
