import { isObject } from '../../../base/common/json.ts';
import { findFlaw } from '../../../base/checks/values.ts';
import type { KeysOf } from '../../../base/checks/unknown-keys.ts';
import type { Expected } from '../types.ts';
import { invalidCase } from '../invalid.ts';

/** In characters of JSON. */
const longestExpected = 65_536;

const keys: KeysOf<Expected> = { answer: true, contains: true, tool: true, rubric: true, scorer: true };
const toolKeys: KeysOf<NonNullable<Expected['tool']>> = { name: true, arguments: true };

/** Checks what a case expects of an answer. @throws LanefoldError `invalid_input` */
export function readExpected(given: Expected): Expected {
  assertObject('expected', given, keys);
  const { answer, contains, tool, rubric, scorer } = given;
  for (const [field, text] of Object.entries({ answer, rubric, scorer }))
    if (text !== undefined && (typeof text !== 'string' || text === ''))
      throw invalidCase(`expected.${field}`, 'must be a text');
  if (contains !== undefined && !isTexts(contains)) throw invalidCase('expected.contains', 'must be a list of texts');
  if (tool !== undefined) {
    assertObject('expected.tool', tool, toolKeys);
    if (typeof tool.name !== 'string' || tool.name === '') throw invalidCase('expected.tool.name', 'must be a text');
    if (tool.arguments !== undefined && !isObject(tool.arguments))
      throw invalidCase('expected.tool.arguments', 'must be an object');
  }
  if (Object.values(given).every((value) => value === undefined)) throw invalidCase('expected', 'expects nothing');
  const flaw = findFlaw(given);
  if (flaw) throw invalidCase('expected', `contains ${flaw.what} at ${flaw.path}`);
  if (JSON.stringify(given).length > longestExpected)
    throw invalidCase('expected', `has more than ${longestExpected.toLocaleString('en')} characters`);
  return given;
}

function assertObject(field: string, value: unknown, known: object): void {
  if (!isObject(value)) throw invalidCase(field, 'must be an object');
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined)
    throw invalidCase(field, `has the field ${unknown}, which is none of ${Object.keys(known).join(', ')}`);
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === 'string' && text !== '');
