import { spawn, type ChildProcess } from 'node:child_process';
import { until } from '../support/until.ts';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  process: ChildProcess;
  /** All it has printed. */
  said(): string;
  says(text: string): Promise<unknown>;
  ended: Promise<Ended>;
}

const ours = /^(LANEFOLD_|DATABASE_URL$|REDIS_URL$|NODE_OPTIONS$|npm_)/;

/** Starts a program as a user would: without settings of this one, and with nobody at a terminal. */
export function start(command: string, args: string[], cwd?: string, env: Record<string, string> = {}): Started {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
  const child = spawn(command, args, { cwd, env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk));
  const said = () => text.stdout + text.stderr;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, ...text }));
  });
  return {
    process: child,
    said,
    says: (part) =>
      until(`${args.join(' ')} says ${part}`, () => {
        if (child.exitCode !== null) throw new Error(said());
        return said().includes(part);
      }),
    ended,
  };
}

export const node = (script: string, args: string[], cwd: string, env?: Record<string, string>): Promise<Ended> =>
  start(process.execPath, [script, ...args], cwd, env).ended;

export const npm = (args: string[], cwd: string): Promise<Ended> => start('npm', args, cwd).ended;
