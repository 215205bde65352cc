import { LanefoldError } from '../../errors.ts';

/** A word, number or sign of a condition, and where it begins. */
export interface Token {
  kind: 'name' | 'number' | 'sign' | 'end';
  text: string;
  /** From 0, in characters. */
  position: number;
}

const patterns: [Token['kind'], RegExp][] = [
  ['number', /(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?(?![A-Za-z0-9_.])/iy],
  ['name', /[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*){0,2}/y],
  ['sign', /<=|>=|<|>|\+|-/y],
];

/** The tokens of a condition; the last one is the end. @throws LanefoldError `invalid_input` */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  const skip = (): number => (position += /^\s*/.exec(text.slice(position))![0].length);
  for (skip(); position < text.length; skip()) {
    const found = patterns.flatMap(([kind, pattern]) => {
      pattern.lastIndex = position;
      const match = pattern.exec(text)?.[0];
      return match === undefined ? [] : [{ kind, text: match, position }];
    })[0];
    if (!found) {
      const rest = text.slice(position).split(/\s/)[0]!.slice(0, 40);
      throw conditionError(text, position, `${JSON.stringify(rest)} is not understood`, 'a metric, a number or a sign');
    }
    tokens.push(found);
    position += found.text.length;
  }
  return [...tokens, { kind: 'end', text: '', position }];
}

/** @param allowed what may stand there */
export const conditionError = (text: string, position: number, what: string, allowed: string): LanefoldError =>
  new LanefoldError('invalid_input', `The condition is invalid at character ${position + 1}: ${what}.`, {
    hint: `Allowed here: ${allowed}.`,
    details: { condition: text.slice(0, 1_000), position, allowed },
  });
