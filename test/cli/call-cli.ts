import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { main } from '../../src/ops/cli/main.ts';
import { withoutOurs, type CliOptions, type CliResult } from './cli.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line in this process, which takes a tenth of what a program costs: for what a command does and says. What
 * a process does, such as its signals, its exit and its streams, `startCli` shows. Calls wait for one another, because they
 * share the streams, the environment and the current folder.
 */
export function callCli(args: string[], { cwd, env = {} }: Pick<CliOptions, 'cwd' | 'env'> = {}): Promise<CliResult> {
  const called = last.then(() => call(args, cwd ?? process.cwd(), env));
  last = called.catch(() => {});
  return called;
}

async function call(args: string[], cwd: string, env: Record<string, string>): Promise<CliResult> {
  const before = { cwd: process.cwd(), env: process.env };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  const restore = [replace('stdout', stdout), replace('stderr', stderr), keepListeners()];
  process.env = { ...withoutOurs(before.env), ...env };
  process.chdir(cwd);
  let code: number;
  try {
    code = await main(args);
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    for (const each of restore) each();
    stdout.end();
    stderr.end();
  }
  const [out, err] = await said;
  return { code, stdout: out, stderr: err };
}

function replace(name: 'stdout' | 'stderr', stream: PassThrough): () => void {
  const own = Object.getOwnPropertyDescriptor(process, name)!;
  Object.defineProperty(process, name, { ...own, get: () => stream });
  return () => Object.defineProperty(process, name, own);
}

/** Takes back what a command listens to, which a process takes with it when it ends. */
function keepListeners(): () => void {
  const own = signals.map((signal) => process.listeners(signal));
  return () => {
    for (const [i, signal] of signals.entries())
      for (const listener of process.listeners(signal)) if (!own[i]!.includes(listener)) process.off(signal, listener);
  };
}
