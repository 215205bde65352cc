import { defineAgent, defineTool, ToolError } from 'lanefold';
import { z } from 'zod';
import { model } from '../model.ts';

const orders = new Map([['A-17', { item: 'lamp', state: 'shipped', euros: 40 }]]);

const lookUpOrder = defineTool({
  name: 'look_up_order',
  description: 'Item, state and price of an order.',
  input: z.object({ orderId: z.string().describe('Such as A-17').default('A-17') }),
  execute: ({ orderId }) => {
    const order = orders.get(orderId);
    // the model reads this and may try another id
    if (!order) throw new ToolError(`There is no order ${orderId}.`);
    return order;
  },
});

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refunds an order.',
  input: z.object({ orderId: z.string() }),
  // Never run again after a crash: the model reads that the outcome is unknown.
  replay: 'never',
  execute: ({ orderId }, { idempotencyKey, signal }) => pay(orderId, { idempotencyKey, signal }),
});

/** Stands in for a payment service: the same key twice pays once. */
async function pay(orderId: string, call: { idempotencyKey: string; signal: AbortSignal }): Promise<object> {
  call.signal.throwIfAborted();
  return { orderId, refunded: true, reference: call.idempotencyKey };
}

export default [
  defineAgent({
    name: 'support',
    model,
    instructions: 'You help customers with their orders. Look an order up before you say anything about it.',
    tools: [lookUpOrder, refundOrder],
    maxIterations: 6,
  }),
];
