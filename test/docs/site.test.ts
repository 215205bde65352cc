// @module-tag long
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { publicFolder } from '../../docs/.vitepress/folders.ts';
import { errorStatus } from 'lanefold';
import { find } from './reference/find.ts';

// a dead link fails the build
beforeAll(() => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'docs:site'], { encoding: 'utf8' });
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
});

const isThere = (file: string): boolean => existsSync(path.join(publicFolder, file));

describe('the site of the documentation', () => {
  test('has a page for each code of an error, and its Markdown', () => {
    const pages = Object.keys(errorStatus).flatMap((code) =>
      ['html', 'md'].map((type) => `reference/errors/${code}.${type}`),
    );
    expect(pages.filter((page) => !isThere(page))).toEqual([]);
  });

  test('has the Markdown of every page', () => {
    const files = readdirSync(publicFolder, { recursive: true, encoding: 'utf8' });
    const pages = files.filter((file) => file.endsWith('.html') && file !== '404.html');
    expect(pages.length).toBeGreaterThan(200);
    expect(pages.filter((page) => !isThere(page.replace(/html$/, 'md')))).toEqual([]);
  });

  test('tells language models what there is', () => {
    const list = readFileSync(path.join(publicFolder, 'llms.txt'), 'utf8');
    const links = [...list.matchAll(/\]\(\/([^)]+)\)/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(40);
    expect(links.filter((link) => !isThere(link))).toEqual([]);
    expect(readFileSync(path.join(publicFolder, 'llms-full.txt'), 'utf8')).toContain('# Concepts');
  });

  test('asks no other server for anything', () => {
    const html = readFileSync(path.join(publicFolder, 'index.html'), 'utf8');
    expect([...html.matchAll(/<(?:script|link|img)\b[^>]*(?:src|href)="(https?:[^"]+)"/g)].map(String)).toEqual([]);
  });

  test.each([
    ['rotate a key', 'run/security.html#rotate-a-key'],
    ['rotate an api key', 'run/security.html#rotate-a-key'],
    ['why was a fact cut', 'build/contexts.html'],
    ['see why a fact was cut', 'build/contexts.html'],
    ['model forgot', 'build/contexts.html#see-why-a-fact-was-cut-from-the-context'],
    ['stop a runaway customer', 'build/limits.html#stop-a-customers-runaway-spend'],
    ['customer spend limit', 'build/limits.html'],
    ['move to redis', 'run/operating.html#'],
    ['switch the queue to redis', 'run/operating.html#'],
    ['restore a backup', 'run/operating.html#restore'],
    ['backup', 'run/operating.html#backup'],
  ])('its search finds among the first five: %s', async (query, page) => {
    expect((await find(query)).slice(0, 5).join('\n')).toContain(page);
  });
});
