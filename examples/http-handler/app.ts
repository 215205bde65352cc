import { eq } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { isLanefoldError, type Lanefold } from 'lanefold';
import { z } from 'zod';
import { orders } from './schema.ts';

const NewOrder = z.strictObject({ item: z.string().min(1), quantity: z.int().min(1) });

/** `POST /orders` stores an order and enqueues a run for it; `GET /orders/:id` returns the order with the run's status and answer. */
export function createApp(db: NodePgDatabase, lanefold: Lanefold): Hono {
  const app = new Hono();

  app.post('/orders', async (c) => {
    const { item, quantity } = NewOrder.parse(await c.req.json());
    // One transaction: never an order without its run, nor a run without its order.
    const order = await db.transaction(async (tx) => {
      const run = await lanefold.runs.enqueue(
        { agent: 'order-desk', input: `Please confirm ${quantity} of ${item}.` },
        { tx },
      );
      const [row] = await tx
        .insert(orders)
        .values({ item, quantity, threadId: run.threadId, runId: run.id })
        .returning();
      if (quantity > 1_000) throw new HTTPException(422, { message: 'We do not sell that many.' });
      return row!;
    });
    return c.json(order, 202, { Location: `/orders/${order.id}` });
  });

  app.get('/orders/:id', async (c) => {
    const [order] = await db
      .select()
      .from(orders)
      .where(eq(orders.id, Number(c.req.param('id'))));
    if (!order) throw new HTTPException(404, { message: 'There is no such order.' });
    const { status, result, error } = await lanefold.runs.get({ threadId: order.threadId, id: order.runId });
    return c.json({ ...order, status, answer: result, error });
  });

  app.onError((error, c) => {
    if (error instanceof HTTPException) return c.json({ error: error.message }, error.status);
    if (error instanceof z.ZodError || error instanceof SyntaxError) return c.json({ error: error.message }, 400);
    if (isLanefoldError(error)) return c.json({ error: error.message, hint: error.hint }, error.status as 500);
    console.error(error);
    return c.json({ error: 'Something went wrong.' }, 500);
  });
  return app;
}
