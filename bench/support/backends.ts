import type { Servers } from '../setup.ts';

export interface Backend {
  name: 'PostgreSQL' | 'Redis';
  redisUrl: string | null;
}

/** Where the queue can be on this machine. */
export const backends = (servers: Servers): Backend[] => [
  { name: 'PostgreSQL', redisUrl: null },
  ...(servers.redisUrl ? [{ name: 'Redis' as const, redisUrl: servers.redisUrl }] : []),
];
