import { createLanefold, defineAgent, type Lanefold, type Run, type Strategy } from 'lanefold';
import pg from 'pg';
import { tot } from '../src/strategies/tot/tot.ts';
import type { Servers } from './setup.ts';
import { median } from './support/median.ts';

/** A list that can be read as thoughts and as scores, so that one script serves every question. */
const list = '1. 0.41\n2. 0.52\n3. 0.63\n4. 0.44\n5. 0.55\n6. 0.66\n7. 0.47\n8. 0.58';
const scripted = (text: string, latencyMs: number) => `scripted:${JSON.stringify([text])}?latency_ms=${latencyMs}`;
/** Readable for every strategy. */
const anyAnswer = '1. 0.9\n2. 0.4\n3. 0.6\nSCORE: 0.95\nAnswer: 42';

/** A large tree, independent branches, and the cost of each strategy for the same question. */
export async function strategies(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  const decisions: number[] = [];
  const agents = [defineAgent({ name: 'timed', model: 'scripted:echo', strategy: timed(decisions) })];
  const lanefold = await createLanefold({ databaseUrl, redisUrl: null, agents });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const ask = async (options: object): Promise<Run> => {
    const run = await lanefold.runs.enqueue({ agent: 'timed', input: 'Which way is best?', ...options });
    return lanefold.runs.wait(run);
  };
  try {
    await lanefold.startWorker();
    await ask({ model: scripted(list, 0), strategyOptions: { maxDepth: 2 } });
    await largeTree(ask, pool, decisions);
    await branches(ask);
    await costs(lanefold, ask);
  } finally {
    await pool.end();
    await lanefold.close();
  }
}

/** Tree of Thoughts, with the time each decision takes. */
function timed(decisions: number[]): Strategy {
  const on: Strategy['on'] = (...args) => {
    const from = performance.now();
    const decision = tot.on(...args);
    decisions.push(performance.now() - from);
    return decision;
  };
  return { ...tot, name: 'timed-tot', on };
}

async function largeTree(ask: (options: object) => Promise<Run>, pool: pg.Pool, decisions: number[]): Promise<void> {
  for (const nodes of [250, 500, 1_000]) {
    decisions.length = 0;
    const strategyOptions = { maxNodes: nodes, maxDepth: 1_000, convergenceWindow: 1, branches: 8, traversal: 'bfs' };
    const run = await ask({ model: scripted(list, 0), strategyOptions, maxIterations: 2_000 });
    const { rows } = await pool.query(
      `select count(*)::int as rows, count(*) filter (where call_no is null)::int as thoughts, sum(pg_column_size(n.*))::int as bytes
       from lanefold._run_node n where run_id = $1`,
      [run.id],
    );
    const { rows: rowCount, thoughts, bytes } = rows[0] as { rows: number; thoughts: number; bytes: number };
    const sorted = decisions.toSorted((a, b) => a - b);
    const [most, slowest] = [0.95, 1].map((share) => sorted[Math.ceil(sorted.length * share) - 1]!.toFixed(2));
    console.log(
      `tree of ${thoughts + 1}: ${rowCount} rows, ${Math.round(bytes / (thoughts + 1))} bytes a node (${Math.round(bytes / rowCount)} a row); ` +
        `decision median ${median(decisions).toFixed(3)} ms, 95% within ${most} ms, max ${slowest} ms (${decisions.length})`,
    );
  }
}

async function branches(ask: (options: object) => Promise<Run>): Promise<void> {
  const latencyMs = 100;
  for (const count of [1, 8]) {
    const options = {
      maxDepth: 1_000,
      beamWidth: 8,
      branches: count,
      convergenceWindow: 1,
      maxNodes: 8 * count * 5 + 9,
    };
    const run = await ask({ model: scripted(list, latencyMs), strategyOptions: options });
    const expansions = run.iteration / 2;
    const levels = 1 + Math.ceil((expansions - 1) / count);
    const perCall = run.durationMs! / (levels * 2);
    console.log(
      `branches ${count}: ${run.iteration} calls of ${latencyMs} ms in ${run.durationMs} ms, ${perCall.toFixed(0)} ms for each of ${levels * 2} rounds of calls`,
    );
  }
}

async function costs(lanefold: Lanefold, ask: (options: object) => Promise<Run>): Promise<void> {
  const model = scripted(anyAnswer, 50);
  for (const strategy of ['react', 'cot', 'cod', 'aot', 'tot', 'got', 'trm']) {
    const run = await ask({ strategy, model });
    console.log(
      `${strategy.padEnd(6)} ${run.status} (${run.terminationReason}): ${run.iteration} calls, ${run.usage?.total_tokens} tokens, ${run.durationMs} ms, ${(await lanefold.runs.nodes(run)).length} nodes`,
    );
  }
}
