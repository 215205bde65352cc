import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** One start of a tool, written down by the tool itself before it does anything. */
export interface ToolStart {
  /** The idempotency key of the call. */
  key: string;
  name: string;
  pid: number;
  /** Milliseconds since the epoch, on the machine's clock, which is also PostgreSQL's; that of `performance` may be tens of them off. */
  at: number;
}

/**
 * What the built-in tools remember of themselves, in files and so without the database, the ledger or the runtime: it
 * is the witness against them. A line is written in one call and survives the death of its process.
 */
export class Journal {
  readonly #file: string;

  constructor(readonly dir: string) {
    this.#file = path.join(dir, `starts-${process.pid}.jsonl`);
  }

  started(key: string, name: string): void {
    const start: ToolStart = { key, name, pid: process.pid, at: Date.now() };
    appendFileSync(this.#file, `${JSON.stringify(start)}\n`);
  }

  /** Takes note of an effect that `found` can be asked for after a crash. */
  effected(key: string, result: string): void {
    writeFileSync(this.#effect(key), result);
  }

  found(key: string): string | undefined {
    const file = this.#effect(key);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  #effect(key: string): string {
    return path.join(this.dir, `effect-${key.replaceAll(':', '.')}`);
  }
}

/** Every start of every process. */
export const readJournal = (dir: string): ToolStart[] =>
  readdirSync(dir)
    .filter((name) => name.startsWith('starts-'))
    .flatMap((name) => readFileSync(path.join(dir, name), 'utf8').split('\n'))
    // the last line of a killed process may be cut
    .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as ToolStart] : []));
