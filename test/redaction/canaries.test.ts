// @module-tag long
import { randomBytes } from 'node:crypto';
import { tool } from 'ai';
import {
  callAgent,
  defineAgent,
  defineTool,
  handOff,
  type AgentDefinition,
  type Logger,
  type RunHandle,
} from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { overridableFields } from '../../src/agent/definition/overridable.ts';
import { startApi, type Api } from '../api/helpers.ts';
import { statements, urlAs } from '../support/citus.ts';
import { fakeModel } from '../support/fake-model.ts';
import { onCitus } from '../support/services.ts';
import { placesOf } from '../support/stored-text.ts';
import { openPool } from '../support/pool.ts';
import { until } from '../support/until.ts';
import { startSdk } from '../telemetry/otel.ts';

/*
 * Secrets in every place of a definition, a request and a schedule that can hold one. None has a form that a pattern
 * knows, and those of headers and tool context have names that no list knows.
 */
const all: string[] = [];
const canary = (place: string): string => {
  all.push(`canary${place}${randomBytes(6).toString('hex')}`);
  return all.at(-1)!;
};

/** Those of a request, a child and a schedule, which workers need to carry it out. */
const given = {
  header: canary('RequestHeader'),
  context: canary('RequestContext'),
  option: canary('RequestOption'),
  child: canary('ChildContext'),
  handed: canary('HandedContext'),
  handedHeader: canary('HandedHeader'),
  schedule: canary('ScheduleContext'),
  webhook: canary('WebhookUrl'),
};
const defined = {
  header: canary('Header'),
  context: canary('Context'),
  nested: canary('Nested'),
  option: canary('Option'),
  toolOption: canary('ToolOption'),
  example: canary('Example'),
  judge: canary('Judge'),
};

/** Where the secrets of requests have to be, as their owner sees it. */
const needed = ['_run.options', '_wait.request', '_schedule.definition', '_schedule_slot.request', '_webhook.url'];

const settings = (name: string, header: string, option: string) => ({
  headers: { [name]: header },
  providerOptions: { gateway: { byok: { some: [{ apiKey: option, region: 'eu' }] } } },
});
const ask = defineTool({
  name: 'ask',
  input: z.object({}),
  execute: () => callAgent('helper', { input: 'help', toolContext: { door: given.child } }),
});
const look = tool({
  inputSchema: z.object({ password: z.string() }),
  providerOptions: { some: { authToken: defined.toolOption } },
  inputExamples: [{ input: { password: defined.example } }],
  execute: () => 'found',
});
const agent = (changes: Partial<AgentDefinition> = {}): AgentDefinition => ({
  name: 'main',
  model: 'fake:main',
  instructions: 'Help.',
  tools: { ask, look },
  settings: settings('x-door', defined.header, defined.option),
  toolContext: { door: defined.context, list: [{ pin: defined.nested }], beta: true },
  overridable: { http: overridableFields },
  ...changes,
});

let api: Api;
let sdk: ReturnType<typeof startSdk>;
let readKey: string;
let runs: Pick<RunHandle, 'threadId' | 'id'>[];
const ids: Record<string, string> = {};
const exported: string[] = [];
const lines: unknown[] = [];
const sent: unknown[] = [];
const roles = {
  api: `canary_api_${randomBytes(4).toString('hex')}`,
  reader: `canary_reader_${randomBytes(4).toString('hex')}`,
};

