import { rm } from 'node:fs/promises';
import path from 'node:path';
import { after, delay } from '../../base/common/timer.ts';
import { lateStarts, recordHistory } from './history.ts';
import { inject } from './inject.ts';
import { concludeHistory, type HistoryFile } from './recording/conclude.ts';
import { recoveryTimes, settle } from './recovery.ts';
import { readExercised, summarise, type CampaignReport } from './report.ts';
import { runChecks } from './run-checks.ts';
import { kindsFor, scaled, type FaultKind, type Scenario } from './schedule.ts';
import { createFolder, startTestbed, type Testbed, type TestbedOptions } from './testbed.ts';
import { nothingAcknowledged, readAsks, readStarts, type Acknowledged } from './workload/journal.ts';
import type { CustomWorkload } from './workload/conversation.ts';
import { haveConversations } from './workload/conversations.ts';
import { hurryWebhooks, setWebhooks } from './workload/features.ts';

export interface CampaignOptions extends TestbedOptions {
  scenarios: number;
  /** How long to inject faults, in milliseconds. */
  timeLimitMs: number;
  /** The user's agents and their workload. */
  custom?: TestbedOptions['custom'] & CustomWorkload;
  /** A file for the history; it is checked in any case. */
  history?: HistoryFile;
  signal: AbortSignal;
  onProgress: (text: string) => void;
}

/**
 * Runs one campaign on its own services: applies load, injects faults, waits until every run has ended, and runs the
 * checks. Keeps the folder with the database if there is a violation.
 *
 * @throws LanefoldError `embedded_postgres_failed`, `queue_unreachable`
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const dir = await createFolder();
  const closers: (() => unknown)[] = [];
  let keep = true;
  try {
    const bed = await startTestbed(options, dir, closers);
    // a fault that hits before there is any worker says nothing about recovery
    await bed.fleet.ready(options.signal);
    const startedAt = performance.now();
    const load = await disturb(options, bed);
    const kills = bed.fleet.kills;
    await bed.fleet.stop();
    const { report, write } = await judge(options, bed, { ...load, kills, startedAt });
    keep = report.violations.length > 0;
    if (keep) await write({ file: path.join(dir, 'history.jsonl'), format: 'jsonl' });
    if (options.history) await write(options.history);
    await load.conversations.catch((error: unknown) => {
      keep = true;
      throw error;
    });
    return report;
  } finally {
    for (const close of closers.reverse()) {
      try {
        await close();
      } catch {
        // the others are to be closed all the same
      }
    }
    if (!keep) await rm(dir, { recursive: true, force: true });
  }
}

/** What a campaign did to its testbed, and what its clients were told. */
interface Load {
  acknowledged: Acknowledged;
  scenarios: Scenario[];
  conversations: Promise<void>;
  webhooksSince: number;
}

/** Has conversations and injects faults meanwhile; then waits until all runs have ended. */
async function disturb(options: CampaignOptions, bed: Testbed): Promise<Load> {
  const { queue, seed, custom, onProgress } = options;
  const { fleet, postgres, redis, observer, receiver, lanefold } = bed;
  const { leaseMs } = scaled(options.scale);
  const acknowledged = nothingAcknowledged();
  const giveUp = new AbortController();
  const injecting = new AbortController();
  const client = { lanefold, acknowledged, signal: giveUp.signal };
  if (!custom) await setWebhooks(client, receiver);
  const webhooksSince = Date.now();
  const workload = { seed, concurrency: options.concurrency, custom };
  const conversations = haveConversations(client, workload, injecting.signal);
  conversations.catch(() => injecting.abort());

  const limit = after(options.timeLimitMs, () => injecting.abort());
  const counts = new Map<FaultKind, number>();
  try {
    const rig = { fleet, postgres, redis, observer, leaseMs };
    const scenarios = await inject(rig, {
      seed,
      scenarios: options.scenarios,
      kinds: kindsFor(queue, options.kinds),
      signal: AbortSignal.any([options.signal, injecting.signal]),
      onScenario: ({ no, kind }) => {
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        const done = [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
        onProgress(`${queue}: ${no} of ${options.scenarios} scenarios (${done}), ${acknowledged.runs.length} runs`);
      },
    });
    injecting.abort();
    onProgress(`${queue}: waiting for the runs to end`);
    const patience = new AbortController();
    const tooLong = delay(Math.max(60_000, 30 * leaseMs), { signal: patience.signal });
    await Promise.race([conversations, tooLong.catch(() => {})]);
    patience.abort();
    receiver.heal();
    await settle(observer, Math.max(90_000, 30 * leaseMs), () => (custom ? Promise.resolve() : hurryWebhooks(client)));
    return { acknowledged, scenarios, conversations, webhooksSince };
  } finally {
    limit.cancel();
    injecting.abort();
    giveUp.abort();
  }
}

/** Checks what the database and the records say after the last run has ended. */
async function judge(options: CampaignOptions, bed: Testbed, load: Load & { kills: number; startedAt: number }) {
  const { queue, seed, workers, concurrency, scale, custom } = options;
  const { observer, fleet, provider, receiver, postgres, journalDir, dir } = bed;
  const { acknowledged, scenarios, kills } = load;
  options.onProgress(`${queue}: checking ${acknowledged.runs.length} runs`);
  await recordHistory(observer, {
    starts: readStarts(journalDir),
    asks: readAsks(journalDir),
    workers: fleet.pids,
    acknowledged,
    calls: provider.calls,
    requests: receiver.requests,
    crashes: postgres.crashes,
    ...(custom ? {} : { webhooksSince: load.webhooksSince }),
  });
  const checked = await runChecks(observer);
  const history = await concludeHistory(observer, bed.recorder, journalDir);
  checked.violations.push(...history.violations);
  const { leaseMs, sweepMs } = scaled(scale);
  const report = await summarise(observer, {
    campaign: { queue, seed, workers, concurrency, lease_ms: leaseMs, sweep_ms: sweepMs },
    reached: scenarios.length >= options.scenarios,
    scenarios,
    times: await recoveryTimes(observer, scenarios),
    kills,
    unexpectedExits: fleet.unexpectedExits,
    lateStarts: await lateStarts(observer),
    exercised: await readExercised(observer),
    checked,
    operations: history.operations,
    elapsedMs: performance.now() - load.startedAt,
    dir,
  });
  return { report, write: history.write };
}
