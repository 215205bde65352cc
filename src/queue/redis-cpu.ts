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
    const seconds = ['used_cpu_sys', 'used_cpu_user'].map(
      (name) => new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1],
    );
    return seconds.includes(undefined) ? undefined : seconds.reduce((sum, text) => sum + Number(text) * 1_000, 0);
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}
