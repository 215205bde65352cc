import { createLanefold, defineAgent, type Lanefold, type Run, type Strategy } from 'lanefold';
import pg from 'pg';
import { tot } from '../src/agent/strategies/tot/tot.ts';
import type { Servers } from './setup.ts';
import { median } from './support/median.ts';

/** A list that parses as thoughts and as scores, so that one script serves every question. */
const list = '1. 0.41\n2. 0.52\n3. 0.63\n4. 0.44\n5. 0.55\n6. 0.66\n7. 0.47\n8. 0.58';
const scripted = (text: string, latencyMs: number) => `scripted:${JSON.stringify([text])}?latency_ms=${latencyMs}`;
/** An answer every strategy can parse, good enough to end its search at once. */
const anyAnswer = '1. 0.9\n2. 0.4\n3. 0.6\nSCORE: 0.95\nAnswer: 42';
const questions = [
  'Which way is best?',
  'How many days are there between the third of March and the ninth of October, both included?',
  'A shop sells apples at 3 for 2 euros and pears at 4 for 3 euros. Ann has 20 euros, needs at least 9 of each, and wants as much fruit as she can get. What should she buy?',
];

type Ask = (options: object) => Promise<Run>;

/** A large tree, independent branches, and the cost of each strategy for the same question. */
export async function strategies(servers: Servers): Promise<void> {
  const databaseUrl = await servers.database();
  const decisions: Decisions = { ms: [], stateBytes: [] };
  const agents = [defineAgent({ name: 'timed', model: 'scripted:echo', strategy: timed(decisions) })];
  const lanefold = await createLanefold({ databaseUrl, redisUrl: null, agents });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const ask: Ask = async (options) => {
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

/** For every decision: its duration, and the size of the resulting state. */
interface Decisions {
  ms: number[];
  stateBytes: number[];
}

/** Tree of Thoughts that measures its decisions. */
function timed(decisions: Decisions): Strategy {
  const on: Strategy['on'] = (...args) => {
    const from = performance.now();
    const decision = tot.on(...args);
    decisions.ms.push(performance.now() - from);
    decisions.stateBytes.push(Buffer.byteLength(JSON.stringify(decision.state)));
    return decision;
  };
  return { ...tot, name: 'timed-tot', on };
}

async function largeTree(ask: Ask, pool: pg.Pool, decisions: Decisions): Promise<void> {
  for (const nodes of [250, 500, 1_000]) {
    Object.assign(decisions, { ms: [], stateBytes: [] });
    const strategyOptions = { maxNodes: nodes, maxDepth: 1_000, convergenceWindow: 1, branches: 8, traversal: 'bfs' };
    const run = await ask({ model: scripted(list, 0), strategyOptions, maxIterations: 2_000 });
    const { rows } = await pool.query(
      `select count(*)::int as rows, count(*) filter (where call_no is null)::int as thoughts, sum(pg_column_size(n.*))::int as bytes
       from lanefold._run_node n where run_id = $1`,
      [run.id],
    );
    const { rows: rowCount, thoughts, bytes } = rows[0] as { rows: number; thoughts: number; bytes: number };
    const sorted = decisions.ms.toSorted((a, b) => a - b);
    const mean = sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length;
    const [most, slowest] = [0.95, 1].map((share) => sorted[Math.ceil(sorted.length * share) - 1]!.toFixed(2));
    console.log(
      `tree of ${thoughts + 1}: ${rowCount} rows, ${Math.round(bytes / (thoughts + 1))} bytes a node (${Math.round(bytes / rowCount)} a row); ` +
        `state ${Math.max(...decisions.stateBytes)} bytes max; ` +
        `decision mean ${mean.toFixed(2)} ms, median ${median(decisions.ms).toFixed(3)} ms, 95% within ${most} ms, max ${slowest} ms (${decisions.ms.length})`,
    );
  }
}

async function branches(ask: Ask): Promise<void> {
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
      `branches ${count}: ${run.iteration} calls of ${latencyMs} ms in ${run.durationMs} ms, ${perCall.toFixed(0)} ms for each of ${levels * 2} rounds of calls, ` +
        `${(perCall / latencyMs).toFixed(2)} times the duration of one call`,
    );
  }
}

/** Prints the table of docs/reference/strategies.md. */
async function costs(lanefold: Lanefold, ask: Ask): Promise<void> {
  const latencyMs = 50;
  const model = scripted(anyAnswer, latencyMs);
  console.log(`median of ${questions.length} questions, with a model that answers after ${latencyMs} ms:`);
  console.log('| strategy | calls | tokens | nodes | time, ms |\n| --- | --- | --- | --- | --- |');
  for (const strategy of ['react', 'cot', 'cod', 'aot', 'got', 'tot', 'trm']) {
    const rows: number[][] = [];
    for (const input of questions) {
      const run = await ask({ strategy, model, input });
      if (run.status !== 'completed') throw new Error(`${strategy} ended as ${run.status}: ${run.error?.message}`);
      const nodes = await lanefold.runs.nodes(run);
      rows.push([run.iteration, run.usage!.total_tokens, nodes.length, run.durationMs!]);
    }
    const cells = [0, 1, 2, 3].map((column) => median(rows.map((row) => row[column]!)));
    console.log(`| \`${strategy}\` | ${cells.join(' | ')} |`);
  }
}
