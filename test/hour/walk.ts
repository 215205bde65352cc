// Walks the first hour of a new user again: from a fresh clone, and from a packed tarball in an empty project. Prints what it
// did and how long that took; exits with 1 at the first thing that is not as it was.
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pages, snippetsOf } from '../docs/snippets.ts';
import { assertBilled } from './billed.ts';
import { commandLines, mistakes, programs, told, typed, typedTables } from './programs.ts';
import { node, npm, start } from './processes.ts';

const checkout = process.cwd();
const root = await mkdtemp(path.join(tmpdir(), 'lanefold-hour-'));
const clone = path.join(root, 'clone');
const home = path.join(root, 'project');
const app = path.join(home, 'app');
const lanefold = path.join(home, 'node_modules/lanefold/src/cli/bin.js');
const tool = (name: string) => path.join(home, `node_modules/${name}`);

const startedAt = performance.now();
const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

async function step(what: string, act: () => Promise<unknown>): Promise<void> {
  const since = performance.now();
  await act();
  console.log(`${what}: ${seconds(since)}`);
}

const manifest = async (folder: string) =>
  JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;

const answers = async (
  run: Promise<{ code: number | null; stdout: string; stderr: string }>,
  answer: string | RegExp,
) => {
  const { code, stdout, stderr } = await run;
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, typeof answer === 'string' ? new RegExp(`^${answer}$`, 'm') : answer);
};

