import type { Database } from '../../postgres/pool.ts';

/** Sends payloads of under 8,000 bytes to everybody who listens on a channel. */
export async function announceReaders(db: Database, channel: string, payloads: readonly string[]): Promise<void> {
  await db.query('announce_readers', 'select pg_notify($1, x) from unnest($2::text[]) x', [channel, payloads]);
}
