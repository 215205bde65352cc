import pg from 'pg';

/** Prints how many deliveries have come, of all that were noted: those of the last seconds are still to be sent. */
export async function printDelivered(databases: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, databaseUrl] of databases) {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    const { rows } = await client.query<{ delivered: number; noted: number; sent: number }>(
      `select count(*) filter (where status = 'delivered')::int as delivered, count(*)::int as noted,
         coalesce(sum(attempts), 0)::int as sent from lanefold.webhook_delivery`,
    );
    await client.end();
    const { delivered, noted, sent } = rows[0]!;
    if (noted > 0) console.log(`${name}: ${delivered} of ${noted} deliveries came, in ${sent} attempts`);
  }
}
