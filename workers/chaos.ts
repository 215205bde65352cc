/**
 * A worker process of `lanefold chaos`. It exits when its standard input closes, so that it never outlives its
 * campaign.
 */
import { recorderIn, recordStatements, recordAsks } from '../src/ops/chaos/recording/record-statements.ts';
import { providerModels } from '../src/ops/chaos/provider.ts';
import { chaosAgents, providerAgents } from '../src/ops/chaos/workload/tools.ts';
import { Journal } from '../src/ops/chaos/workload/journal.ts';
import { parseJson } from '../src/base/common/json.ts';
import type { ChaosWorkerOptions, ChaosWorkerReady } from '../src/ops/chaos/fleet.ts';
import { createLanefold } from '../src/lanefold/create.ts';

process.stdin.on('end', () => process.exit()).resume();
const options = parseJson(process.env['CHAOS_WORKER']!) as ChaosWorkerOptions;
const recorder = recorderIn(options.journal, 'worker');
recordStatements(recorder);
const journal = new Journal(options.journal);
recordAsks(journal);
const definition = options.agents
  ? await (await import('../src/ops/cli/agents-file.ts')).loadAgentsFile(options.agents)
  : {
      agents: [...chaosAgents(journal, recorder), ...providerAgents(journal, recorder)],
      models: providerModels(options.providerUrl!),
    };
const { databaseUrl, redisUrl } = options;
// A campaign opens thousands of connections, and each session first compiles what it calls. With four of them, at most
// four statements of a worker are executed at once.
const connections = { databaseUrl, directUrl: databaseUrl, readUrl: null, redisUrl, poolSize: 4 };
const lanefold = await createLanefold({ ...definition, ...connections, privateWebhooks: true });
const worker = await lanefold.startWorker(options.worker);
console.log(JSON.stringify({ worker_id: worker.id } satisfies ChaosWorkerReady));
