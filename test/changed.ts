// npm run test:changed [-- --since main] [--seconds 50] [files…]: the tests that the change since a commit can reach,
// the nearest first, as many as take less than a minute. Without a commit, what is not committed; if that is nothing, what
// the last commit changed. Says how many it left to `npm test`.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { reachedTests, readUses } from './reach.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { since: { type: 'string' }, seconds: { type: 'string', default: '40' } },
});

const git = (...args: string[]): string[] =>
  execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);

function changedFiles(): string[] {
  if (positionals.length > 0) return positionals;
  const base = values.since ? git('merge-base', values.since, 'HEAD')[0]! : 'HEAD';
  const files = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')];
  return files.length > 0 || values.since ? files : git('diff', '--name-only', 'HEAD~1');
}

/** The seconds that each file took when it last ran here. */
function lastTimes(): Map<string, number> {
  const folder = 'node_modules/.vite/vitest';
  const caches = existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name, 'results.json')) : [];
  const results = caches
    .filter((file) => existsSync(file))
    .flatMap((file) => (JSON.parse(readFileSync(file, 'utf8')) as Results).results);
  return new Map(results.map(([file, { duration }]) => [file.replace(/^\w*:/, ''), duration / 1_000]));
}

/** Vitest's cache of results. */
interface Results {
  results: [file: string, { duration: number }][];
}

const isSlow = (file: string): boolean => /^\/\/ @module-tag (?:slow|long)/m.test(readFileSync(file, 'utf8'));

const changed = changedFiles();
const reached = reachedTests(await readUses(), changed).filter((file) => !isSlow(file));
const times = lastTimes();
// three files run at a time
let left = Number(values.seconds) * 3;
const chosen = reached.filter((file) => (left -= 1 + (times.get(file) ?? 3)) > 0 || changed.includes(file));
console.log(
  `${changed.length} changed files reach ${reached.length} files of tests; the nearest ${chosen.length} run.`,
);
if (chosen.length > 0) {
  const { status } = spawnSync('npm', ['test', '--', ...chosen], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
