import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { dropOldEvents } from '../../src/worker/process/background.ts';
import { readKeptEvent } from '../../src/database/store/wait/events.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
let db: Database;
beforeAll(async () => {
  lanefold = await startLanefold();
  db = openDatabase({ url: lanefold.database.url });
});
afterAll(async () => {
  await db?.close();
  await lanefold?.close();
});

test('workers delete the events of all tenants that are kept no longer, a day later', async () => {
  const { pool } = lanefold.database;
  const hoursAgo = { old: 25, late: 23, kept: -1 };
  for (const tenant of ['acme', 'bolt'])
    for (const event of Object.keys(hoursAgo))
      await lanefold.forTenant(tenant).events.send(event, 'text', { keepMs: 60_000 });
  // only now, because sending an event deletes those of its tenant
  for (const [event, hours] of Object.entries(hoursAgo))
    await pool.query("update lanefold._kept_event set keep_until = now() - $2 * interval '1 hour' where event = $1", [
      event,
      hours,
    ]);
  await dropOldEvents(db);
  const { rows } = await pool.query<{ name: string }>(
    "select tenant_id || ' ' || event as name from lanefold._kept_event order by 1",
  );
  expect(rows.map(({ name }) => name)).toEqual(['acme kept', 'acme late', 'bolt kept', 'bolt late']);
});

test('an event that is sent again is kept from then on', async () => {
  await lanefold.events.send('twice', 'first', { keepMs: 60_000 });
  await lanefold.events.send('twice', 'second', { keepMs: 86_400_000 });
  // a wait that begins in an hour
  const kept = await readKeptEvent(db, 'default', 'twice', new Date(Date.now() + 3_600_000));
  expect(kept).toMatchObject({ content: 'second' });
});
