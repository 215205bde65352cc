import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

interface Lock {
  packages: Record<string, { version?: string; resolved?: string; engines?: { node?: string }; optional?: boolean }>;
}
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };

const majorOf = (range: string): number => Number(/\d+/.exec(range)?.[0] ?? 0);

/** Packages that ask for a newer Node than we do. */
const newer = Object.entries(lock.packages)
  .filter(([, { engines: { node = '*' } = {} }]) => node.split('||').every((r) => majorOf(r) > majorOf(engines.node)))
  .map(([folder]) => folder.replace(/^.*node_modules\//, ''));

// Our tests run on the oldest Node that we support, so these work there. What this list lacks may not: check it first,
// because .npmrc hides the warnings of npm.
test('only these packages ask for a newer Node than we do', () => {
  const aiSdk = [
    'anthropic',
    'gateway',
    'google',
    'mcp',
    'openai',
    'openai-compatible',
    'provider',
    'provider-utils',
    'react',
  ];
  const kubernetes = ['apimachinery', 'base', 'keda', 'validate'];
  expect([...new Set(newer)].sort()).toEqual(
    [
      ...aiSdk.map((name) => `@ai-sdk/${name}`),
      ...kubernetes.map((name) => `@kubernetes-models/${name}`),
      'ai',
      'kubernetes-models',
      'kysely',
      'openai',
    ].sort(),
  );
});

test('the lock file names no registry', () => {
  expect(Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

test('npm ci in a fresh clone warns of nothing', async () => {
  const clone = mkdtempSync(path.join(tmpdir(), 'lanefold-install-'));
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) copyFileSync(file, path.join(clone, file));
    // what npm hands on to this process would hide what the clone itself says
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name)));
    const args = ['ci', '--dry-run', '--offline', '--ignore-scripts'];
    const { stdout, stderr } = await promisify(execFile)('npm', args, { cwd: clone, env, maxBuffer: 2 ** 24 });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^added \d+ packages/m);
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
});
