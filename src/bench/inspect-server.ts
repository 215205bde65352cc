import { QuietClient } from '../postgres/quiet-client.ts';
import { probe } from '../store/scratch/probe.ts';
import { readSettings } from '../store/scratch/read-server.ts';
import type { Scratch } from '../store/scratch/scratch.ts';
import { Durations } from './durations.ts';
import type { BenchReport } from './report.ts';
import { serverProcess } from './server-process.ts';

const probing = { rounds: 200, atMostMs: 3_000 };

/** Reads the settings of the server, probes it, and finds its process if it runs on this machine. */
export async function inspectServer(
  scratch: Scratch,
): Promise<BenchReport['postgres'] & { serverPid: number | undefined }> {
  const client = new QuietClient({ connectionString: scratch.url, application_name: 'lanefold bench' });
  try {
    await client.connect();
    const { backend, ...settings } = await readSettings(client);
    const { roundTripMs, commitMs } = await probe(client, probing);
    return {
      ...settings,
      round_trip_ms: Durations.of(roundTripMs).percentiles(),
      commit_ms: Durations.of(commitMs).percentiles(),
      serverPid: serverProcess(backend, scratch.name),
    };
  } finally {
    await client.end().catch(() => {});
  }
}
