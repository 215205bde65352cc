import type { Servers } from '../setup.ts';
import { treeCpuMs } from './cpu.ts';

/** CPU time of the servers in milliseconds; absent on systems without `/proc`. */
export interface ServersCpu {
  postgresCpuMs: number;
  redisCpuMs: number;
}

/** Starts to measure. The result returns the CPU time spent since. */
export function readServersCpu({ pids }: Servers): () => Partial<ServersCpu> {
  const read = () => ({ postgres: treeCpuMs(pids.postgres), redis: pids.redis && treeCpuMs(pids.redis) });
  const before = read();
  return () => {
    const after = read();
    return {
      ...(after.postgres && before.postgres ? { postgresCpuMs: after.postgres - before.postgres } : {}),
      ...(after.redis && before.redis ? { redisCpuMs: after.redis - before.redis } : {}),
    };
  };
}
