import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EmbeddedPostgres } from '../../postgres/embedded/index.ts';
import { withClient } from './with-client.ts';

/**
 * Copies a running server to the folder of another embedded one, which must recover from the write-ahead log. The
 * embedded PostgreSQL has no pg_basebackup. Returns the data folder.
 */
export async function takeBaseBackup(primary: EmbeddedPostgres, dir: string): Promise<string> {
  const cluster = path.join(dir, 'cluster');
  const data = path.join(cluster, 'data');
  return withClient(primary.url, async (client) => {
    await client.query("select pg_backup_start('lanefold', fast => true)");
    await copyCluster(path.dirname(primary.dataDir), cluster);
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    );
    await writeFile(path.join(data, 'backup_label'), rows[0]!.labelfile);
    return data;
  });
}

/** Excluded from a base backup: the write-ahead log, which is streamed, and files of the running server. */
const omitted =
  /^(postmaster\.(pid|opts)|(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/.*|.*pgsql_tmp.*|.*pg_internal\.init.*)$/;

async function copyCluster(from: string, to: string): Promise<void> {
  const data = path.join(from, 'data');
  const filter = (file: string) => !omitted.test(path.relative(data, file));
  for (let left = 10; ; left--) {
    await mkdir(to, { recursive: true });
    try {
      return await cp(from, to, { recursive: true, filter });
    } catch (error) {
      // the running server deleted a file while the folder was being read
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || left === 0) throw error;
      await rm(to, { recursive: true, force: true });
    }
  }
}
