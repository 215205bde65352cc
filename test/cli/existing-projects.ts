import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A project before `lanefold init --existing`, by file name. */
export type Files = Record<string, string>;

const manifest = (more: object) => `${JSON.stringify({ name: 'shop', version: '1.0.0', ...more }, null, 2)}\n`;

/** What names the dependency already, so that no package is packed for it. */
export const known = { lanefold: '^0.1.0' };

export const projects = {
  express: {
    'package.json': manifest({ main: 'server.js', dependencies: { express: '^5.0.0', ...known } }),
    'package-lock.json': '{}',
    'server.js': `const express = require('express');\nconst app = express();\napp.listen(0);\n`,
  },
  hono: {
    'package.json': manifest({ type: 'module', dependencies: { hono: '^4.0.0', ...known } }),
    'pnpm-lock.yaml': '',
    'tsconfig.json': '{}',
    'src/index.ts': `import { Hono } from 'hono';\nexport const app = new Hono();\n`,
  },
  fastify: {
    'package.json': manifest({ type: 'module', dependencies: { fastify: '^5.0.0', ...known } }),
    'yarn.lock': '',
    'src/app.js': `import fastify from 'fastify';\nconst app = fastify();\nawait app.listen();\n`,
  },
  next: {
    'package.json': manifest({ dependencies: { next: '^16.0.0', react: '^19.0.0', ...known } }),
    'bun.lock': '',
    'tsconfig.json': '{}',
    'next.config.ts': 'export default {};\n',
    'src/app/page.tsx': 'export default function Page() { return null; }\n',
  },
  none: { 'package.json': manifest({ type: 'module', dependencies: known }) },
} satisfies Record<string, Files>;

export function writeProject(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
}

/** Every file of a folder, by name. */
export const readProject = (folder: string): Files =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((item) => item.isFile())
      .map((item) => path.join(item.parentPath, item.name))
      .sort()
      .map((file) => [path.relative(folder, file), readFileSync(file, 'utf8')]),
  );
