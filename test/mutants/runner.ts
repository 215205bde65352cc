import path from 'node:path';
import pg from 'pg';
import type { InlineConfig } from 'vite';
import { createVitest, type TestCase, type TestModule, type Vitest } from 'vitest/node';
import config from '../../vitest.config.ts';
import { databaseAt } from '../support/citus.ts';
import { breakFunctions, replaceEach, type Change, type Replacement } from './change.ts';

/** A test, by its file and its full name. */
export interface TestName {
  file: string;
  test: string;
}

/** How a test ended. */
export interface Ended {
  state: 'passed' | 'failed' | 'hung' | 'missing';
  /** Of a failed test, or of a file that could not be loaded. */
  error?: string;
}

/** What ends a test that waits for what a mistake prevents, in ms: it says nothing about the mistake. */
const hangsAfterMs = 120_000;

const template = 'lanefold_template';

/** Runs single tests under mistakes, one after the other, on services that they share. */
export class Runner {
  #source: Record<string, Replacement[]> = {};

  private constructor(
    private readonly vitest: Vitest,
    private readonly reported: { modules: readonly TestModule[] },
  ) {}

  static async open(): Promise<Runner> {
    const reported: Runner['reported'] = { modules: [] };
    const runner: { current?: Runner } = {};
    const { projects: _, ...options } = config.test!;
    const vite: InlineConfig = {
      configFile: false,
      resolve: config.resolve!,
      plugins: [
        {
          name: 'lanefold-mistakes',
          enforce: 'pre',
          transform(code, id) {
            const file = path.relative('.', id);
            const replacements = runner.current && runner.current.#source[file];
            return replacements && { code: replaceEach(code, file, replacements), map: null };
          },
        },
      ],
    };
    const vitest = await createVitest(
      'test',
      {
        ...options,
        config: false,
        watch: false,
        maxWorkers: 1,
        isolate: true,
        testTimeout: hangsAfterMs,
        include: ['test/**/*.test.ts'],
        globalSetup: ['test/support/services.ts'],
        env: { LANEFOLD_TEST_QUEUE: 'postgres' },
        // a kept module would be the one without the mistake
        experimental: { fsModuleCache: false },
        reporters: [{ onTestRunEnd: (modules) => void (reported.modules = modules) }],
      },
      vite,
    );
    return (runner.current = new Runner(vitest, reported));
  }

  /** Runs tests, as they are. */
  async run(tests: readonly TestName[]): Promise<Ended[]> {
    const project = this.vitest.getRootProject();
    const specifications = [...new Set(tests.map(({ file }) => file))].map((file) => {
      const names = tests.filter((one) => one.file === file).map(({ test }) => escape(test));
      return project.createSpecification(path.resolve(file), {
        testNamePattern: new RegExp(`^(?:${names.join('|')})$`),
      });
    });
    await this.vitest.runTestSpecifications(specifications);
    return tests.map((test) => endOf(this.reported.modules, test));
  }

  /** Runs a test under a mistake. */
  async runUnder({ sql = {}, source = {} }: Change, test: TestName): Promise<Ended> {
    const files = Object.keys(source).map((file) => path.resolve(file));
    const intact = await this.#inTemplate((client) =>
      breakFunctions((text, values) => client.query(text, values), sql),
    );
    this.#source = source;
    for (const file of files) this.vitest.invalidateFile(file);
    try {
      return (await this.run([test]))[0]!;
    } finally {
      this.#source = {};
      for (const file of files) this.vitest.invalidateFile(file);
      await this.#inTemplate(async (client) => {
        for (const statement of intact) await client.query(statement);
      });
    }
  }

  close = (): Promise<void> => this.vitest.close();

  /** The databases of the tests are copies of the template. */
  async #inTemplate<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const { postgresUrl } = this.vitest.getRootProject().getProvidedContext();
    const client = new pg.Client({ connectionString: databaseAt(postgresUrl, template) });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
}

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const nameOf = ({ fullName }: TestCase): string => fullName.replaceAll(' > ', ' ');

function endOf(modules: readonly TestModule[], { file, test }: TestName): Ended {
  const module = modules.find(({ moduleId }) => moduleId === path.resolve(file));
  const one = [...(module?.children.allTests() ?? [])].find((candidate) => nameOf(candidate) === test);
  const result = one?.result();
  if (result?.state === 'passed') return { state: 'passed' };
  const errors = result?.errors ?? module?.errors() ?? [];
  const error = errors[0]?.message.split('\n')[0] ?? 'it did not run';
  if (result?.state !== 'failed') return { state: 'missing', error };
  return { state: /timed out (in|after) \d+ ?ms/.test(error) ? 'hung' : 'failed', error };
}
