// @module-tag slow
import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overridableFields } from '../../src/agent/definition/overridable.ts';
import { scopes } from '../../src/base/access/principal.ts';
import { operationsOf, resolved, type OpenApi, type Operation } from './document.ts';
import { bearer, problem, startApi, type Answer, type Api } from './helpers.ts';

let api: Api;
let document: OpenApi;
const auths: Record<'calc' | 'shop', Record<string, string>> = { calc: {}, shop: {} };
beforeAll(async () => {
  const agents = ['calc', 'shop'].map((name) =>
    defineAgent({ name, model: 'scripted:echo', overridable: { http: overridableFields } }),
  );
  api = await startApi({ agents, worker: false, tokenSecrets: ['s'] });
  document = (await api.call('GET', '/openapi.json')).body;
  for (const agent of ['calc', 'shop'] as const) {
    const { key } = await api.lanefold.keys.create({ name: agent, scopes: [...scopes], agents: [agent] });
    auths[agent] = bearer(key);
  }
});
afterAll(() => api?.close());

const as = (agent: 'calc' | 'shop', method: string, path: string, body?: unknown): Promise<Answer> =>
  api.call(method, path, body, auths[agent]);

/** A thread with a run of an agent that waits for a worker. */
async function threadOf(agent: string, id: string) {
  const run = await api.lanefold.runs.enqueue({ agent, input: 'hi', threadId: id, createThread: true });
  return { agent, thread_id: id, run_id: run.id, token: (await api.lanefold.runs.checkpoint(run)).token };
}

/** As a worker does: begins with the run, and says what became of that. */
const claim = async (threadId: string, id: string) => {
  const known = { alone: true, strategies: ['react', 'compaction'], config_fingerprint: 'f' };
  const p = { ...known, worker_id: 'w', lease_ms: 60_000, max_claims_without_progress: 3, prompt: null };
  const text = 'select lanefold.claim_run($1, $2, 1, $3) as claim';
  const { rows } = await api.lanefold.database.pool.query<{ claim: object }>(text, [threadId, id, p]);
  return rows[0]!.claim;
};
const end = (threadId: string, id: string) =>
  api.lanefold.database.pool.query('select lanefold.finish_run($1, $2, null, $3)', [
    threadId,
    id,
    { status: 'failed', reason: 'error' },
  ]);

/** All that an operation could have changed. */
const stateOf = async (threadId: string) => {
  const { lanefold } = api;
  const audit = await lanefold.audit.list({ threadId, limit: 1_000 });
  return {
    thread: await lanefold.threads.get(threadId),
    runs: (await lanefold.runs.list({ threadId })).data,
    audit: audit.filter(({ action }) => action !== 'keys.create'),
    inputs: (await lanefold.runs.inputs({ threadId, id: (await lanefold.runs.list({ threadId })).data[0]!.id })).length,
  };
};

type Named = Awaited<ReturnType<typeof threadOf>>;

/** Where a request names a thread or an agent: in its path, its query or its body. */
interface Place {
  where: 'path' | 'query' | 'body';
  name: string;
  names: 'thread' | 'agent';
}

/** As the document has it. The `id` of a body is that of a thread to make. A run is only found in its thread. */
function placesOf({ parameters, requestBody }: Operation): Place[] {
  const fields = requestBody && resolved(document, requestBody.content['application/json'].schema).properties;
  const all = [
    ...parameters.map(({ in: where, name }) => ({ where, name })),
    ...Object.keys(fields ?? {}).map((name) => ({ where: 'body' as const, name })),
  ];
  return all.flatMap(({ where, name }): Place[] => {
    if (where === 'header') return [];
    if (/(^|_)agent$/.test(name)) return [{ where, name, names: 'agent' }];
    const isThread = /(^|_)thread_id$|^threadId$/.test(name) || (where === 'body' && ['id', 'token'].includes(name));
    return isThread ? [{ where, name, names: 'thread' }] : [];
  });
}

