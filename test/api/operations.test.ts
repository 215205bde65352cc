import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/doors/app.ts';

import { problem, startApi, type Api } from './helpers.ts';

describe('a server', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ worker: false });
  });
  afterAll(() => api?.close());

  test('is alive, and ready while the database has the schema', async () => {
    expect(await api.call('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await api.call('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready', degraded: [] } });
    const { pool } = api.lanefold.database;
    await pool.query('alter function lanefold.schema_version() rename to hidden');
    expect(await api.call('GET', '/readyz')).toMatchObject({
      ...problem(503, 'not_ready'),
      body: { errors: [{ path: 'database' }] },
    });
    expect((await api.call('GET', '/healthz')).status).toBe(200);
    await pool.query('alter function lanefold.hidden() rename to schema_version');
    expect((await api.call('GET', '/readyz')).status).toBe(200);
  });

  test('leads from an address with a slash at its end to the page, probe or file that is meant', async () => {
    const asked = (path: string, method = 'GET') => fetch(`${api.url}${path}`, { method, redirect: 'manual' });
    const typed = createApp(api.lanefold)
      .routes.filter(({ method, path }) => method === 'GET' && !/^\/v1\/|[:*]|^\/$/.test(path))
      .map(({ path }) => path.replace(/\/$/, ''));
    expect(typed).toEqual(expect.arrayContaining(['/docs', '/readyz', '/healthz', '/metrics', '/admin/queues']));
    for (const path of new Set(typed)) {
      const { status, headers } = await asked(`${path}/?theme=dark`);
      expect([path, status, headers.get('location')]).toEqual([path, 308, `${path}?theme=dark`]);
    }
    for (const path of ['//docs/', '/nowhere/', '/v1/threads/', '/docs//'])
      expect((await asked(path)).status).toBe(404);
    expect((await asked('/docs/', 'POST')).status).not.toBe(308);
  });

  test('counts runs, jobs and responses for Prometheus', async () => {
    await api.call('POST', '/v1/threads/m/runs', { agent: 'calc', input: 'x', create_thread: true });
    await api.call('POST', '/v1/threads/m/runs', { agent: 'calc', input: 'y', busy: 'wait' });
    await api.lanefold.limits.set('slots', { kind: 'concurrency', amount: 0, scope: { customer: '*' } });
    await api.lanefold.runs.enqueue({ agent: 'calc', input: 'z', limitKeys: { customer: 'acme' } });
    const answer = await api.call('GET', '/metrics');
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const lines = answer.text.trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? \d+(\.\d+)?)$/);
    const queue = api.lanefold.queues[0]!.name;
    expect(lines).toEqual(
      expect.arrayContaining([
        'lanefold_runs{status="queued"} 2',
        'lanefold_runs{status="waiting"} 1',
        'lanefold_runs{status="running"} 0',
        'lanefold_oldest_due_delivery_seconds 0',
        'lanefold_limit_waiting_runs{limit="slots",kind="concurrency"} 1',
        'lanefold_limit_used_ratio{limit="slots",kind="concurrency"} 0',
        'lanefold_limit_lifetime_use{limit="slots",kind="concurrency"} 0',
        `lanefold_queue_jobs{queue="${queue}",state="waiting"} 1`,
        'lanefold_http_requests_total{method="POST",route="/v1/threads/:thread_id/runs",status="202"} 2',
      ]),
    );
  });

  test('serves a reference page that loads nothing from other hosts', async () => {
    const page = await api.call('GET', '/docs');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(links).toEqual(['data:,', '/docs/reference.js']);
    expect((await api.call('GET', links[1]!)).status).toBe(200);
  });
});
