// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { listenFor } from '../support/listen.ts';
import { queueBackend } from '../support/lanefold.ts';

// Runs in its own process: if the worker spins, no test timeout can end it.
const script = path.join(inject('packageDir'), 'dist/test/queue/fixtures/refused-worker.js');

const servers: [string, (socket: net.Socket) => void][] = [
  ['closes the connection, as during shutdown', (socket) => socket.destroy()],
  ['never answers', () => {}],
];

test.skipIf(queueBackend() === 'redis')(
  `workers whose PostgreSQL ${servers.map(([does]) => does).join(', or ')}, fail with queue_unreachable, and their process can exit`,
  async () => {
    const sockets = new Set<net.Socket>();
    const urls = servers.map(([, answer]) => {
      const server = net.createServer((socket) => {
        sockets.add(socket.on('error', () => {}));
        answer(socket);
      });
      onTestFinished(() => void server.close());
      return listenFor(server, 'postgres://postgres@127.0.0.1/none');
    });
    const args = [script, ...(await Promise.all(urls))];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 30_000 });
    const exited = once(child, 'exit');
    const [output] = (await Promise.race([once(child.stdout, 'data'), exited])) as [unknown];
    expect(String(output)).toBe('queue_unreachable queue_unreachable\n');
    for (const socket of sockets) socket.destroy();
    expect(await exited).toEqual([0, null]);
  },
);
