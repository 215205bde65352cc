// npm run test:flaky -- --rounds 10 --busy 2 [--all] [files…]: repeats the tests in another order each round, beside
// processes that keep the cores busy, and lists every test that was not green each time.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** What .ci/reporter.mjs writes. */
interface Report {
  faults: string[];
  files: { name: string; failures: { test: string; why: string }[] }[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '10' },
    busy: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    all: { type: 'boolean', default: false },
  },
});
const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-flaky-'));
const failures = new Map<string, string[]>();

function round(seed: number): void {
  const file = path.join(folder, `${seed}.json`);
  const tests = values.all ? ['npx', 'vitest', 'run'] : ['npm', 'test', '--'];
  const order = ['--sequence.shuffle.files', `--sequence.seed=${seed}`];
  const startedAt = performance.now();
  const [command, ...args] = [...tests, ...order, '--reporter=./.ci/reporter.mjs', ...positionals];
  const { status } = spawnSync(command!, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, REPORT: file },
  });
  // a runner that was killed leaves no report
  const failed = existsSync(file) ? failuresIn(JSON.parse(readFileSync(file, 'utf8')) as Report) : [];
  if (status !== 0 && failed.length === 0) failed.push(['(outside of the tests)', `exit code ${status}`]);
  for (const [test, why] of failed) failures.set(test, [...(failures.get(test) ?? []), `seed ${seed}: ${why}`]);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(`seed ${seed}: ${failed.length === 0 ? 'green' : `${failed.length} failed`}, ${seconds} s`);
}

function failuresIn({ faults, files }: Report): [string, string][] {
  const failed = files.flatMap(({ name, failures }) =>
    failures.map(({ test, why }): [string, string] => [
      `${path.relative(process.cwd(), name)} > ${test}`,
      firstLine(why),
    ]),
  );
  // nothing but its stack says where such an error came from
  return [...failed, ...faults.map((fault): [string, string] => ['(outside of the tests)', fault.slice(0, 2_000)])];
}

const firstLine = (text: string): string => text.split('\n')[0]!.slice(0, 200);

const spinning = Array.from({ length: Number(values.busy) }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
);
try {
  for (let n = 0; n < Number(values.rounds); n += 1) round(Number(values.seed) + n);
} finally {
  for (const child of spinning) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
}
for (const [test, whys] of failures) console.log(`${test}\n${whys.map((why) => `  ${why}`).join('\n')}`);
console.log(
  failures.size === 0 ? 'Every test was green each time.' : `${failures.size} tests were not green each time.`,
);
process.exitCode = failures.size === 0 ? 0 : 1;
