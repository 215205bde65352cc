import { spawn } from 'node:child_process';
import { spawnAs, type SystemUser } from './system-user.ts';

const passedOn = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SYSTEMROOT'];

/**
 * The environment of PostgreSQL. API keys stay out of it because it may run as another user, PG* because they would
 * change its settings; TZ spares initdb a search for the zone of this machine, LC_ALL keeps its messages English.
 */
export const postgresEnv = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(passedOn.flatMap((key) => (process.env[key] ? [[key, process.env[key]]] : []))),
  LC_ALL: 'C',
  TZ: 'UTC',
});

/** Runs a program to its end and gives all it wrote; one that cannot even start has code -1. */
export function run(program: string, args: string[], user?: SystemUser): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    // cwd: ours may be closed to `user`
    const child = spawn(program, args, {
      ...spawnAs(user),
      cwd: '/',
      env: postgresEnv(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.once('error', (error) => resolve({ code: -1, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? -1, output }));
  });
}
