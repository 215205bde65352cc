import type { Servers } from '../setup.ts';

export interface Backend {
  name: 'PostgreSQL' | 'Redis';
  redisUrl: string | null;
}

/** The queue backends available on this machine. */
export const backends = (servers: Servers): Backend[] => [
  { name: 'PostgreSQL', redisUrl: null },
  ...(servers.redisUrl ? [{ name: 'Redis' as const, redisUrl: servers.redisUrl }] : []),
];
