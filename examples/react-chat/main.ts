import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { serve } from '@hono/node-server';
import { createLanefold } from 'lanefold';
import { stopSignal } from '../stop.ts';
import agents from './agents.ts';
import { createApp } from './app.ts';

const random = () => randomBytes(32).toString('hex');

const lanefold = await createLanefold({
  agents,
  migrate: true,
  tokenSecrets: [process.env.LANEFOLD_TOKEN_SECRET ?? random()],
});
// In production, the worker and the API are separate processes.
await lanefold.startWorker();
const { url } = await lanefold.startServer({ port: 0, page: false, apiKey: process.env.LANEFOLD_API_KEY ?? random() });

const page = path.join(import.meta.dirname, 'dist');
const app = createApp(lanefold, { api: url, page, secret: process.env.COOKIE_SECRET ?? random() });
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
  console.log(`chat at http://127.0.0.1:${port}/`),
);

await stopSignal();
server.close();
await lanefold.close();
