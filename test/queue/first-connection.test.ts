import net from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openQueue } from '../../src/queue/queue.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { listenFor } from '../support/listen.ts';
import { queueBackend } from '../support/lanefold.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database.drop());

test.skipIf(queueBackend() === 'redis')(
  'a worker whose first connection breaks is refused, and lets the process go on',
  async () => {
    // accepts, and hangs up: what a PostgreSQL that shuts down does
    const server = net.createServer((socket) => socket.destroy());
    const queue = openQueue({ databaseUrl: await listenFor(server, database.url), prefix: 'first' });
    const work = queue.work(() => Promise.reject(new Error('no job')), {
      ...{ concurrency: 1, name: 'w', lockMs: 6_000, stalledMs: 2_000, onError: () => {} },
    });
    await expect(work).rejects.toMatchObject({ code: 'queue_unreachable' });
    // a timer would never fire in a process whose worker spins
    await new Promise((resolve) => setTimeout(resolve, 1));
    await queue.close();
    server.close();
  },
);
