// npm test -- --reporter=./test/cost.ts: what each folder of tests takes, the most expensive first, and its five most
// expensive files; with COST, a file, also as JSON. On Linux, the CPU of the whole machine meanwhile.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import type { Cost } from './support/cost.ts';

interface File extends Cost {
  name: string;
  tests: number;
}

/** Of all processes, in ms. */
const machine = (): number =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);

const nothing: Cost = { wall: 0, own: 0, programs: 0 };

function toFile(module: TestModule): File {
  const tests = [...module.children.allTests()].filter((test) => test.result().state !== 'skipped').length;
  return { name: module.relativeModuleId, tests, ...(module.meta().cost ?? nothing) };
}

const folderOf = (name: string): string => {
  const parts = name.split(path.posix.sep);
  return parts.length > 2 ? parts[1]! : '.';
};

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

export default class CostReporter implements Reporter {
  #machine = 0;
  #startedAt = 0;

  onTestRunStart(): void {
    this.#machine = machine();
    this.#startedAt = performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const wall = performance.now() - this.#startedAt;
    const cpu = machine() - this.#machine;
    const files = modules.map(toFile).filter(({ tests }) => tests > 0);
    if (process.env['COST']) writeFileSync(process.env['COST'], JSON.stringify({ wall, cpu, files }));
    const folders = [...new Set(files.map(({ name }) => folderOf(name)))];
    print(
      'folder',
      folders.map((folder) =>
        sum(
          folder,
          files.filter(({ name }) => folderOf(name) === folder),
        ),
      ),
    );
    print('file', files, 20);
    console.log(`${seconds(wall)} s; CPU of all processes of this machine: ${seconds(cpu)} s`);
  }
}

function sum(name: string, files: readonly File[]): File {
  const total = (of: keyof Omit<File, 'name'>) => files.reduce((whole, file) => whole + file[of], 0);
  return { name, tests: total('tests'), wall: total('wall'), own: total('own'), programs: total('programs') };
}

function print(what: string, rows: File[], most = rows.length): void {
  console.log(`\n| ${what} | tests | seconds | CPU | CPU of programs |\n| --- | ---: | ---: | ---: | ---: |`);
  const cpu = ({ own, programs }: File) => own + programs;
  for (const { name, tests, wall, own, programs } of rows.sort((a, b) => cpu(b) - cpu(a)).slice(0, most))
    console.log(`| ${name} | ${tests} | ${seconds(wall)} | ${seconds(own)} | ${seconds(programs)} |`);
}