describe('secrets of definitions and requests', () => {
  beforeAll(async () => {
    sdk = startSdk();
    const keep = (facts: object, message: string) => void lines.push([facts, message]);
    const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
    const main = fakeModel((options, n) => {
      sent.push(options.headers, options.providerOptions);
      if (n === 0) return { calls: [{ id: 'c', name: 'ask', args: {} }] };
      return n === 1
        ? { text: 'done' }
        : new Error(`the request with ${JSON.stringify([options.headers, options.providerOptions])} was refused`);
    });
    api = await startApi({
      logger,
      telemetry: { content: true },
      models: { fake: () => main },
      agents: [
        agent(),
        defineAgent({ name: 'helper', model: 'scripted:["helped"]', toolContext: { door: defined.context } }),
        agent({
          name: 'giver',
          model: 'scripted:["given"]',
          tools: {},
          onEnd: handOff('helper', { ask: 'Continue.' }),
        }),
        defineAgent({
          name: 'judge',
          model: 'fake:judge',
          toolContext: { door: defined.judge },
          settings: settings('x-judge', defined.judge, defined.judge),
        }),
      ],
    });
    const { lanefold } = api;
    ({ key: readKey } = await lanefold.keys.create({ name: 'reader', scopes: ['read'] }));
    for (const [duty, name] of Object.entries(roles)) {
      await statements(lanefold.database.url, `create role ${name} login password 'p'`);
      await lanefold.database.pool.query('select lanefold.grant_role($1, $2, $3)', [
        name,
        duty,
        duty === 'reader' ? '*' : null,
      ]);
    }
    const request = {
      agent: 'main',
      input: 'hi',
      threadId: 'canaries',
      toolContext: { room: given.context },
      settings: settings('x-room', given.header, given.option),
    } as const;
    await lanefold.threads.create({ id: 'canaries' });
    runs = [await lanefold.runs.enqueue(request)];
    expect((await lanefold.runs.wait(runs[0]!)).result).toBe('done');
    runs.push(await lanefold.runs.enqueue(request));
    expect((await lanefold.runs.wait(runs[1]!)).status).toBe('failed');
    const handed = await lanefold.runs.enqueue({
      agent: 'giver',
      input: 'hi',
      threadId: 'handed',
      createThread: true,
      toolContext: { room: given.handed },
      settings: settings('x-hall', given.handedHeader, given.handedHeader),
    });
    expect((await lanefold.runs.wait(handed)).result).toBe('helped');
    const again = [await lanefold.runs.retry(handed), await lanefold.runs.rerun(handed, { threadId: 'handed-again' })];
    for (const run of again) expect((await lanefold.runs.wait(run)).result).toBe('helped');
    runs.push(handed, ...again);
    const { id: caseId } = await lanefold.cases.keep({
      threadId: 'canaries',
      runId: runs[0]!.id,
      dataset: 'kept',
      expected: { rubric: 'Does it help?' },
    });
    const judge = { agent: 'judge' };
    await lanefold.monitors.set('watch', {
      agents: ['helper'],
      scorers: ['ok'],
      rubric: 'Does it help?',
      judge,
      sample: 1,
    });
    // as it was, it fails: the model refuses all further requests, with what they carry
    const variants = [{ name: 'as it was' }, { name: 'helped', agent: 'helper' }];
    const { id: evalId } = await lanefold.evals.run({ dataset: 'kept', judge, variants });
    await lanefold.evals.wait(evalId);
    for await (const line of lanefold.cases.export('kept')) exported.push(line);
    const items = await lanefold.evals.items(evalId);
    expect(items.map(({ runId }) => runId !== null)).toEqual([true, true]);
    runs.push(...items.map(({ threadId, runId }) => ({ threadId: threadId!, id: runId! })));
    Object.assign(ids, { case_id: caseId, eval_id: evalId });
    await lanefold.schedules.set('nightly', {
      agent: 'helper',
      input: 'hi',
      everyMs: 1_000,
      options: { toolContext: { door: given.schedule } },
    });
    await lanefold.webhooks.set('hook', { url: `https://1.1.1.1/${given.webhook}?token=${given.webhook}` });
    await until('a slot has run', async () =>
      (await lanefold.schedules.slots('nightly')).data.some(({ runId }) => runId),
    );
  });
  afterAll(async () => {
    const { database } = api.lanefold;
    for (const name of Object.values(roles)) {
      await database.pool.query('select lanefold.revoke_role($1)', [name]);
      await statements(database.url, `drop owned by ${name}`, `drop role ${name}`);
    }
    await api.close();
    await sdk.stop();
  });

  /** Where a canary stands: `place: canary`. */
  const found = (text: string, place: string, among = all): string[] =>
    among.filter((one) => text.includes(one)).map((one) => `${place}: ${one}`);

  /** What a role finds in the columns of the tables and views that it may read. */
  async function searchAs(role: string | undefined): Promise<string[]> {
    const { database } = api.lanefold;
    const pool = openPool({ connectionString: role ? urlAs(database.url, role, 'p') : database.url, max: 1 });
    const places: string[] = [];
    try {
      await pool.query("set lanefold.tenant = 'default'");
      const { rows } = await pool.query<{ name: string; column: string; type: string }>(
        `select c.oid::regclass::text as name, a.attname as column from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('lanefold', 'bullmq') and c.relkind in ('r', 'p', 'v') and has_schema_privilege(n.oid, 'usage')
         and has_column_privilege(c.oid, a.attnum, 'select') order by 1, 2`,
      );
      expect(rows.length).toBeGreaterThan(50);
      for (const { name, column } of rows) {
        const { rows: values } = await pool.query<{ text: string }>(
          `select coalesce(string_agg(convert_from(convert_to(t.${pgName(column)}::text, 'utf8'), 'utf8'), ' '), '') as text from ${name} t`,
        );
        places.push(...found(values[0]!.text, `${name.replace(/^lanefold\./, '')}.${column}`));
      }
    } finally {
      await pool.end();
    }
    return places;
  }
  const pgName = (name: string): string => `"${name}"`;

  const isOf = (secrets: object) => (place: string) =>
    Object.values(secrets).some((one: string) => place.endsWith(one));

  test('the secrets reach the model and the tools, so the tests below look for what was there', () => {
    const text = JSON.stringify(sent);
    for (const one of [given.header, given.option, defined.header]) expect(text).toContain(one);
  });

  test('no table has a secret of a definition, and only what executes a request has its secrets', async () => {
    const places = await searchAs(undefined);
    expect(places.filter(isOf(defined))).toEqual([]);
    expect(places.filter((place) => !needed.includes(place.split(':')[0]!))).toEqual([]);
    expect(places.length).toBeGreaterThan(0);
  });

  test('a role of the API finds no secret of a definition', async () => {
    expect((await searchAs(roles.api)).filter(isOf(defined))).toEqual([]);
  });

  // on Citus, a reader may read the tables under the views
  test.skipIf(onCitus)('a reader finds no secret at all', async () => {
    expect(await searchAs(roles.reader)).toEqual([]);
  });

  test('a key with `read` is answered without secrets, whatever it asks', async () => {
    const { lanefold } = api;
    const [version] = await lanefold.agents.versions('main');
    const document = (await api.call('GET', '/openapi.json')).body as {
      paths: Record<string, Record<string, unknown>>;
    };
    const values: Record<string, string> = {
      ...ids,
      agent: 'main',
      name: 'nightly',
      context_ref: 'default',
      from: version!.id,
      to: version!.id,
    };
    const names: Record<string, string> = { webhooks: 'hook', monitors: 'watch' };
    const places: string[] = [];
    let answered = 0;
    const asked = new Set<string>();
    for (const path of Object.keys(document.paths).filter((one) => document.paths[one]!['get'])) {
      const name = /^\/v1\/(webhooks|monitors)/.exec(path)?.[1];
      for (const run of runs) {
        const url = path.replace(
          /\{(\w+)\}/g,
          (_, key: string) =>
            ({ ...values, thread_id: run.threadId, run_id: run.id, ...(name && { name: names[name]! }) })[key] ??
            'none',
        );
        const query = path.endsWith('/diff') ? `?from=${version!.id}&to=${version!.id}` : '';
        // one that names no run is the same for all
        if (asked.has(url)) continue;
        asked.add(url);
        const { status, text } = await api.call('GET', `${url}${query}`, undefined, {
          authorization: `Bearer ${readKey}`,
          accept: 'application/json',
        });
        if (status === 200) answered += 1;
        places.push(...found(text, path));
      }
    }
    expect(answered).toBeGreaterThan(30);
    expect([...new Set(places)]).toEqual([]);
  });

  test('logs, traces, jobs and metrics have no secret', async () => {
    const { url, lanefold } = api;
    const board = `/admin/queues/api/queues`;
    const jobs = await api.call(
      'GET',
      `${board}?activeQueue=${lanefold.queues[0]!.name}&status=latest&page=1&jobsPerPage=50`,
    );
    expect(jobs.status).toBe(200);
    expect(lines.length).toBeGreaterThan(0);
    expect([
      ...found(JSON.stringify(lines), 'log'),
      ...found(sdk.exported(), 'spans'),
      ...found(jobs.text, 'Bull Board'),
      ...found(await (await fetch(`${url}/metrics`)).text(), 'metrics'),
    ]).toEqual([]);
  });

  test('an export has no secret', async () => {
    const { text } = await api.call('GET', '/v1/threads/canaries/export');
    expect(text).toContain('ai_message');
    expect(exported.length).toBeGreaterThan(0);
    expect(found(`${text} ${exported.join(' ')}`, 'export')).toEqual([]);
  });

  test('the queue has no secret', async () => {
    for (const one of all) {
      const places = await placesOf(api.lanefold, one);
      expect(places.filter((place) => !place.startsWith('lanefold.'))).toEqual([]);
    }
  });
});
