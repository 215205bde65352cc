import { readFileSync } from 'node:fs';

/**
 * The main process of the PostgreSQL server, if it runs on this machine and `/proc` shows it.
 *
 * @param backend the process of a session, as the server numbers it
 * @param database the session's database, by which the process is told from one with its number on this machine
 */
export function serverProcess(backend: number, database: string): number | undefined {
  try {
    const title = readFileSync(`/proc/${backend}/cmdline`, 'utf8');
    if (!title.startsWith('postgres: ') || !title.includes(` ${database} `)) return undefined;
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${backend}/status`, 'utf8'))![1]);
  } catch {
    return undefined;
  }
}
