// @module-tag slow
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schemaVersion } from '../../db/schema/version.ts';

describe('npm run release', { timeout: 900_000 }, () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(path.join(tmpdir(), 'lanefold-release-'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  const release = (...args: string[]) =>
    spawnSync('npm', ['run', '--silent', 'release', '--', ...args], { encoding: 'utf8' });
  const state = () => spawnSync('git', ['status', '--porcelain', '--ignored=no'], { encoding: 'utf8' }).stdout;

  test('does everything up to the publication, in one folder', { tags: 'long' }, () => {
    const out = path.join(root, 'out');
    const before = state();
    // docs/api has a test of its own, and the image one that starts containers
    const skipped = ['--skip', 'docs', '--skip', 'image'];
    const { status, stdout, stderr } = release('7.8.9', '--out', out, ...skipped);
    expect([status, stderr], stdout).toEqual([0, '']);
    expect(state()).toBe(before);
    expect(readdirSync(out).sort()).toEqual([
      'lanefold-7.8.9.tgz',
      'notes.md',
      `schema-${schemaVersion}.tgz`,
      'source',
    ]);
    for (const line of [/^provenance +requested/m, /^docs +skipped: --skip$/m, /^image +skipped: --skip$/m, /^5\. /m])
      expect(stdout).toMatch(line);
    expect(stdout).not.toMatch(/^6\. /m);

    const read = (name: string) => readFileSync(path.join(out, name), 'utf8');
    expect(read('source/CHANGELOG.md')).toMatch(/^## Unreleased\n\n## 7\.8\.9 - \d{4}-\d\d-\d\d\n\n### /m);
    expect(read('notes.md')).not.toContain('Nothing has been published yet');
    const list = (name: string) => spawnSync('tar', ['tzf', path.join(out, name)], { encoding: 'utf8' }).stdout;
    const packed = list('lanefold-7.8.9.tgz');
    for (const name of ['docs/README.md', 'docs/start/concepts.md', 'skills/lanefold/SKILL.md', 'dist/src/index.js'])
      expect(packed).toContain(`package/${name}\n`);
    expect(packed).not.toMatch(/package\/docs\/(api|\.vitepress)\/|AGENTS\.md/);
    const base = list(`schema-${schemaVersion}.tgz`);
    expect(base).toContain('package/dist/src/index.js\n');
    expect(base).not.toMatch(/\.(md|map|d\.ts)$/m);
  });

  test.each([
    [[], 'One version is needed.', 'VERSION'],
    [['0.0.1'], 'below the current version', 'VERSION'],
    [['next'], 'is not a version', 'VERSION'],
    [['9.0.0', '--ot', 'x'], '--ot', 'Did you mean --out?'],
    [['9.0.0', '--skip', 'imag'], 'no step "imag"', 'Did you mean image?'],
  ])('refuses %j', (args, message, hint) => {
    const { status, stderr } = release(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });

  test('writes into an empty folder alone', () => {
    const folder = mkdtempSync(path.join(root, 'full-'));
    writeFileSync(path.join(folder, 'mine'), '');
    const { status, stderr } = release('9.0.0', '--out', folder);
    expect([status, stderr]).toEqual([2, expect.stringContaining('is not empty')]);
  });
});
