// Walks the first hour of a new user again: from a fresh clone, and from a packed tarball in an empty project. Prints what it
// did and how long that took; exits with 1 at the first thing that is not as it was. What does not wait for one another is done
// at once, so the times overlap.
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { snippetsOf } from '../docs/snippets.ts';
import { assertBilled } from './billed.ts';
import { compileTypes } from './compile.ts';
import { node, npm, start, type Ended } from './processes.ts';
import { commandLines, mistakes, programs, told } from './programs.ts';

const checkout = process.cwd();
const root = await mkdtemp(path.join(tmpdir(), 'lanefold-hour-'));
const clone = path.join(root, 'clone');
const fromClone = path.join(root, 'from-clone');
const home = path.join(root, 'project');
const app = path.join(home, 'app');
const lanefold = path.join(home, 'node_modules/lanefold/src/ops/cli/bin.js');
const tool = (name: string) => path.join(home, `node_modules/${name}`);
const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];

const startedAt = performance.now();
const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

async function step(what: string, act: () => Promise<unknown>): Promise<void> {
  const since = performance.now();
  await act();
  console.log(`${what}: ${seconds(since)}`);
}

/** Waits for all, so that nothing is at work any more when one has failed. */
async function together(...acts: Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(acts)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

const manifest = async (folder: string) =>
  JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;

async function succeeds(run: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await run;
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

const answers = async (run: Promise<Ended>, answer: string | RegExp): Promise<void> =>
  assert.match(await succeeds(run), typeof answer === 'string' ? new RegExp(`^${answer}$`, 'm') : answer);

async function cloneCheckout(): Promise<void> {
  await succeeds(start('git', ['clone', '--quiet', '--depth', '1', `file://${checkout}`, clone]).ended);
  await symlink(path.join(checkout, 'node_modules'), path.join(clone, 'node_modules'));
}

async function runReadme(): Promise<void> {
  const [readme] = snippetsOf('README.md').filter(({ language }) => language === 'ts');
  await writeFile(path.join(clone, 'main.ts'), readme!.text);
  await answers(node(path.join(clone, 'node_modules/tsx/dist/cli.mjs'), ['main.ts'], clone), /order_status says/);
}

/** A project of `init` depends on the package as it is published. */
async function initFromClone(): Promise<string> {
  await answers(node(path.join(clone, 'src/ops/cli/bin.js'), ['init', fromClone], root), /npm run ask/);
  const { dependencies } = await manifest(fromClone);
  assert.match(dependencies!['lanefold']!, /^file:lanefold-.*\.tgz$/);
  return dependencies!['lanefold']!.slice('file:'.length);
}

async function checkPacked(tarball: string): Promise<void> {
  await mkdir(path.join(clone, '.lanefold/package'), { recursive: true });
  await cp(path.join(fromClone, tarball), path.join(clone, '.lanefold/package', tarball));
  await succeeds(npm(['run', '--silent', 'package:verify'], clone));
}

async function install(tarball: string): Promise<void> {
  await mkdir(home);
  await cp(path.join(fromClone, tarball), path.join(home, tarball));
  await writeFile(path.join(home, 'package.json'), '{ "private": true }');
  const { devDependencies, dependencies } = await manifest(checkout);
  const versions = Object.entries({ ...dependencies, ...devDependencies })
    .filter(([name]) => ['typescript', '@types/node', 'zod', 'tsx', 'pg'].includes(name))
    .map(([name, version]) => `${name}@${version}`);
  await succeeds(npm(['install', ...quick, `./${tarball}`, ...versions], home));
}

async function installAlone(tarball: string): Promise<void> {
  const empty = path.join(root, 'empty');
  await mkdir(empty);
  await writeFile(path.join(empty, 'package.json'), '{ "private": true }');
  await succeeds(npm(['install', ...quick, '--ignore-scripts', path.join(fromClone, tarball)], empty));
  await assertBilled(empty);
  // the package alone: no clone, no script of its dependencies, no key
  await answers(node(path.join(empty, 'node_modules/lanefold/src/ops/cli/bin.js'), ['demo'], empty), /completed after/);
}

async function assertSourceMaps(): Promise<void> {
  const dist = path.join(home, 'node_modules/lanefold/dist');
  const maps = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.map'));
  assert.ok(maps.length > 50);
  for (const name of maps) {
    const text = await readFile(path.join(dist, name), 'utf8');
    const { sources, sourcesContent } = JSON.parse(text) as Record<string, string[]>;
    assert.equal(sourcesContent?.length, sources!.length, name);
  }
}

async function initProject(): Promise<void> {
  await answers(node(lanefold, ['init', 'app'], home), /cd app && npm install && npm run ask/);
  assert.match((await manifest(app)).dependencies!['lanefold']!, /^file:\.\.\/lanefold-.*\.tgz$/);
}

/** What `init --existing` writes compiles beside what the project installs. */
async function extendProject(): Promise<void> {
  const folder = path.join(home, 'existing');
  await mkdir(folder);
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module", "dependencies": { "hono": "^4" } }');
  const compilerOptions = { module: 'NodeNext', target: 'ES2023', strict: true, skipLibCheck: true, noEmit: true };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  await answers(node(lanefold, ['init', '--existing'], folder), /app\.route\('\/agents', agentRoutes\)/);
  await succeeds(node(tool('typescript/bin/tsc'), [], folder));
}

async function installProject(): Promise<void> {
  await succeeds(npm(['install', ...quick], app));
  await answers(npm(['run', '--silent', 'ask', '--', 'Where is order A-17?'], app), /look_up_order says/);
}

const askBesideDev = () =>
  answers(
    node(lanefold, ['run', '--agents', 'agents.ts', '--thread', 'greeting', 'Where is order A-17?'], app),
    /look_up_order says \{"item":"lamp","state":"shipped"\}/,
  );

async function demo(): Promise<void> {
  const stdout = await succeeds(node(lanefold, ['demo'], app));
  assert.match(stdout, /completed after/);
  assert.match(stdout, /npx lanefold dev, then open http:.*\/#\/threads\//);
}

async function runProgram([name, text]: [string, string]): Promise<void> {
  await writeFile(path.join(app, name), text);
  const [script, args] = name.endsWith('.ts') ? [tool('tsx/dist/cli.mjs'), [name]] : [name, []];
  await answers(node(script, args, app), 'Good day');
}

async function makeMistakes(): Promise<void> {
  await writeFile(path.join(app, 'mistakes.mjs'), mistakes);
  const { stdout, stderr } = await node('mistakes.mjs', [], app);
  const lines = new Map(stdout.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]));
  for (const [name, expected] of Object.entries(told)) assert.match(lines.get(name) ?? stderr, expected, name);
}

async function mistype([args, env, code, expected]: (typeof commandLines)[number]): Promise<void> {
  const said = await node(lanefold, args, app, env);
  assert.deepEqual([args, said.code], [args, code], said.stderr);
  assert.match(said.stderr, expected);
}

async function develop(): Promise<void> {
  const dev = start(process.execPath, [lanefold, 'dev', '--agents', 'agents.ts', '--port', '0'], app);
  try {
    await step('dev', () => dev.says('Ctrl-C stops it.'));
    await step('ask', askBesideDev);
    await together(
      step('demo without a terminal', demo),
      step('plain node, CommonJS and tsx', () => together(...Object.entries(programs).map(runProgram))),
      step('mistakes of programs', makeMistakes),
    );
    await step('mistakes of command lines', () => together(...commandLines.map(mistype)));
    await step('the end of dev', async () => {
      dev.process.kill('SIGTERM');
      assert.equal((await dev.ended).code, 0, dev.said());
    });
  } finally {
    dev.process.kill('SIGTERM');
    await dev.ended;
  }
}

try {
  let tarball = '';
  await step('clone', cloneCheckout);
  await together(
    step('init from the clone, which packs itself', async () => void (tarball = await initFromClone())),
    step('the snippet of the README in the clone', runReadme),
  );
  await together(
    step('check the package', () => checkPacked(tarball)),
    step('install the tarball in an empty project', () => install(tarball)),
  );
  await step('init in the project', initProject);
  await together(
    step('tsc --strict, with the snippets of all guides', () => compileTypes({ checkout, home, app })),
    step('init --existing, compiled', extendProject),
    (async () => {
      await step('the bill of materials has what the tarball brings, and the demo runs from the tarball alone', () =>
        installAlone(tarball),
      );
      await step('source maps contain their sources', assertSourceMaps);
      await step('install what init has written, and ask', installProject);
      await develop();
    })(),
  );
  console.log(`the hour took ${seconds(startedAt)}`);
} finally {
  await rm(root, { recursive: true, force: true });
}
