import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseJson } from '../common/json.ts';
import { packageRoot } from '../common/package-root.ts';
import { ownSpec } from './own-spec.ts';

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
    version: string;
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
      dependencies: { lanefold: await ownSpec(folder, own.version), zod: `^${own.dependencies['zod']}` },
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
