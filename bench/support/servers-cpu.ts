import { treeCpuMs } from '../../src/ops/bench/measure-costs.ts';

/** CPU time of the servers in milliseconds; absent on systems without `/proc`. */
export interface ServersCpu {
  postgresCpuMs: number;
  redisCpuMs: number;
  /** The system's own server. */
  serverCpuMs: number;
}

/** Starts to measure. The result returns the CPU time spent since. */
export function readServersCpu(pids: {
  postgres: number;
  redis: number | undefined;
  server?: number | undefined;
}): () => Partial<ServersCpu> {
  const read = () => ({
    postgres: treeCpuMs(pids.postgres),
    redis: pids.redis && treeCpuMs(pids.redis),
    server: pids.server && treeCpuMs(pids.server),
  });
  const before = read();
  return () => {
    const after = read();
    return {
      ...(after.postgres && before.postgres ? { postgresCpuMs: after.postgres - before.postgres } : {}),
      ...(after.redis && before.redis ? { redisCpuMs: after.redis - before.redis } : {}),
      ...(after.server && before.server ? { serverCpuMs: after.server - before.server } : {}),
    };
  };
}
