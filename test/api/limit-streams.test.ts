import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { limitStreams } from '../../src/server/access/limit-streams.ts';
import type { ApiEnv } from '../../src/server/env.ts';
import { toProblem } from '../../src/server/problem.ts';
import { deferred } from '../support/until.ts';

test('requests that are no streams take no place of one', async () => {
  const answered = deferred();
  const app = new Hono<ApiEnv>();
  app.onError((error, c) => c.body(null, toProblem(error).status as 429));
  app.use((c, next) => {
    c.set('principal', { actor: 'key:a', limits: { streams: 1 } } as ApiEnv['Variables']['principal']);
    return next();
  });
  app.use(limitStreams());
  app.get('/v1/slow', async (c) => {
    await answered.promise;
    return c.text('done');
  });
  app.get('/v1/events', () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }));
  const slow = ['/v1/slow', '/v1/slow?format=json', '/v1/slow'].map((path) => app.request(path));
  const stream = () => app.request('/v1/events', { headers: { accept: 'text/event-stream' } });
  const first = await stream();
  expect(first.status).toBe(200);
  expect((await stream()).status).toBe(429);
  await first.body!.cancel();
  expect((await stream()).status).toBe(200);
  answered.resolve();
  for (const answer of await Promise.all(slow)) expect(answer.status).toBe(200);
});
