import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { asInstalled } from '../cli/cli.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

export interface Program {
  said(): string;
  /** Resolves with the first match of `pattern` in what it says on stdout. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Asks it to stop. */
  stop(): void;
  /** Ends it at once, as a crash would. */
  kill(): void;
  ended: Promise<{ code: number | null; output: string; errors: string }>;
}

/** The environment of programs that share a database of this file. */
export function ownDatabase(): Record<string, string> {
  const env: Record<string, string> = {};
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
    env['DATABASE_URL'] = database.url;
  });
  afterAll(() => database?.drop());
  return env;
}

const tsx = import.meta.resolve('tsx');
const settings = /^(DATABASE_URL|REDIS_URL|LANEFOLD_.*|OPENAI_.*|ANTHROPIC_.*|GOOGLE_.*|PORT|FORCE_COLOR)$/;

/** Starts a TypeScript program of this repository as a user would, with the built package and without this machine's settings. */
export function startProgram(
  file: string,
  { cwd = process.cwd(), args = [], env = {} }: { cwd?: string; args?: string[]; env?: Record<string, string> } = {},
): Program {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !settings.test(key)));
  const child = spawn(process.execPath, ['--import', tsx, path.resolve(file), ...args], {
    cwd,
    env: { ...inherited, ...asInstalled(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  const ended = new Promise<{ code: number | null; output: string; errors: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output, errors })),
  );
  return {
    said: () => output,
    async says(pattern) {
      await until(`${file} says ${pattern}`, () => pattern.test(output) || child.exitCode !== null);
      const found = pattern.exec(output);
      if (!found) throw new Error(`${file} ended with ${child.exitCode}: ${output}${errors}`);
      return found;
    },
    stop: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}
