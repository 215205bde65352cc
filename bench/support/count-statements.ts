import pg from 'pg';
import { bullCall } from '../../src/runs/queue/bull-calls.ts';

const ofQueue = 'queue: ';

/** Whether a counted statement is one of the queue. */
export const isOfQueue = (name: string): boolean => name.startsWith(ofQueue);

/**
 * Counts the statements this process sends to PostgreSQL from now on, by name; those of the queue have the name of BullMQ's
 * function, or that in the comment they begin with. The result is updated in place.
 */
export function countStatements(): Record<string, number> {
  const counts: Record<string, number> = {};
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const first = args[0] as string | { name?: string; text?: string };
    const { name, text = '' } = typeof first === 'string' ? { text: first } : first;
    const isOurs = text.includes('lanefold.') || /^(begin|commit|set local statement_timeout)/.test(text);
    const counted = isOurs ? (name ?? text.split(' ', 1)[0]!) : `${ofQueue}${queueStatement(text)}`;
    counts[counted] = (counts[counted] ?? 0) + 1;
    return query.apply(this, args);
  } as typeof pg.Client.prototype.query;
  return counts;
}

function queueStatement(text: string): string {
  const ours = /^\/\* (\w+) \*\//.exec(text)?.[1];
  if (ours) return `${ours} (ours)`;
  return bullCall(text) ?? /\w+/.exec(text)?.[0].toLowerCase() ?? 'other';
}
