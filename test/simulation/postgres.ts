import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../src/database/postgres/embedded/index.ts';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { migrate } from '../../src/database/store/schema/migrate.ts';

/** A server for simulations. Nothing but them decides what its plans are. */
export interface Server {
  /** A new database, over one connection. The one before is removed. */
  open(): Promise<Database>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<Server> {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-simulation-'));
  // PostgreSQL may run as another user
  await chmod(dir, 0o755);
  const { url, stop } = await startEmbeddedPostgres({ dir, settings: { fsync: 'off', autovacuum: 'off' } });
  const at = (database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  const server = openDatabase({ url, max: 1 });
  await server.query('', 'create database simulation_template');
  await migrate(at('simulation_template'));
  let current: Database | undefined;
  const close = async () => {
    await current?.close();
    await server.query('', 'drop database if exists simulation with (force)');
  };
  return {
    async open() {
      await close();
      await server.query('', 'create database simulation template simulation_template strategy file_copy');
      current = openDatabase({ url: at('simulation'), max: 1 });
      return current;
    },
    async stop() {
      await close();
      await server.close();
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
