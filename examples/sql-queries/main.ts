import { readFile } from 'node:fs/promises';
import { createLanefold } from 'lanefold';
import pg from 'pg';
import { agents, seed } from './seed.ts';

// A separate queue: other workers on this database do not know the agent.
const lanefold = await createLanefold({ agents, migrate: true, queuePrefix: 'example-sql', privateQueue: true });
const pool = new pg.Pool({ connectionString: lanefold.databaseUrl, max: 1 });
try {
  await lanefold.startWorker();
  await seed(lanefold);
  const text = await readFile(new URL('./queries.sql', import.meta.url), 'utf8');
  for (const query of text.split(/\n\n(?=-- )/)) {
    console.log(`\n${query.trim()}\n`);
    console.table((await pool.query(query)).rows.map(shorten));
  }
} finally {
  await pool.end();
  await lanefold.close();
}

/** Shortens cells to fit a terminal. */
function shorten(row: Record<string, unknown>): Record<string, unknown> {
  const cell = (value: unknown) => {
    if (value === null || typeof value === 'number' || value instanceof Date) return value;
    const line = typeof value === 'string' ? value : JSON.stringify(value);
    return line.length > 40 ? `${line.slice(0, 39)}…` : line;
  };
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, cell(value)]));
}
