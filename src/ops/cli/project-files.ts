import { readFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { parseJson } from '../../base/common/json.ts';
import { packageRoot, packageVersion } from '../../base/environment.ts';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { UsageError } from './errors.ts';
import { note } from './output.ts';

const agents = `import { defineAgent, defineTool } from 'lanefold';
import { z } from 'zod';

const orders = new Map([['A-17', { item: 'lamp', state: 'shipped' }]]);

const lookUpOrder = defineTool({
  name: 'look_up_order',
  description: 'Item and state of an order.',
  input: z.object({ orderId: z.string().describe('Such as A-17') }),
  execute: ({ orderId }) => orders.get(orderId) ?? { error: \`There is no order \${orderId}.\` },
});

export default [
  defineAgent({
    name: 'support',
    // offline and scripted; later 'openai:gpt-5-mini', with OPENAI_API_KEY in a file .env
    model: 'scripted:demo',
    instructions: 'You help customers with their orders. Look an order up before you say anything about it.',
    tools: [lookUpOrder],
  }),
];
`;

const readme = (name: string) => `# ${name}

    npm install
    npm run ask -- "Where is order A-17?"

Agents are in \`agents.ts\`. \`npm run dev\` starts PostgreSQL in \`.lanefold\`, a worker, an HTTP API and a page that shows
every run, and restarts when a file changes. Variables such as \`OPENAI_API_KEY\` and \`DATABASE_URL\` go into \`.env\`.
`;

const tsconfig = {
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  },
};

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

export const projectFileNames = ['package.json', 'tsconfig.json', 'agents.ts', 'README.md', '.gitignore'] as const;

/** A project with one agent in `folder`, by file name. It uses this package. */
export async function projectFiles(folder: string): Promise<Record<(typeof projectFileNames)[number], string>> {
  const own = parseJson(await readFile(path.join(packageRoot, 'package.json'), 'utf8')) as {
    engines: { node: string };
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const base = path.basename(path.resolve(folder)).toLowerCase();
  const name = base.replace(/^[^a-z0-9]+|[^a-z0-9._-]+/g, '') || 'agents';
  return {
    'package.json': json({
      name,
      private: true,
      type: 'module',
      engines: own.engines,
      scripts: {
        ask: 'lanefold run --agents agents.ts',
        dev: 'lanefold dev --agents agents.ts',
        check: 'tsc',
      },
      dependencies: { lanefold: await ownSpec(folder), zod: `^${own.dependencies['zod']}` },
      devDependencies: {
        '@types/node': `^${own.devDependencies['@types/node']}`,
        typescript: `^${own.devDependencies['typescript']}`,
      },
    }),
    'tsconfig.json': json(tsconfig),
    'agents.ts': agents,
    'README.md': readme(name),
    '.gitignore': 'node_modules\n.lanefold\n.env\n',
  };
}

/**
 * The version or file by which a project in `folder` depends on the package of this command: its version if it came
 * from a registry, else the file it was installed from. Without such a file, as with pnpm, Yarn, git or a deleted file,
 * the package packs itself into `folder`; so does a checkout, whose sources npm cannot install.
 */
export async function ownSpec(folder: string, version = packageVersion()): Promise<string> {
  if (existsSync(path.join(packageRoot, 'tsconfig.json'))) return `file:${await pack(folder, 'the checkout')}`;
  const source = installedFrom();
  if (source === 'registry') return `^${version}`;
  if (source) return `file:${path.relative(path.resolve(folder), source)}`;
  // an installed package is already built, so skip its scripts
  return `file:${await pack(folder, 'the package installed in', '--ignore-scripts')}`;
}

async function pack(folder: string, what: string, ...more: string[]): Promise<string> {
  note(`packing ${what} ${packageRoot} for the project`);
  await mkdir(folder, { recursive: true });
  const args = ['pack', '--silent', ...more, '--pack-destination', path.resolve(folder)];
  try {
    const { stdout } = await promisify(execFile)('npm', args, { cwd: packageRoot });
    return stdout.trim().split('\n').at(-1)!;
  } catch (error) {
    throw new UsageError(
      `Cannot pack ${what} ${packageRoot}: ${(error as Error).message}`,
      `Run npm pack in ${packageRoot}, see what fails, and depend on the file it writes.`,
    );
  }
}

/**
 * The tarball that npm or the surrounding project records as the source of this package, or `registry`; undefined if
 * neither is recorded.
 */
function installedFrom(): string | undefined {
  const project = path.resolve(packageRoot, '../..');
  const known = [
    read(path.join(project, 'node_modules/.package-lock.json'))?.packages?.['node_modules/lanefold']?.resolved,
    read(path.join(project, 'package.json'))?.dependencies?.['lanefold'],
  ];
  if (/^https?:.*\/-\/lanefold-[^/]*\.tgz$/.test(known[0] ?? '')) return 'registry';
  const files = known.flatMap((spec) => (spec?.startsWith('file:') ? path.resolve(project, spec.slice(5)) : []));
  return files.find((file) => existsSync(file));
}

interface Manifest {
  dependencies?: Record<string, string>;
  packages?: Record<string, { resolved?: string }>;
}

function read(file: string): Manifest | undefined {
  try {
    return parseJson(readFileSync(file, 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}
