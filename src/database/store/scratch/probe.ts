import type pg from 'pg';

/** Durations in milliseconds. */
export interface Probes {
  /** Of a statement that does nothing. */
  roundTripMs: number[];
  /** Of a transaction that writes one row, including the round trip. */
  commitMs: number[];
}

/**
 * Measures the way to a server and to its disk on one connection, alternately.
 *
 * @param client connected to a scratch database, which keeps the table for the rows
 */
export async function probe(
  client: pg.Client,
  { rounds, atMostMs }: { rounds: number; atMostMs: number },
): Promise<Probes> {
  const timed = async (statement: pg.QueryConfig) => {
    const from = performance.now();
    await client.query(statement);
    return performance.now() - from;
  };
  await client.query('create table public.probe (n int)');
  const found: Probes = { roundTripMs: [], commitMs: [] };
  const until = performance.now() + atMostMs;
  for (let n = 0; n < rounds && performance.now() < until; n++) {
    found.roundTripMs.push(await timed({ name: 'nothing', text: 'select 1' }));
    found.commitMs.push(await timed({ name: 'row', text: 'insert into public.probe values (1)' }));
  }
  return found;
}
