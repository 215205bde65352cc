import { spawn } from 'node:child_process';
import { spawnAs, type SystemUser } from './system-user.ts';

const passedOn = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SYSTEMROOT'];

/**
 * The environment of PostgreSQL. It excludes API keys, because PostgreSQL may run as another user, and PG* variables,
 * because they would change its settings. TZ saves initdb the search for the local zone; LC_ALL keeps messages in
 * English.
 */
export const postgresEnv = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(passedOn.flatMap((key) => (process.env[key] ? [[key, process.env[key]]] : []))),
  LC_ALL: 'C',
  TZ: 'UTC',
});

/** Runs a program and returns its exit code and all its output; the code is -1 if it cannot start. */
export function run(program: string, args: string[], user?: SystemUser): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    // cwd: `user` may have no access to the current one.
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
