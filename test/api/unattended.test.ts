import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { readSse } from '../support/sse.ts';
import { startApi, type Api } from './helpers.ts';

describe('a run that no worker can take, over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi({ worker: false, unattendedMs: 50 });
  });
  afterAll(() => api?.close());

  test('is said on the streams of the run and of its thread, and in the run', async () => {
    const { threadId, id } = await api.lanefold.runs.enqueue({ agent: 'calc', input: 'hi' });
    const thread = `/v1/threads/${threadId}`;
    const message = expect.stringContaining('no worker is alive') as string;
    const streams = [
      await readSse(`${api.url}${thread}/events`),
      await readSse(`${api.url}${thread}/runs/${id}/events`),
    ];
    for (const stream of streams) {
      await stream.has('unattended');
      // no id: there is nothing to resume after
      expect(stream.messages).toEqual([
        {
          event: 'unattended',
          data: { thread_id: threadId, run_id: id, agent: 'calc', reason: 'no_worker', message },
        },
      ]);
    }
    expect((await api.call('GET', `${thread}/runs/${id}`)).body).toMatchObject({
      unattended: { reason: 'no_worker', message },
    });
    await api.lanefold.startWorker();
    await streams[1]!.ended;
    expect(streams[1]!.events().filter((event) => event === 'unattended')).toHaveLength(1);
    streams[0]!.leave();
  });
});
