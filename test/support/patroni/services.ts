import { chown, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../../../src/database/postgres/embedded/launch.ts';
import type { SystemUser } from '../../../src/database/postgres/embedded/system-user.ts';
import { haproxyConfig, type MemberPorts } from './config.ts';
import { launch, type Program } from './processes.ts';
import type { Programs } from './programs.ts';

/** Where the processes of a cluster have their files, and the user they run as. */
export interface Place {
  base: string;
  programs: Programs;
  user: SystemUser | undefined;
}

/** A folder that the cluster's user may write to. */
export async function ownFolder({ base, user }: Place, name: string): Promise<string> {
  const dir = path.join(base, name);
  await mkdir(dir);
  if (user) await chown(dir, user.uid, user.gid);
  return dir;
}

export const logOf = ({ base }: Place, name: string): string => path.join(base, `${name}.log`);

/** Starts a single etcd: what is tested is the loss of a PostgreSQL. */
export async function startEtcd(place: Place): Promise<Program & { port: number }> {
  const [port, peer] = [await freePort(), await freePort()];
  const options = {
    'data-dir': await ownFolder(place, 'etcd'),
    'listen-client-urls': `http://127.0.0.1:${port}`,
    'advertise-client-urls': `http://127.0.0.1:${port}`,
    'listen-peer-urls': `http://127.0.0.1:${peer}`,
    'initial-advertise-peer-urls': `http://127.0.0.1:${peer}`,
    'initial-cluster': `default=http://127.0.0.1:${peer}`,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const command = [place.programs.etcd, '--enable-v2', ...args];
  return { ...(await launch({ command, log: logOf(place, 'etcd'), user: place.user })), port };
}

/** Starts HAProxy on a port that leads to the primary, and one that leads to replicas. */
export async function startHaproxy(
  place: Place,
  members: readonly MemberPorts[],
): Promise<Program & { primary: number; replicas: number }> {
  const [primary, replicas] = [await freePort(), await freePort()];
  const config = path.join(place.base, 'haproxy.cfg');
  await writeFile(config, haproxyConfig(primary, replicas, members), { mode: 0o644 });
  const command = [place.programs.haproxy, '-db', '-f', config];
  return { ...(await launch({ command, log: logOf(place, 'haproxy'), user: place.user })), primary, replicas };
}
