import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

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

/**
 * Records of the built-in tools about their own starts and effects. They live in files, so they are independent of the
 * database, the tool ledger and the runtime that they check. Each line is one write, so it survives a kill of its
 * process.
 */
export class Journal {
  readonly #file: string;

  constructor(readonly dir: string) {
    this.#file = path.join(dir, `starts-${process.pid}.jsonl`);
  }

  recordStart(key: string, name: string): void {
    const start: ToolStart = { key, name, pid: process.pid, at: Date.now() };
    appendFileSync(this.#file, `${JSON.stringify(start)}\n`);
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

/** The starts recorded by all processes. */
export const readJournal = (dir: string): ToolStart[] =>
  readdirSync(dir)
    .filter((name) => name.startsWith('starts-'))
    .flatMap((name) => readFileSync(path.join(dir, name), 'utf8').split('\n'))
    // the last line of a killed process may be truncated
    .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as ToolStart] : []));
