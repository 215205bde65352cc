import { basename } from 'node:path';
import type { Binaries } from './binaries.ts';
import { failedWithLog } from './failure.ts';
import type { Home } from './home.ts';
import { poll, supervise, type Supervised } from './supervisor.ts';
import { dropAbandonedLifelines, makeLifeline } from './lifeline.ts';
import { readLock } from './postmaster-lock.ts';
import { lifelineSetting } from './process-identity.ts';
import { delay } from '../../../base/common/timer.ts';
import { open, rename, stat, type FileHandle } from 'node:fs/promises';
import type { SystemUser } from './system-user.ts';
import { createServer, type AddressInfo } from 'node:net';

const readyTimeoutMs = 120_000;
const retryForMs = 15_000;

const defaults = {
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '200',
  log_checkpoints: 'off',
  logging_collector: 'off',
};

/** The arguments of postgres. The settings the launcher relies on win over the caller's. */
function serverArgs(data: string, port: number, lifeline: string, settings: Record<string, string> = {}): string[] {
  const fixed = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    [lifelineSetting]: basename(lifeline),
  };
  const all = { ...defaults, ...settings, ...fixed };
  return ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/**
 * Why a postmaster exited. The log line may come from another process that starts at the same time; then both try
 * again.
 */
function giveUpReason(log: string): 'port_taken' | 'still_in_use' | 'locked' | 'other' {
  if (/Address already in use/.test(log)) return 'port_taken';
  if (/pre-existing shared memory block/.test(log)) return 'still_in_use';
  return /lock file "[^"]*postmaster\.pid" (already exists|is empty)/.test(log) ? 'locked' : 'other';
}

async function untilReady(server: Supervised, data: string): Promise<'ready' | 'exited' | undefined> {
  return poll(
    async () => {
      if (server.exited()) return 'exited';
      const lock = await readLock(data);
      return lock?.pid === server.pid && lock.status === 'ready' ? 'ready' : undefined;
    },
    { timeoutMs: readyTimeoutMs },
  );
}

async function attempt(home: Home, binaries: Binaries, port: number, settings?: Record<string, string>) {
  const log = await openLog(home.log, home.user);
  try {
    const lifeline = await makeLifeline(home);
    const args = serverArgs(home.data, port, lifeline, settings);
    const server = await supervise(binaries, args, { logFd: log.handle.fd, lifeline, user: home.user });
    const outcome = await untilReady(server, home.data);
    if (outcome === 'ready') return server;
    await server.stop();
    return { outcome, written: await log.written() };
  } finally {
    await log.handle.close();
  }
}

/** Starts postgres and waits until it accepts connections. Undefined if another process was faster. */
export async function launch(
  home: Home,
  binaries: Binaries,
  options: { port?: number; settings?: Record<string, string> },
): Promise<{ server: Supervised; port: number } | undefined> {
  const deadline = performance.now() + retryForMs;
  let wanted = options.port;
  for (;;) {
    const port = await freePort(wanted);
    const result = await attempt(home, binaries, port, options.settings);
    if ('pid' in result) {
      await dropAbandonedLifelines(home);
      return { server: result, port };
    }
    const reason = giveUpReason(result.written);
    if (reason === 'locked') return undefined;
    if (reason === 'other' || performance.now() > deadline) {
      const what = result.outcome
        ? 'PostgreSQL did not start.'
        : `PostgreSQL was not ready after ${readyTimeoutMs / 1000} s.`;
      throw await failedWithLog(what, { path: home.log, tail: lastLines(result.written) });
    }
    if (reason === 'port_taken') wanted = undefined;
    // The backends of a killed postmaster need a moment to exit.
    else await delay(50);
  }
}

const rotateAt = 10 * 1024 * 1024;
const tailLines = 15;

/** The log, opened for one start attempt. */
export interface LogFile {
  path: string;
  handle: FileHandle;
  /** Everything written since then, including by other processes that start at the same time. */
  written(): Promise<string>;
}

/** The last lines of a text. */
export const lastLines = (text: string, count = tailLines): string =>
  text.trimEnd().split('\n').slice(-count).join('\n');

/**
 * Opens the log for appending. PostgreSQL inherits the descriptor, so its user needs no access to the file; `owner`
 * gets the file anyway, for later starts without root.
 */
export async function openLog(path: string, owner?: SystemUser): Promise<LogFile> {
  const before = await stat(path).catch(() => undefined);
  if (before && before.size > rotateAt) await rename(path, `${path}.1`);
  const handle = await open(path, 'a+', 0o600);
  if (owner) await handle.chown(owner.uid, owner.gid);
  const { size: start } = await handle.stat();
  const written = async () => {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(Math.max(size - start, 0), 64 * 1024));
    await handle.read(buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8');
  };
  return { path, handle, written };
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const { port: given } = server.address() as AddressInfo;
      server.close(() => resolve(given));
    });
  });
}

/** A free port of 127.0.0.1, the wanted one if possible. Another process may still take it first. */
export async function freePort(wanted?: number): Promise<number> {
  const port = (wanted ? await tryPort(wanted) : undefined) ?? (await tryPort(0));
  if (port === undefined) throw new Error('cannot listen on any port of 127.0.0.1');
  return port;
}
