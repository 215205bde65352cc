import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of a benchmark: answers questions over IPC until it is stopped. */
export interface BenchProcess {
  pid: number;
  ask<Answer>(question: string, details?: object): Promise<Answer>;
  /** Stops it gracefully: it closes its connections first. */
  stop(): Promise<void>;
  /** Sends SIGKILL; resolves once the process has exited. */
  kill(): Promise<void>;
}

interface Reply {
  id: number;
  answer?: unknown;
  error?: string;
}

/** Starts a program of `bench/processes`; resolves once it is ready to answer questions, rejects if it cannot. */
export async function startProcess(program: string, options: object): Promise<BenchProcess> {
  const child = fork(fileURLToPath(new URL(`processes/${program}.js`, import.meta.url)), {
    env: { ...process.env, BENCH_OPTIONS: JSON.stringify(options) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const pending = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  child.on('message', ({ id, answer, error }: Reply) => {
    if (error === undefined) pending.get(id)?.resolve(answer);
    else pending.get(id)?.reject(new Error(error));
    pending.delete(id);
  });
  void exited.then(([code, signal]) => {
    for (const { reject } of pending.values()) reject(new Error(`${program} exited with ${code ?? signal}`));
    pending.clear();
  });
  let asked = 0;
  const ask = <Answer>(question: string, details: object = {}) =>
    new Promise<Answer>((resolve, reject) => {
      pending.set(asked, { resolve: resolve as (answer: unknown) => void, reject });
      child.send({ id: asked++, question, details }, (error) => error && reject(error));
    });
  await ask('ready').catch((error: unknown) => {
    child.kill();
    throw error;
  });
  return {
    pid: child.pid!,
    ask,
    async stop() {
      await ask('stop');
      child.disconnect();
      await exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
