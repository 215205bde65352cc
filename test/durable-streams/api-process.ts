import { readFileSync } from 'node:fs';
import { startCli } from '../cli/cli.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

export interface ApiProcess {
  url: string;
  database: TestDatabase;
  /** Resident memory now, and the most it ever was, in MiB. Linux only. */
  memory(field: 'VmRSS' | 'VmHWM'): number;
  /** Ends the process without a chance to clean up. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** The API as a process, on a database with nothing in it or on that of another process. */
export async function startApiProcess(on?: TestDatabase, env: Record<string, string> = {}): Promise<ApiProcess> {
  const database = on ?? (await createDatabase());
  const api = startCli(['api', '--port', '0'], { env: { DATABASE_URL: database.url, ...env } });
  const url = /http:\/\/[\d.:]+/.exec(await api.says('stderr', 'http://'))![0];
  const end = async (signal: NodeJS.Signals) => {
    api.process.kill(signal);
    await api.ended;
  };
  return {
    url,
    database,
    memory: (field) =>
      Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${api.process.pid}/status`, 'utf8'))![1]) /
      1_024,
    kill: () => end('SIGKILL'),
    async close() {
      await end('SIGTERM');
      if (!on) await database.drop();
    },
  };
}
