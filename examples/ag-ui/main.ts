import { randomBytes } from 'node:crypto';
import { serve } from '@hono/node-server';
import { createLanefold } from 'lanefold';
import { stopSignal } from '../stop.ts';
import agents from './agents.ts';
import { createApp } from './app.ts';

const lanefold = await createLanefold({ agents, migrate: true });
// In production the worker is a separate process: see ../worker.
await lanefold.startWorker();

const app = await createApp(lanefold, process.env.COOKIE_SECRET ?? randomBytes(32).toString('hex'));
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
  console.log(`page at http://127.0.0.1:${port}/`),
);

await stopSignal();
server.close();
await lanefold.close();
