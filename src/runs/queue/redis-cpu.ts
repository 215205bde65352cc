import { RedisClient } from './redis-client.ts';

/**
 * CPU time that the Redis server at `url` has used so far, in milliseconds; undefined for a cluster, each of whose nodes
 * counts only its own, and for a server that does not tell.
 */
export async function redisCpuMs(url: string): Promise<number | undefined> {
  if (/^rediss?\+cluster:/.test(url)) return undefined;
  const client = new RedisClient(url, { maxRetriesPerRequest: 1 });
  try {
    const info = await client.info('cpu');
    const facts = new Map(info.split('\r\n').map((line) => line.split(':', 2) as [string, string]));
    const ms = (Number(facts.get('used_cpu_sys')) + Number(facts.get('used_cpu_user'))) * 1_000;
    return Number.isFinite(ms) ? ms : undefined;
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}
