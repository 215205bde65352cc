import { defineAgent, defineTool, waitFor } from 'lanefold';
import { z } from 'zod';
import { model } from '../model.ts';

/** The event that the payment of an order sends. */
export const paymentOf = (order: string): string => `order:${order}:paid`;

const prices: Record<string, number> = { 'A-17': 40 };

const requestPayment = defineTool({
  name: 'request_payment',
  description: 'Sends the invoice of an order, and returns its payment once it has come.',
  input: z.object({ orderId: z.string().describe('Such as A-17') }),
  async execute({ orderId }, { idempotencyKey }) {
    await sendInvoice({ orderId, euros: prices[orderId] ?? 25, idempotencyKey });
    return waitFor(paymentOf(orderId), { timeoutMs: 3 * 86_400_000 });
  },
});

/** Stands in for an invoicing service: the same key twice sends one invoice, so the call may run again after a crash. */
async function sendInvoice(invoice: { orderId: string; euros: number; idempotencyKey: string }): Promise<void> {
  console.log(`invoice for order ${invoice.orderId}: ${invoice.euros} euros`);
}

export default [
  defineAgent({
    name: 'shop',
    model,
    instructions: 'You take orders. Request the payment, then confirm the order and the amount that was paid.',
    tools: [requestPayment],
  }),
];
