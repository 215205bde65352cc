import { Redis } from 'ioredis';
import type pg from 'pg';
import { inject } from 'vitest';
import { queueBackend, type TestLanefold } from './lanefold.ts';

/** Every table, of any schema, and every Redis key of this queue that contains a text. */
export async function placesOf(lanefold: TestLanefold, text: string): Promise<string[]> {
  const found = await tablesWith(lanefold.database.pool, text);
  return queueBackend() === 'redis' ? [...found, ...(await keysWith(lanefold.options.queuePrefix!, text))] : found;
}

async function tablesWith(pool: pg.Pool, text: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(`select from ${name} as r where strpos(r::text, $1) > 0 limit 1`, [text]);
    if (rowCount) found.push(name);
  }
  return found;
}

async function keysWith(prefix: string, text: string): Promise<string[]> {
  const redis = new Redis(inject('redisUrl')!);
  try {
    const found: string[] = [];
    for await (const keys of redis.scanStream({ match: `*${prefix}*`, count: 1_000 }) as AsyncIterable<string[]>) {
      for (const key of keys) if (JSON.stringify(await valueOf(redis, key)).includes(text)) found.push(key);
    }
    return found;
  } finally {
    redis.disconnect();
  }
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, 0, -1);
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return null;
  }
}
