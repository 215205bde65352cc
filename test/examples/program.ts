import { spawn, type ChildProcessByStdio } from 'node:child_process';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll } from 'vitest';
import { asInstalled } from '../cli/cli.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

export interface Program {
  said(): string;
  /** What it has said on stderr. */
  complained(): string;
  /** Resolves with the first match of `pattern` in what it says on stdout. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Writes to its stdin, which is open only for a program that `listens`. */
  tell(text: string): void;
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
  {
    cwd = process.cwd(),
    args = [],
    env = {},
    listens = false,
  }: { cwd?: string; args?: string[]; env?: Record<string, string>; listens?: boolean } = {},
): Program {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !settings.test(key)));
  const child = spawn(process.execPath, ['--import', tsx, path.resolve(file), ...args], {
    cwd,
    env: { ...inherited, ...asInstalled(), ...env },
    stdio: [listens ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  const ended = new Promise<{ code: number | null; output: string; errors: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output, errors })),
  );
  return {
    said: () => output,
    complained: () => errors,
    async says(pattern) {
      await until(`${file} says ${pattern}`, () => pattern.test(output) || child.exitCode !== null);
      const found = pattern.exec(output);
      if (!found) throw new Error(`${file} ended with ${child.exitCode}: ${output}${errors}`);
      return found;
    },
    tell: (text) => void child.stdin!.write(text),
    stop: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
    ended,
  };
}
