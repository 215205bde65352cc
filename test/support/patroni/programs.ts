import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const folders = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'];

const find = (name: string): string | undefined =>
  [...(process.env['PATH'] ?? '').split(path.delimiter), ...folders]
    .map((folder) => path.join(folder, name))
    .find((file) => existsSync(file));

/** Patroni needs more of PostgreSQL than the embedded one has: base backups, and rewinding a former primary. */
function postgresBin(): string | undefined {
  const root = '/usr/lib/postgresql';
  const majors = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  return majors
    .map((major) => path.join(root, major, 'bin'))
    .find((bin) => ['postgres', 'pg_basebackup', 'pg_rewind'].every((name) => existsSync(path.join(bin, name))));
}

/** Paths of the programs of a cluster. */
export interface Programs {
  patroni: string;
  etcd: string;
  haproxy: string;
  postgresBin: string;
}

/** What a cluster needs, and the names of what is not installed. */
export function findPrograms(): { programs: Programs; missing: string[] } {
  const found = {
    patroni: find('patroni'),
    etcd: find('etcd'),
    haproxy: find('haproxy'),
    postgresBin: postgresBin(),
  };
  const missing = Object.entries(found).flatMap(([name, file]) => (file ? [] : [name]));
  return { programs: found as Programs, missing };
}
