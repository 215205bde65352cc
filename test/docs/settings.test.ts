import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { haproxyConfig } from '../support/patroni/config.ts';

const page = readFileSync('docs/reference/settings.md', 'utf8');
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

test('documents every environment variable that the sources read', () => {
  const named = new Set<string>();
  for (const file of sources) {
    const text = readFileSync(path.join('src', file), 'utf8');
    for (const match of text.matchAll(/\benv(?:\.|\[')([A-Z][A-Z0-9_]+)|\.env\('([A-Z0-9_]+)'\)/g))
      named.add((match[1] ?? match[2])!);
  }
  named.delete('PATH');
  expect(named.size).toBeGreaterThan(10);
  for (const name of named) expect(page, name).toContain(`\`${name}\``);
});

test.each([
  ['LanefoldOptions', 'src/lanefold/options.ts'],
  ['WorkerOptions', 'src/worker/process/options.ts'],
  ['TraceOptions', 'src/worker/process/options.ts'],
  ['AppOptions', 'src/server/options.ts'],
  ['ServerOptions', 'src/server/options.ts'],
])('documents every option of %s', (name, file) => {
  const text = readFileSync(file, 'utf8')
    .split(new RegExp(`interface ${name}\\b.*\\{`))[1]!
    .split('\n}')[0]!;
  const options = [...text.matchAll(/^ {2}(\w+)\??:/gm)].map((match) => match[1]!);
  expect(options.length).toBeGreaterThan(1);
  for (const option of options) expect(page, option).toContain(`\`${option}\``);
});

test('the configuration of HAProxy is the one that failovers are tested with', () => {
  const lines = (text: string) =>
    text.split('\n').flatMap((line) => (/^ *(bind|server) |^ *$/.test(line) ? [] : [line.trim()]));
  const [, shown] = /```text\n(defaults\n[^]*?)```/.exec(readFileSync('docs/reference/high-availability.md', 'utf8'))!;
  expect(lines(shown!)).toEqual(lines(haproxyConfig(5000, 5001, [])));
});
