import pg from 'pg';

/**
 * Counts the statements this process sends to PostgreSQL from now on: Lanefold's by name, all others (the queue's) under
 * `other`. The result is updated in place.
 */
export function countStatements(): Record<string, number> {
  const counts: Record<string, number> = {};
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const first = args[0] as string | { name?: string; text?: string };
    const { name, text = '' } = typeof first === 'string' ? { text: first } : first;
    const counted = text.includes('lanefold.') ? (name ?? text) : 'other';
    counts[counted] = (counts[counted] ?? 0) + 1;
    return query.apply(this, args);
  } as typeof pg.Client.prototype.query;
  return counts;
}
