import { randomBytes } from 'node:crypto';
import { createLanefold } from 'lanefold';
import { stopSignal } from '../stop.ts';
import agents, { paymentOf } from './agents.ts';

const order = process.argv[2] ?? 'A-17';

// In production, set LANEFOLD_TOKEN_SECRET: with a random secret, links end with this process.
const secret = process.env.LANEFOLD_TOKEN_SECRET ? {} : { tokenSecrets: [randomBytes(32).toString('hex')] };
const lanefold = await createLanefold({ agents, migrate: true, ...secret });
// In production, worker and API are separate processes: see ../worker.
await lanefold.startWorker();
const server = await lanefold.startServer({ port: Number(process.env.PORT ?? 4100) });

// The same request id in the same thread is the same run: starting this again continues the order.
const threadId = `order:${order}`;
const input = `I would like to buy order ${order}.`;
const run = await lanefold.runs.enqueue({ agent: 'shop', input, threadId, createThread: true, requestId: 'buy' });

// Kept for a day, because the customer may be faster than the agent.
const token = await lanefold.events.token(paymentOf(order), { expiresMs: 7 * 86_400_000, keepMs: 86_400_000 });
console.log(`pay at ${server.url}/signed/events/${token}`);

const ended = await Promise.race([lanefold.runs.wait(run), stopSignal()]);
if (typeof ended === 'string') console.log('stopped; start this again to continue with the order');
else console.log(`${ended.status}: ${ended.result ?? ended.error?.message}`);
await lanefold.close();
