import { createHash } from 'node:crypto';
import type { AgentInputItem, SessionHistoryTransactionArgs } from '@openai/agents-core';
import { ModelItem } from '@openai/agents-core/types';
import { LanefoldError } from '../../base/errors.ts';
import { writeItem } from './items.ts';

/** A transaction that was checked and copied. */
export interface CheckedTransaction {
  operationId: string;
  /** The same for every transaction with this content. */
  hash: string;
  /** What has to be at the end, and goes; undefined for a mere append. */
  expected: AgentInputItem[] | undefined;
  added: AgentInputItem[];
}

const fields = { append_items: ['items'], replace_suffix: ['expectedSuffix', 'replacement'] } as const;

/** Checks a transaction as the SDK demands it. @throws LanefoldError `invalid_input` */
export function checkTransaction(args: SessionHistoryTransactionArgs): CheckedTransaction {
  const { operationId, transaction } = Object(args) as { operationId: unknown; transaction: unknown };
  if (typeof operationId !== 'string' || operationId.trim() === '') throw invalid('has no operationId');
  const copy = tryCopy(transaction) as Record<string, unknown>;
  const names = Object.hasOwn(fields, String(copy?.['type'])) ? fields[copy['type'] as keyof typeof fields] : undefined;
  if (!names) throw invalid('is neither append_items nor replace_suffix');
  const lists = names.map((name) => copy[name]);
  if (Object.keys(copy).length !== names.length + 1 || !lists.every((list) => Array.isArray(list)))
    throw invalid(`has other fields than ${names.join(' and ')}`);
  for (const item of lists.flat())
    if (!ModelItem.safeParse(item).success) throw invalid('has an item of no known form');
  const [first, second] = lists as AgentInputItem[][];
  return {
    operationId,
    hash: createHash('sha256').update(writeItem(copy)).digest('base64url'),
    ...(second === undefined ? { expected: undefined, added: first! } : { expected: first!, added: second }),
  };
}

/** Whether two items have the same content. */
export function isSameItem(stored: unknown, expected: unknown): boolean {
  try {
    return writeItem(sortedCopy(stored)) === writeItem(sortedCopy(expected));
  } catch {
    return false;
  }
}

function tryCopy(value: unknown): unknown {
  try {
    return sortedCopy(value);
  } catch (error) {
    throw invalid(`has ${(error as Error).message}`);
  }
}

/** Copies data, with sorted keys. Throws for what cannot be compared: cycles, accessors, instances of classes. */
function sortedCopy(value: unknown, within: readonly object[] = []): unknown {
  if (value === null || value === undefined || ['string', 'boolean', 'number'].includes(typeof value)) return value;
  if (typeof value !== 'object') throw new Error(`a ${typeof value}`);
  if (within.includes(value)) throw new Error('a cycle');
  const inside = [...within, value];
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const keys = Reflect.ownKeys(value).filter((key) => !(Array.isArray(value) && key === 'length'));
  const fields = keys.sort().map((key) => {
    const field = Object.getOwnPropertyDescriptor(value, key)!;
    if (typeof key !== 'string' || !field.enumerable || !('value' in field))
      throw new Error('a field that is not plain data');
    return [key, sortedCopy(field.value, inside)] as const;
  });
  if (Array.isArray(value)) {
    if (fields.length !== value.length) throw new Error('a list with holes');
    return Array.from({ length: value.length }, (_, i) => sortedCopy(value[i], inside));
  }
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype !== Object.prototype && prototype !== null) throw new Error('an instance of a class');
  return Object.fromEntries(fields);
}

const invalid = (what: string): LanefoldError =>
  new LanefoldError('invalid_input', `The history transaction ${what}.`, {
    hint: 'Nothing was written. Pass { operationId, transaction: { type: "append_items", items } }, or a replace_suffix.',
  });
