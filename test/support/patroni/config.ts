import type { Programs } from './programs.ts';

export const password = 'cluster';

/** Settings of the whole cluster, which Patroni keeps in etcd. Times are in seconds. */
export interface ClusterSettings {
  synchronous_mode?: boolean;
  /** Bytes of the log that a standby may lack and still become the primary. */
  maximum_lag_on_failover?: number;
}

/** The lease of the primary in etcd is short, so that a failover takes seconds. */
const clusterSettings = { ttl: 8, loop_wait: 1, retry_timeout: 3 };

export interface MemberPorts {
  postgres: number;
  rest: number;
  /** Where other members reach PostgreSQL. */
  replication: number;
}

/** The configuration of a member; JSON is YAML. */
export function memberConfig(
  name: string,
  dir: string,
  etcdPort: number,
  ports: MemberPorts,
  { postgresBin }: Programs,
  settings: ClusterSettings,
): string {
  const parameters = {
    max_connections: 100,
    // the operating system survives every fault
    fsync: 'off',
    wal_retrieve_retry_interval: '100ms',
    wal_log_hints: 'on',
    log_checkpoints: 'off',
  };
  return JSON.stringify({
    scope: 'lanefold',
    name,
    // not `etcd3`: with it, Patroni before 3.1 lets a primary that was frozen take its lease back from its successor
    etcd: { host: `127.0.0.1:${etcdPort}` },
    restapi: { listen: `127.0.0.1:${ports.rest}`, connect_address: `127.0.0.1:${ports.rest}` },
    bootstrap: {
      dcs: { ...clusterSettings, ...settings, postgresql: { use_pg_rewind: true, use_slots: true, parameters } },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${ports.postgres}`,
      connect_address: `127.0.0.1:${ports.replication}`,
      data_dir: `${dir}/data`,
      bin_dir: postgresBin,
      pgpass: `${dir}/pgpass`,
      basebackup: [{ checkpoint: 'fast' }],
      parameters: { unix_socket_directories: '' },
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
        rewind: { username: 'rewinder', password },
      },
    },
  });
}

/** HAProxy as docs/reference/high-availability.md has it: one port leads to the primary, the other to replicas. */
export function haproxyConfig(primary: number, replicas: number, members: readonly MemberPorts[]): string {
  const servers = members.map(
    ({ postgres, rest }, i) => `  server member-${i} 127.0.0.1:${postgres} check port ${rest}\n`,
  );
  const listen = (name: string, port: number, check: string) => `listen ${name}
  bind 127.0.0.1:${port}
  option httpchk OPTIONS ${check}
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('')}
`;
  return `defaults
  mode tcp
  timeout connect 2s
  timeout check 1s
  timeout client 30m
  timeout server 30m

${listen('primary', primary, '/primary')}
${listen('replicas', replicas, '/replica?lag=16MB')}`;
}
