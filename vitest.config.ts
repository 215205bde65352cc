import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { defineConfig } from 'vitest/config';

const alias = {
  'lanefold/ag-ui': path.resolve('src/doors/ag-ui/handler/index.ts'),
  'lanefold/chat': path.resolve('src/doors/chat/index.ts'),
  'lanefold/client': path.resolve('src/doors/client/index.ts'),
  'lanefold/react': path.resolve('src/doors/react/index.ts'),
  'lanefold/evals/autoevals': path.resolve('src/features/evals/autoevals.ts'),
  'lanefold/evals': path.resolve('src/features/evals/index.ts'),
  'lanefold/langgraph': path.resolve('src/doors/langgraph/index.ts'),
  'lanefold/mcp': path.resolve('src/doors/mcp/index.ts'),
  'lanefold/openai-agents': path.resolve('src/doors/openai-agents/index.ts'),
  'lanefold/schema': path.resolve('db/schema/index.ts'),
  'lanefold/strategy': path.resolve('src/agent/strategies/index.ts'),
  'lanefold/testing': path.resolve('src/agent/testing/index.ts'),
  lanefold: path.resolve('src/index.ts'),
};

const suitesWith = (call: string) =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => path.join('test', file))
    .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes(call));

/** Suites that skip without Redis use the queue: they run twice, once per backend; the others once. */
const queueSuites = suitesWith('noRedis()');

/** A fake clock applies to the whole process: a timer that an earlier suite left, and that sets itself again, would run on it. */
const clockSuites = suitesWith("fake-clock.ts'");

/** What `--tags-filter` asks for: `!slow` leaves the tests of a tag out, `slow` runs them alone. */
const { values: filters } = parseArgs({
  options: { 'tags-filter': { type: 'string', multiple: true, default: [] } },
  strict: false,
});

/** Vitest imports a file before it reads its tags, and skips its tests: those files are not worth their imports. */
const leftOut = (filters['tags-filter'] as string[]).flatMap((filter) => {
  if (filter.startsWith('!')) return suitesWith(`@module-tag ${filter.slice(1)}`);
  const tagged = new Set([...suitesWith(`@module-tag ${filter}`), ...suitesWith(`tags: '${filter}'`)]);
  return suitesWith('').filter((file) => !tagged.has(file));
});

/** Of the projects that need services: Vitest would start that of the root as well as the project's. */
const globalSetup = ['test/support/services.ts'];

export default defineConfig({
  resolve: { alias },
  test: {
    // what ends a test that hangs: a machine that is busy with others may need minutes
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 600_000 } },
    // more than cores: most of these suites wait for servers, leases and processes
    maxWorkers: 4,
    // the imports of one file after the other took a third of the time; a test undoes what it does to its process
    isolate: false,
    // transformed sources stay on the disk for the next run
    experimental: { fsModuleCache: true },
    setupFiles: ['test/support/cost.ts', 'test/support/warnings.ts'],
    tags: [
      { name: 'slow', description: 'not part of npm test: takes long, or starts browsers and clusters' },
      { name: 'long', description: 'only part of npm run test:long, which a release needs: campaigns, long searches' },
    ],
    projects: [
      {
        extends: true,
        test: {
          ...{ name: 'postgres', include: ['test/**/*.test.ts'], exclude: [...clockSuites, ...leftOut], globalSetup },
          env: { LANEFOLD_TEST_QUEUE: 'postgres' },
        },
      },
      {
        extends: true,
        test: { name: 'clock', include: clockSuites, exclude: leftOut, isolate: true },
      },
      {
        extends: true,
        test: {
          name: 'redis',
          include: queueSuites,
          exclude: leftOut,
          globalSetup,
          env: { LANEFOLD_TEST_QUEUE: 'redis' },
        },
      },
    ],
  },
});
