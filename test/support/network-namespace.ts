import { run } from '../../src/database/postgres/embedded/run.ts';

export interface NetworkNamespace {
  name: string;
  /** Drops every TCP packet to and from these ports, without a word to either side. */
  drop(...ports: number[]): Promise<void>;
  /** Delivers all packets again. */
  deliver(): Promise<void>;
  remove(): Promise<void>;
}

/** A network of its own, which servers may run in; undefined where this user may not make one. Sockets of files reach into it. */
export async function createNamespace(): Promise<NetworkNamespace | undefined> {
  const name = `lanefold-${process.pid}`;
  const ip = (...args: string[]) => run('ip', args);
  const inside = async (...command: string[]) => {
    const { code, output } = await ip('netns', 'exec', name, ...command);
    if (code !== 0) throw new Error(`${command.join(' ')}: ${output}`);
  };
  const remove = async () => void (await ip('netns', 'delete', name));
  try {
    if ((await ip('netns', 'add', name)).code !== 0) return undefined;
    await inside('ip', 'link', 'set', 'lo', 'up');
    await inside('iptables', '--list', 'INPUT');
  } catch {
    await remove().catch(() => {});
    return undefined;
  }
  return {
    name,
    async drop(...ports) {
      for (const port of ports) {
        for (const end of ['--dport', '--sport']) {
          await inside('iptables', '--append', 'INPUT', '--protocol', 'tcp', end, String(port), '--jump', 'DROP');
        }
      }
    },
    deliver: () => inside('iptables', '--flush', 'INPUT'),
    remove,
  };
}
