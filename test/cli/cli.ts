import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { inject } from 'vitest';
import { until } from '../support/until.ts';

const ours = [
  'DATABASE_URL',
  'LANEFOLD_DIRECT_URL',
  'REDIS_URL',
  'LANEFOLD_AGENTS',
  'LANEFOLD_DIR',
  'NO_COLOR',
  'FORCE_COLOR',
];

export interface CliResult {
  /** Null if a signal ended the process. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliProcess {
  process: ChildProcess;
  /** The output so far. */
  said: () => { stdout: string; stderr: string };
  /** Resolves with the text of a stream once it contains `text`. */
  says: (stream: 'stdout' | 'stderr', text: string) => Promise<string>;
  ended: Promise<CliResult>;
}

export interface CliOptions {
  /** Path in the package of the program to start; default: the command line. */
  program?: string;
  cwd?: string;
  env?: Record<string, string>;
  /** Runs the sources, as `npm run lanefold` does, instead of the published package. */
  fromSources?: boolean;
}

/** The entry point of the command line. */
export const cliBin = ({ fromSources = false } = {}): string =>
  path.join(fromSources ? process.cwd() : inject('packageDir'), 'src/ops/cli/bin.js');

/** An environment without settings of the command line. */
export const withoutOurs = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([key]) => !ours.includes(key)));

/**
 * Makes `lanefold` in the TypeScript files of this checkout the built package, as in a project that has installed it. Its
 * sources would take each process seconds to compile.
 */
export const asInstalled = () => ({ TSX_TSCONFIG_PATH: path.join(inject('packageDir'), 'tsconfig.programs.json') });

/** Starts the real command line, without settings from the environment. */
export function startCli(args: string[], { program, cwd, env = {}, fromSources = false }: CliOptions = {}): CliProcess {
  const child = spawn(
    process.execPath,
    [program ? path.join(inject('packageDir'), program) : cliBin({ fromSources }), ...args],
    {
      cwd: cwd ?? process.cwd(),
      // in another folder, the settings of that folder hold
      env: { ...withoutOurs(process.env), ...(fromSources || cwd !== undefined ? {} : asInstalled()), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => (text[name] += chunk));
  }
  const ended = new Promise<CliResult>((resolve) => child.once('close', (code) => resolve({ code, ...text })));
  const said = () => ({ ...text });
  return {
    process: child,
    said,
    says: async (stream, part) => {
      await until(`the command says ${part}`, () => text[stream].includes(part) || child.exitCode !== null);
      if (!text[stream].includes(part)) throw new Error(`the command ended: ${JSON.stringify(text)}`);
      return text[stream];
    },
    ended,
  };
}

export const cli = (args: string[], options?: CliOptions): Promise<CliResult> => startCli(args, options).ended;
