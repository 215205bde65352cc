import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { anchorOf } from '../../docs/.vitepress/anchors.ts';
import { pages } from './snippets.ts';

const examples = readdirSync('examples', { withFileTypes: true })
  .filter((item) => item.isDirectory())
  .map(({ name }) => `examples/${name}/README.md`);

const others = [
  'AGENTS.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'db/sql/README.md',
  'src/database/nodes/README.md',
  'bench/README.md',
  'bench/growth.md',
  'bench/proofs.md',
  'bench/harness/lanefold-bench/README.md',
  'bench/peers/README.md',
];

test.each([...pages, ...others, ...examples])('every link in %s resolves', (page) => {
  const text = readFileSync(page, 'utf8');
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map((match) => match[1]!);
  for (const link of links) {
    const [file, anchor] = link.split('#') as [string, string | undefined];
    const target = file === '' ? page : path.join(path.dirname(page), file);
    expect(existsSync(target), `${page}: ${link}`).toBe(true);
    if (!anchor) continue;
    const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1]!));
    expect(headings, `${page}: ${link}`).toContain(anchor);
  }
});
