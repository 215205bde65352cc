import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseJson } from '../../../base/common/json.ts';

/** One start of a tool, recorded by the tool before it does anything else. */
export interface ToolStart {
  /** The idempotency key of the call. */
  key: string;
  name: string;
  pid: number;
  /**
   * Milliseconds since the epoch by the system clock, which PostgreSQL uses too; `performance` may differ by tens of
   * milliseconds.
   */
  at: number;
}

/** One question of a process to the limits, for a run that wants to make a model call, as the process sent it. */
export interface LimitAsk {
  run_id: string;
  pid: number;
  /** Milliseconds since the epoch. */
  at: number;
  /** Not of a process that had no answer. */
  refused?: boolean;
}

/**
 * Records of the built-in tools about their own starts and effects. They live in files, so they are independent of the
 * database, the tool ledger and the runtime that they check. Each line is one write, so it survives a kill of its
 * process.
 */
export class Journal {
  readonly #file: string;
  #asks = 0;

  constructor(readonly dir: string) {
    this.#file = path.join(dir, `starts-${process.pid}.jsonl`);
  }

  recordStart(key: string, name: string): void {
    const start: ToolStart = { key, name, pid: process.pid, at: Date.now() };
    appendFileSync(this.#file, `${JSON.stringify(start)}\n`);
  }

  /** Records a question, and returns a function that records its answer. */
  recordAsk(runId: string): (refused: boolean) => void {
    const ask = { run_id: runId, pid: process.pid, at: Date.now(), n: this.#asks++ };
    const write = (line: LimitAsk) =>
      appendFileSync(path.join(this.dir, `asks-${process.pid}.jsonl`), `${JSON.stringify(line)}\n`);
    write(ask);
    return (refused) => write({ ...ask, refused });
  }

  /** Records an effect that `findEffect` returns after a crash. */
  recordEffect(key: string, result: string): void {
    writeFileSync(this.#effect(key), result);
  }

  findEffect(key: string): string | undefined {
    const file = this.#effect(key);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  #effect(key: string): string {
    return path.join(this.dir, `effect-${key.replaceAll(':', '.')}`);
  }
}

/** The starts of tools recorded by all processes. */
export const readStarts = (dir: string): ToolStart[] => readLines(dir, 'starts-');

/** The questions to limits recorded by all processes. */
export const readAsks = (dir: string): LimitAsk[] => [
  // a line with an answer replaces the one without
  ...new Map(readLines<LimitAsk & { n: number }>(dir, 'asks-').map((ask) => [`${ask.pid} ${ask.n}`, ask])).values(),
];

const readLines = <Line>(dir: string, prefix: string): Line[] =>
  readdirSync(dir)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => readFileSync(path.join(dir, name), 'utf8').split('\n'))
    // the last line of a killed process may be truncated
    .flatMap((line) => (line.endsWith('}') ? [parseJson(line) as Line] : []));
