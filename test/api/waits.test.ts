import { agentTool, defineAgent, defineTool, waitFor } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noRedis } from '../support/lanefold.ts';
import { ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { bearer, mintKey, problem, startApi, type Answer, type Api } from './helpers.ts';

const awaitEvent = defineTool({
  name: 'await_event',
  input: z.object({ event: z.string() }),
  execute: ({ event }) => waitFor(event),
});

describe.skipIf(noRedis())('waits over HTTP', () => {
  let api: Api;
  const root = bearer('root');
  const keys = {} as Record<'steer' | 'reader' | 'acme' | 'bolt', { id: string; auth: Record<string, string> }>;
  beforeAll(async () => {
    api = await startApi({ server: { apiKey: 'root' }, agents: [defineAgent({ name: 'a', model: 'scripted:echo', tools: [awaitEvent] })] });
    const mint = (fields: object) => mintKey(api.call, root, fields);
    keys.steer = await mint({ scopes: ['steer'] });
    keys.reader = await mint({ scopes: ['read'] });
    keys.acme = await mint({ scopes: ['read', 'steer'], tenant: 'acme' });
    keys.bolt = await mint({ scopes: ['read', 'steer'], tenant: 'bolt' });
  });
  afterAll(() => api?.close());
});
