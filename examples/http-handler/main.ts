import { serve } from '@hono/node-server';
import { drizzle } from 'drizzle-orm/node-postgres';
import { createLanefold } from 'lanefold';
import pg from 'pg';
import { stopSignal } from '../stop.ts';
import agents from './agents.ts';
import { createApp } from './app.ts';
import { createOrders } from './schema.ts';

const lanefold = await createLanefold({ agents, migrate: true });
const pool = new pg.Pool({ connectionString: lanefold.databaseUrl });
await pool.query(createOrders);
// In production the worker is a separate process: see ../worker.
await lanefold.startWorker();

const app = createApp(drizzle(pool), lanefold);
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
  console.log(`orders at http://127.0.0.1:${port}/orders`),
);

await stopSignal();
server.close();
await pool.end();
await lanefold.close();
