import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../context/message.ts';
import { hideHeaders } from '../models/settings/secrets.ts';
import type { ModelSettings } from '../models/settings/settings.ts';
import { createKeyRedactor, defaultRedactKeys, mark, type Redactor } from '../../base/redaction/sensitive-keys.ts';

/** Hides what may be secret in the definition of an agent, which every process stores, and many people read. */
export interface DefinitionRedactor {
  settings(settings: ModelSettings): ModelSettings;
  /** Values of sensitive keys, such as `apiKey` in the options of a provider. */
  options<T>(options: T): T;
  toolContext(context: JsonObject): JsonObject;
  /** Whether it has hidden anything. */
  readonly hid: boolean;
}

/**
 * Headers and tool context may hold secrets under any name, so their values are hidden whatever their names; names, and
 * switches (`true`, `false`) of a tool context, stay.
 */
export function createDefinitionRedactor(redactKeys: readonly string[] = []): DefinitionRedactor {
  const redactor = redactorFor(redactKeys);
  let hid = false;
  const hide = <T>(value: T, hidden: T): T => {
    hid ||= !isDeepStrictEqual(value, hidden);
    return hidden;
  };
  const options = <T>(given: T): T => hide(given, redactor.value(given));
  return {
    settings: ({ headers, ...settings }) => ({
      ...options(settings),
      ...(headers && { headers: hide(headers, hideHeaders(headers)) }),
    }),
    options,
    toolContext: (context) => hide(context, hideValues(context) as JsonObject),
    get hid() {
      return hid;
    },
  };
}

/** The keys of `redactKeys` are hidden as well as the default ones: a definition outlives what a process shows. */
const redactorFor = (redactKeys: readonly string[]): Redactor =>
  createKeyRedactor([...new Set([...defaultRedactKeys, ...redactKeys])]);

/** The same structure with every text and number hidden. */
export function hideValues(value: Json): Json {
  if (Array.isArray(value)) return value.map(hideValues);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value !== 'object') return mark;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, hideValues(child as Json)]));
}