try {
  await step('clone, pack and check the package', async () => {
    await start('git', ['clone', '--quiet', '--depth', '1', `file://${checkout}`, clone]).ended;
    await symlink(path.join(checkout, 'node_modules'), path.join(clone, 'node_modules'));
    await mkdir(home);
    await answers(npm(['run', '--silent', 'package:check'], clone), /^lanefold-.*\.tgz$/m);
    await cp(path.join(clone, '.lanefold/package'), home, { recursive: true });
  });

  await step('the snippet of the README in the clone', async () => {
    const [readme] = snippetsOf('README.md').filter(({ language }) => language === 'ts');
    await writeFile(path.join(clone, 'main.ts'), readme!.text);
    await answers(node(path.join(clone, 'node_modules/tsx/dist/cli.mjs'), ['main.ts'], clone), /order_status says/);
  });

  await step('install the tarball in an empty project', async () => {
    await writeFile(path.join(home, 'package.json'), '{ "private": true }');
    const [tarball] = (await readdir(home)).filter((name) => name.endsWith('.tgz'));
    const { devDependencies, dependencies } = await manifest(checkout);
    const versions = Object.entries({ ...dependencies, ...devDependencies })
      .filter(([name]) => ['typescript', '@types/node', 'zod', 'tsx', 'pg'].includes(name))
      .map(([name, version]) => `${name}@${version}`);
    const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];
    const { code, stderr } = await npm(['install', ...quick, `./${tarball}`, ...versions], home);
    assert.equal(code, 0, stderr);
  });

  await step('the bill of materials has what the tarball brings', async () => {
    const empty = path.join(root, 'empty');
    await mkdir(empty);
    await writeFile(path.join(empty, 'package.json'), '{ "private": true }');
    const [tarball] = (await readdir(home)).filter((name) => name.endsWith('.tgz'));
    const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--silent', '--ignore-scripts'];
    const { code, stderr } = await npm(['install', ...quick, path.join(home, tarball!)], empty);
    assert.equal(code, 0, stderr);
    await assertBilled(empty);
  });

  await step('source maps contain their sources', async () => {
    const dist = path.join(home, 'node_modules/lanefold/dist');
    const maps = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.map'));
    assert.ok(maps.length > 50);
    for (const name of maps) {
      const { sources, sourcesContent } = JSON.parse(await readFile(path.join(dist, name), 'utf8')) as Record<
        string,
        string[]
      >;
      assert.equal(sourcesContent?.length, sources!.length, name);
    }
  });

  await step('init from the clone, which packs itself', async () => {
    const bin = path.join(clone, 'src/cli/bin.js');
    await answers(node(bin, ['init', 'from-clone'], root), /npm run ask/);
    const { dependencies } = await manifest(path.join(root, 'from-clone'));
    assert.match(dependencies!['lanefold']!, /^file:lanefold-.*\.tgz$/);
    assert.ok(existsSync(path.join(root, 'from-clone', dependencies!['lanefold']!.slice('file:'.length))));
  });
  await step('init, and what it prints', async () => {
    await answers(node(lanefold, ['init', 'app'], home), /cd app && npm install && npm run ask/);
    assert.match((await manifest(app)).dependencies!['lanefold']!, /^file:\.\.\/lanefold-.*\.tgz$/);
    const { code, stderr } = await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--silent'], app);
    assert.equal(code, 0, stderr);
    await answers(npm(['run', '--silent', 'ask', '--', 'Where is order A-17?'], app), /look_up_order says/);
  });
  const dev = start(process.execPath, [lanefold, 'dev', '--agents', 'agents.ts', '--port', '0'], app);
  try {
    await step('dev', () => dev.says('Ctrl-C stops it.'));
    await step('ask', () =>
      answers(
        node(lanefold, ['run', '--agents', 'agents.ts', '--thread', 'greeting', 'Where is order A-17?'], app),
        /look_up_order says \{"item":"lamp","state":"shipped"\}/,
      ),
    );
    await step('demo without a terminal', async () => {
      const { code, stdout } = await node(lanefold, ['demo'], app);
      assert.equal(code, 0);
      assert.match(stdout, /completed after/);
      assert.match(stdout, /npx lanefold dev, then open http:.*\/#\/threads\//);
    });
    await step('plain node, CommonJS and tsx', async () => {
      for (const [name, text] of Object.entries(programs)) {
        await writeFile(path.join(app, name), text);
        const how = name.endsWith('.ts') ? [tool('tsx/dist/cli.mjs'), [name]] : [name, []];
        await answers(node(how[0] as string, how[1] as string[], app), 'Good day');
      }
    });
    await step('mistakes of programs', async () => {
      await writeFile(path.join(app, 'mistakes.mjs'), mistakes);
      const { stdout, stderr } = await node('mistakes.mjs', [], app);
      const lines = new Map(
        stdout.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]),
      );
      for (const [name, expected] of Object.entries(told)) assert.match(lines.get(name) ?? stderr, expected, name);
    });
    await step('mistakes of command lines', async () => {
      for (const [args, env, code, expected] of commandLines) {
        const said = await node(lanefold, args, app, env);
        assert.deepEqual([args, said.code], [args, code], said.stderr);
        assert.match(said.stderr, expected);
      }
    });
    await step('the end of dev', async () => {
      dev.process.kill('SIGTERM');
      assert.equal((await dev.ended).code, 0, dev.said());
    });
  } finally {
    dev.process.kill('SIGTERM');
    await dev.ended;
  }

  await step('tsc --strict, with the snippets of all guides', async () => {
    const types = path.join(home, 'types');
    await mkdir(types);
    await writeFile(path.join(types, 'package.json'), '{ "type": "module" }');
    await writeFile(path.join(types, 'typed.ts'), typed);
    await cp(path.join(app, 'agents.ts'), path.join(types, 'agents.ts'));
    await mkdir(path.join(types, 'tables'));
    await writeFile(path.join(types, 'tables/tables.ts'), typedTables);
    for (const { page, line, language, file, text } of pages.flatMap(snippetsOf)) {
      if (!['ts', 'tsx'].includes(language)) continue;
      const folder = path.join(types, page.replaceAll(/\W/g, '-'));
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, file ?? `line-${line}.${language}`), `${text}\nexport {};\n`);
    }
    await linkMissing(types);
    const compile = async (module: string, moduleResolution: string, skipLibCheck: boolean, files: string[]) => {
      const options = { module, moduleResolution, skipLibCheck, noEmit: true, strict: true, target: 'ES2023' };
      const config = `tsconfig.${moduleResolution}.${skipLibCheck}.json`;
      const compilerOptions = {
        ...options,
        types: ['node'],
        lib: ['ES2023', 'DOM', 'DOM.AsyncIterable'],
        jsx: 'react-jsx',
      };
      const more = { allowImportingTsExtensions: true };
      await writeFile(
        path.join(types, config),
        JSON.stringify({ compilerOptions: { ...compilerOptions, ...more }, include: files }),
      );
      const { code, stdout } = await node(tool('typescript/bin/tsc'), ['-p', config], types);
      assert.equal(code, 0, `${moduleResolution}, skipLibCheck ${skipLibCheck}:\n${stdout}`);
    };
    await Promise.all([
      compile('NodeNext', 'NodeNext', true, ['**/*']),
      compile('ESNext', 'Bundler', true, ['*.ts', 'tables/*.ts']),
    ]);
    await Promise.all([
      compile('NodeNext', 'NodeNext', false, ['*.ts']),
      compile('ESNext', 'Bundler', false, ['*.ts']),
    ]);
  });
  console.log(`the hour took ${seconds(startedAt)}`);
} finally {
  await rm(root, { recursive: true, force: true });
}

/** What guides import besides the package comes from the checkout. */
async function linkMissing(types: string): Promise<void> {
  // the declarations of the package import these too, so they have to be where it finds them
  for (const scope of ['@langchain', '@openai']) await link(path.join(home, 'node_modules'), scope);
  const modules = path.join(types, 'node_modules');
  for (const scope of ['@ag-ui', '@ai-sdk', '@durable-streams', '@modelcontextprotocol', '@opentelemetry'])
    await link(modules, scope);
  for (const name of ['ai', 'drizzle-orm', 'kysely', 'postgres', 'hono', 'react', '@types/react', '@types/pg'])
    if (!existsSync(tool(name))) await link(modules, name);
}

async function link(modules: string, name: string): Promise<void> {
  await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
  await symlink(path.join(checkout, 'node_modules', name), path.join(modules, name));
}