/** The operation, each place naming what `named` says. */
function requestFor({ method, path }: Operation, places: Place[], named: (place: Place) => Named) {
  const value = (place: Place): string => {
    const { agent, thread_id: thread, token } = named(place);
    return place.names === 'agent' ? agent : place.name === 'token' ? token : thread;
  };
  const given = (where: Place['where']) =>
    Object.fromEntries(places.filter((place) => place.where === where).map((place) => [place.name, value(place)]));
  const { run_id: run } = named(places[0]!);
  const values: Record<string, string> = {
    run_id: run,
    llm_call_id: `${run}.1`,
    call: '1.0',
    context_ref: 'default',
    ...given('path'),
  };
  const query = new URLSearchParams(given('query')).toString();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x');
  return [method, query ? `${filled}?${query}` : filled, method === 'GET' ? undefined : given('body')] as const;
}

describe('a key that is bound to agents', () => {
  const operations = () => operationsOf(document).filter(({ path }) => path.startsWith('/v1/'));
  const namesThread = (operation: Operation) => placesOf(operation).some(({ names }) => names === 'thread');

  test('is refused where any one place of a request names another agent, or a thread of one', async () => {
    const passed: string[] = [];
    const useless: string[] = [];
    const tried: string[] = [];
    const other = await threadOf('shop', 'of-shop');
    const before = await stateOf(other.thread_id);
    for (const operation of operations().filter(namesThread)) {
      const { operationId: id } = operation;
      const own = await threadOf('calc', `own-${id}`);
      const places = placesOf(operation);
      for (const foreign of places) {
        const place = `${id}: ${foreign.where} ${foreign.name}`;
        tried.push(place);
        const request = requestFor(operation, places, (each) => (each === foreign ? other : own));
        const { status, body } = await as('calc', ...request);
        if (status !== 403 || (body as { code: string }).code !== 'forbidden') passed.push(`${place} ${status}`);
      }
      // the same request is refused for the foreign name alone
      if ((await as('calc', ...requestFor(operation, places, () => own))).status === 403) useless.push(id);
    }
    expect(passed).toEqual([]);
    expect(await stateOf(other.thread_id)).toEqual(before);
    // not for such a key at all, whatever thread it filters by or continues with
    expect(useless.sort()).toEqual([
      'keepCase',
      'listAudit',
      'listCases',
      'listFeedback',
      'moveThread',
      'redeliverWebhook',
      'setSchedule',
      'streamTree',
    ]);
    expect(tried.length).toBeGreaterThan(45);
    expect(tried).toEqual(expect.arrayContaining(['getContext: query agent', 'diffContexts: query other_thread_id']));
  });

  test('is refused what names no thread, except the list of agents, which has its own', async () => {
    const passed: string[] = [];
    for (const operation of operations()) {
      if (namesThread(operation)) continue;
      const { operationId: id, method, path } = operation;
      const { status } = await as('calc', method, path.replaceAll(/\{\w+\}/g, 'x'), method === 'GET' ? undefined : {});
      if (status !== 403) passed.push(id);
    }
    expect(passed).toEqual(['listAgents']);
    expect((await as('calc', 'GET', '/v1/agents')).text).not.toContain('shop');
    expect(await as('calc', 'GET', '/v1/keys?thread_id=x&other_thread_id=x')).toMatchObject(problem(403, 'forbidden'));
    expect((await as('calc', 'POST', '/v1/threads', {})).status).toBe(201);
  });

  test('works in threads in which only its agents have run', async () => {
    expect((await as('calc', 'POST', '/v1/threads', { id: 'mine' })).status).toBe(201);
    const ask = (agent: string, more = {}) =>
      as('calc', 'POST', '/v1/threads/mine/runs', { agent, input: 'hi', ...more });
    expect((await ask('calc')).status).toBe(202);
    expect(await ask('shop', { busy: 'wait' })).toMatchObject(problem(403, 'forbidden'));
    expect((await as('calc', 'GET', '/v1/threads/mine/entries')).status).toBe(200);
    await api.lanefold.runs.enqueue({ agent: 'shop', input: 'hi', threadId: 'mine', busy: 'wait' });
    expect(await as('calc', 'GET', '/v1/threads/mine/entries')).toMatchObject(problem(403, 'forbidden'));
    expect(await as('calc', 'GET', '/v1/threads/none')).toMatchObject(problem(404, 'thread_not_found'));
  });

  test('does not reach another agent through another thread of the request, or through a fork', async () => {
    const mine = await threadOf('calc', 'near');
    const other = await threadOf('shop', 'far');
    const entries = [{ kind: 'note', payload: {} }];
    await as('shop', 'POST', '/v1/threads/far/entries', { entries });
    await as('calc', 'POST', '/v1/threads/near/entries', { entries });
    expect(await as('calc', 'GET', '/v1/threads/near/contexts/default/diff?other_thread_id=far')).toMatchObject(
      problem(403, 'forbidden'),
    );
    expect(await as('calc', 'POST', '/v1/threads/near/fork', { id: 'far' })).toMatchObject(problem(403, 'forbidden'));
    const rerun = `/v1/threads/near/runs/${mine.run_id}/rerun`;
    expect(await as('calc', 'POST', rerun, { thread_id: 'far' })).toMatchObject(problem(403, 'forbidden'));

    expect(await claim('far', other.run_id)).toMatchObject({ claimed: true });
    await end('far', other.run_id);
    await api.lanefold.threads.fork('far', { id: 'far-fork' });
    await api.lanefold.threads.fork('far-fork', { id: 'far-fork-fork' });
    for (const id of ['far-fork', 'far-fork-fork']) {
      expect(await as('calc', 'GET', `/v1/threads/${id}/entries`)).toMatchObject(problem(403, 'forbidden'));
      expect((await as('shop', 'GET', `/v1/threads/${id}/entries`)).status).toBe(200);
    }
    expect((await as('calc', 'POST', '/v1/threads/near/fork', { id: 'near-fork' })).status).toBe(201);
    expect((await as('calc', 'GET', '/v1/threads/near-fork')).status).toBe(200);
    // what was said in an erased thread is still in its forks, and whose it was is no longer known
    await api.lanefold.threads.erase('far');
    expect(await as('shop', 'GET', '/v1/threads/far-fork')).toMatchObject(problem(403, 'forbidden'));
  });

  test('reads a fork of its thread, whatever another agent does in the thread later', async () => {
    const { run_id: id } = await threadOf('calc', 'trunk');
    await api.lanefold.runs.cancel({ threadId: 'trunk', id });
    await api.lanefold.threads.append('trunk', [{ message: { role: 'user', content: 'hi' } }]);
    await api.lanefold.threads.fork('trunk', { id: 'branch' });
    const branch = async () => (await as('calc', 'GET', '/v1/threads/branch')).status;
    const waiting = await api.lanefold.runs.enqueue({ agent: 'shop', input: 'hi', threadId: 'trunk' });
    expect(await branch()).toBe(200);
    await api.lanefold.runs.cancel(waiting);
    expect(await branch()).toBe(200);
    const compaction = await api.lanefold.contexts.compact('trunk', { agent: 'shop', keepTurns: 0 });
    expect(await branch()).toBe(200);
    expect(await claim('trunk', compaction.id)).toMatchObject({ claimed: true });
    expect(await branch()).toBe(200);
    // a fork of what it has written by then
    await api.lanefold.threads.append('trunk', [{ kind: 'note', payload: {} }]);
    await api.lanefold.threads.fork('trunk', { id: 'late-branch' });
    expect(await as('calc', 'GET', '/v1/threads/late-branch')).toMatchObject(problem(403, 'forbidden'));
  });

  test('compacts with its agents alone', async () => {
    await as('calc', 'POST', '/v1/threads', { id: 'long' });
    const compact = await as('calc', 'POST', '/v1/threads/long/compact', { agent: 'shop' });
    expect(compact).toMatchObject(problem(403, 'forbidden'));
  });
});
