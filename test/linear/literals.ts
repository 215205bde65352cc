import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { type Worst } from './growth.ts';

/** The modules of the product, of the checkout. */
export const modules: string[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((file) => path.join('src', file))
  .filter((file) => /\.[jt]sx?$/.test(file));

export interface Literal {
  file: string;
  source: string;
  flags: string;
}

/** The patterns that a module has written down. */
export function literalsOf(file: string): Literal[] {
  const found: Literal[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      found.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

/** Characters that one part of a pattern matches: an escape, a class, a letter. Quantifiers and groups have none. */
const part =
  /\\[pPu]\{[^}]*\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\.|\[\^?(?:\\.|[^\]\\])*\]|\{[\d,]+\}|\(\?<?[:=!]|[^*+?()|^$]/gisu;
const samples = [...' \t\n\r0a AZzé"\'<>&/\\-_.:;,=@#[]{}()*+%$|!?~`\u2028\ufeff'];

function sampleOf(written: string): string[] {
  // a quantifier, a group, a boundary, what a group matched before
  if (/^\{[\d,]+\}$|^\(|^\\[bB\d]$/.test(written)) return [];
  const matches = new RegExp(`^${written}$`, /\\[pPu]\{|[^\0-\uffff]/u.test(written) ? 'isu' : 'is');
  const found = samples.filter((sample) => matches.test(sample));
  // an escaped letter that no sample has
  return found.length > 0 ? [...new Set([found[0]!, found.at(-1)!])] : [String(Function(`return "${written}"`)())];
}

/**
 * Texts on which a pattern would try again and again, made of its own parts: each few of them, repeated behind what stands
 * before them in the pattern or behind nothing, with an end that none matches.
 */
export function worstOf({ source }: Pick<Literal, 'source'>): Worst[] {
  const parts = [...source.matchAll(part)].map(([written]) => sampleOf(written)).filter((found) => found.length > 0);
  const first = parts.map(([sample]) => sample!);
  const found = new Map<string, Worst>();
  const add = (before: string, pump: string) => {
    if (pump === '') return;
    for (const after of ['\0', '\n\0']) found.set(JSON.stringify([before, pump, after]), { before, pump, after });
  };
  for (const [from, any] of parts.entries()) {
    const before = first.slice(0, from).join('');
    for (const sample of any) for (const start of ['', before]) add(start, sample);
    for (let to = from + 2; to <= Math.min(from + 4, first.length); to++)
      for (const start of ['', before]) add(start, first.slice(from, to).join(''));
  }
  for (let to = 5; to <= first.length; to += 3) add('', first.slice(0, to).join(''));
  add('', first.join(''));
  return [...found.values()];
}
