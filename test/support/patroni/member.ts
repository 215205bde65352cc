import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startProxy, type Proxy } from '../../../src/ops/chaos/services/proxy.ts';
import { freePort } from '../../../src/database/postgres/embedded/launch.ts';
import { memberConfig, type ClusterSettings, type MemberPorts } from './config.ts';
import { familyOf, launch, postmasterOf, signal, type Program } from './processes.ts';
import { logOf, ownFolder, type Place } from './services.ts';

/** `sync`: a standby that commits wait for. */
export type Role = 'primary' | 'replica' | 'sync';

/** A machine of the cluster: Patroni and its PostgreSQL. */
export interface Member {
  name: string;
  ports: MemberPorts;
  /** Between this PostgreSQL and the standbys that replicate from it. */
  replication: Proxy;
  /** Whether Patroni answers that the member has a role and is healthy. */
  is(role: Role): Promise<boolean>;
  /** Changes the settings of the cluster. */
  configure(settings: ClusterSettings): Promise<void>;
  /** Does nothing if the member is running. */
  start(): Promise<void>;
  /** Stops every process for a while: the machine is silent. */
  freeze(): void;
  /** Stops Patroni alone: PostgreSQL continues, and does not learn that another member has become the primary. */
  hang(): void;
  thaw(): void;
  /** Ends every process at once: the machine is gone. */
  kill(): Promise<void>;
}

export async function prepareMember(
  place: Place,
  name: string,
  etcdPort: number,
  settings: ClusterSettings,
): Promise<Member> {
  const dir = await ownFolder(place, name);
  const postgres = await freePort();
  const replication = await startProxy(() => ({ port: postgres }));
  const ports = { postgres, rest: await freePort(), replication: replication.port };
  const config = path.join(dir, 'patroni.yml');
  await writeFile(config, memberConfig(name, dir, etcdPort, ports, place.programs, settings));

  let patroni: Program | undefined;
  const data = path.join(dir, 'data');
  const familiesOf = (...pids: (number | undefined)[]) =>
    pids.flatMap((pid) => (pid === undefined ? [] : familyOf(pid)));
  // Patroni first: it would restart PostgreSQL
  const processes = () => familiesOf(patroni?.pid, postmasterOf(data));
  // twice: PostgreSQL may start processes meanwhile
  const freeze = () => [1, 2].forEach(() => signal(processes(), 'SIGSTOP'));
  const request = (target: string, options: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${ports.rest}${target}`, { signal: AbortSignal.timeout(2_000), ...options });

  return {
    name,
    ports,
    replication,
    is: (role) =>
      request(`/${role}`).then(
        async (response) => (await response.arrayBuffer(), response.status === 200),
        () => false,
      ),
    async configure(changed) {
      const response = await request('/config', { method: 'PATCH', body: JSON.stringify(changed) });
      if (!response.ok) throw new Error(`Patroni refused the settings: ${await response.text()}`);
    },
    async start() {
      if (patroni) return;
      const command = [place.programs.patroni, config];
      patroni = await launch({ command, log: logOf(place, name), user: place.user, data });
    },
    freeze,
    hang: () => signal(familiesOf(patroni?.pid), 'SIGSTOP'),
    thaw: () => signal(processes(), 'SIGCONT'),
    async kill() {
      if (!patroni) return;
      freeze();
      signal(processes(), 'SIGKILL');
      await patroni.kill();
      patroni = undefined;
    },
  };
}
