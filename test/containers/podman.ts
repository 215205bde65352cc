import { execFile, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);

// Health checks are run by the tests: Podman would need systemd to repeat them.
const env = { ...process.env, DISABLE_HC_SYSTEMD: 'true' };

/** Runs a command of Podman and returns what it prints; rejects, with its messages, if it fails. */
export async function podman(...args: string[]): Promise<string> {
  const { stdout } = await run('podman', args, { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** Like `podman`, with both streams: what a container has logged. */
export async function podmanLogs(container: string): Promise<string> {
  const { stdout, stderr } = await run('podman', ['logs', container], { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout + stderr;
}

/** Runs a command of Podman that reads a file or writes one, as `<` and `>` do in a shell. */
export async function podmanWithFile(direction: '<' | '>', file: string, ...args: string[]): Promise<void> {
  const opened = openSync(file, direction === '<' ? 'r' : 'w');
  const [stdin, stdout] = direction === '<' ? [opened, 'ignore' as const] : ['ignore' as const, opened];
  const child = spawn('podman', args, { env, stdio: [stdin, stdout, 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  closeSync(opened);
  if (code !== 0) throw new Error(`podman ${args.join(' ')} ended with ${code}`);
}

/** Whether a command of Podman succeeds. */
export const succeeds = (...args: string[]): Promise<boolean> =>
  podman(...args).then(
    () => true,
    () => false,
  );

/** Why containers cannot be started here; undefined if they can. */
export function whyNoContainers(images: readonly string[]): string | undefined {
  const works = (...args: string[]): boolean => {
    try {
      execFileSync('podman', args, { stdio: 'ignore', env });
      return true;
    } catch {
      return false;
    }
  };
  if (!works('info')) return 'No Podman found: the suite of containers is skipped.';
  const missing = images.filter((image) => !works('image', 'exists', image));
  if (missing.length > 0)
    return `Podman has no image ${missing.join(', ')} (podman pull): the suite of containers is skipped.`;
  if (works('run', '--rm', '--init', '--network=none', images[0]!, 'true')) return undefined;
  return 'Podman cannot start a container on this machine: the suite of containers is skipped.';
}
