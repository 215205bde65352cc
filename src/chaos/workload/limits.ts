import type { Client } from './client.ts';
import { builtInAgent } from './agents.ts';
import { persist } from './persist.ts';

/**
 * Limits that some runs have to wait for: slots for two thirds of the conversations, and a rate of model calls that
 * bursts exceed, both of the built-in agent. Tokens are reserved and settled, and starts are counted, without a delay.
 */
export async function setLimits({ lanefold: { limits }, signal }: Client, concurrency: number): Promise<void> {
  const scope = { agent: builtInAgent };
  const slots = Math.max(2, Math.ceil((concurrency * 2) / 3));
  await persist(() => limits.set('slots', { kind: 'concurrency', scope, amount: slots }), signal);
  await persist(() => limits.set('calls', { kind: 'requests', scope, amount: 5 * concurrency, per: 'second' }), signal);
  await persist(() => limits.set('tokens', { kind: 'tokens', amount: 1e12, per: 'hour' }), signal);
  await persist(() => limits.set('starts', { kind: 'runs', amount: 1e12, calendar: 'month' }), signal);
}
