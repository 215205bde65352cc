import { createClient, isClientError } from 'lanefold/client';
import { expect, test } from 'vitest';

const unauthorized = { code: 'unauthorized', status: 401, title: 'x', detail: 'The token has expired.', hint: '' };
const problem = `event: problem\ndata: ${JSON.stringify(unauthorized)}\n\n`;
const event = { event_seq: 1, kind: 'request_completed', run_id: 'run_1', data: {} };
const over = `event: request_completed\ndata: ${JSON.stringify(event)}\n\n`;
const run = { threadId: 't', id: 'run_1' };

/** A client that reconnects at most twice, of a server whose connections say these things, one after the other. */
function quietly(connections: string[], getToken?: () => string) {
  const fetch = () => {
    const text = connections.shift();
    if (text === undefined) throw new TypeError('no more connections');
    return Promise.resolve(
      new Response(`retry: 1000\n\n${text}`, { headers: { 'content-type': 'text/event-stream' } }),
    );
  };
  return createClient({ url: 'http://own', fetch, maxRetries: 2, retryDelayMs: 0, ...(getToken ? { getToken } : {}) });
}

async function kindsOf(client: ReturnType<typeof quietly>): Promise<string[]> {
  const kinds: string[] = [];
  for await (const item of client.runs.stream(run)) if (item.type === 'event') kinds.push(item.event.kind);
  return kinds;
}

test('a stream whose server only shows that it works may be cut any number of times', async () => {
  const quiet = Array.from({ length: 10 }, () => ': \n\n');
  expect(await kindsOf(quietly([...quiet, over]))).toEqual(['request_completed']);
});

test('a stream outlives any number of tokens, however short-lived', async () => {
  let tokens = 0;
  const expired = Array.from({ length: 10 }, () => problem);
  expect(await kindsOf(quietly([...expired, over], () => `token ${(tokens += 1)}`))).toEqual(['request_completed']);
  expect(tokens).toBe(11);
});

test('a stream that only opens is given up, and so is one whose token cannot be renewed', async () => {
  const codeOf = (client: ReturnType<typeof quietly>) =>
    kindsOf(client).then(
      () => 'none',
      (error: unknown) => (isClientError(error) ? error.code : 'another'),
    );
  const left = Array.from({ length: 10 }, () => '');
  expect(await codeOf(quietly(left))).toBe('unreachable');
  expect(left).toHaveLength(7);
  expect(await codeOf(quietly([problem, over]))).toBe('unauthorized');
});
