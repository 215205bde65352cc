import { types } from 'node:util';
import { isOpaque } from '../../base/checks/values.ts';
import { isExact, maxDepth } from '../../base/common/json.ts';

/** A value that JSON cannot show; the message says what and where. */
export class NotJsonError extends Error {
  constructor(
    readonly path: string,
    what: string,
  ) {
    super(`${path} is ${what}`);
    this.name = 'NotJsonError';
  }
}

/**
 * What a tool returned as a JSON value, where `JSON.stringify` alone would write `{}` or null, or throw: the entries of maps
 * and sets, the elements of typed arrays, name and message of errors, the digits of big integers, NaN as text. Returns the
 * value itself if it is JSON already. As in JSON, a field that is undefined is left out.
 *
 * @throws NotJsonError for anything else: functions, symbols, promises, circles, objects whose state is private, too deep
 */
export function represent(value: unknown): unknown {
  return new Walk().of(value);
}

type ToJson = (this: object, key: string) => unknown;

class Walk {
  readonly #keys: (string | number)[] = [];
  readonly #ancestors: object[] = [];

  of(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
      case 'undefined':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'bigint':
        return isExact(String(value)) ? Number(value) : String(value);
      case 'object':
        return value === null ? null : this.#object(value);
      default:
        throw this.#refused(`a ${typeof value}`);
    }
  }

  #object(value: object): unknown {
    if (this.#ancestors.includes(value)) throw this.#refused('circular');
    if (this.#ancestors.length === maxDepth) throw this.#refused(`nested deeper than ${maxDepth} levels`);
    this.#ancestors.push(value);
    const shown = this.#shown(value);
    this.#ancestors.pop();
    return shown;
  }

  #shown(value: object): unknown {
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return this.#ofToJson(value, toJSON as ToJson);
    if (Array.isArray(value)) return this.#list(value);
    if (types.isBoxedPrimitive(value)) return this.of(value.valueOf());
    if (types.isMap(value) || types.isSet(value)) return this.#list([...value]);
    if (types.isAnyArrayBuffer(value)) return [...new Uint8Array(value)];
    if (types.isDataView(value)) return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)];
    if (types.isTypedArray(value)) return this.#list(Array.from<unknown>(value as Iterable<unknown>));
    if (types.isNativeError(value) || value instanceof Error) return this.#fields(errorFields(value));
    if (types.isRegExp(value)) return String(value);
    if (types.isPromise(value)) throw this.#refused('a promise, which the tool did not await');
    return Object.keys(value).length > 0 || !isOpaque(value) ? this.#fields(value) : this.#entries(value);
  }

  #ofToJson(value: object, toJson: ToJson): unknown {
    if (types.isDate(value) && Number.isNaN(value.getTime())) throw this.#refused('an invalid date');
    const json = toJson.call(value, String(this.#keys.at(-1) ?? ''));
    if (json === undefined) throw this.#refused('an object whose toJSON returns nothing');
    return this.of(json);
  }

  /** The list itself unless an item is shown as something else. */
  #list(list: readonly unknown[]): unknown[] {
    let copy: unknown[] | undefined;
    for (let i = 0; i < list.length; i++) {
      const shown = this.#item(i, list[i]) ?? null;
      if (shown !== list[i]) (copy ??= [...list])[i] = shown;
    }
    return copy ?? (list as unknown[]);
  }

  /** The object itself unless a field is shown as something else. */
  #fields(object: object): object {
    const keys = Object.keys(object);
    if (keys.length === 0 && Object.getOwnPropertySymbols(object).length > 0)
      throw this.#refused('an object whose only keys are symbols');
    let copy: [string, unknown][] | undefined;
    for (const [i, key] of keys.entries()) {
      const given = (object as Record<string, unknown>)[key];
      const shown = this.#item(key, given);
      if (shown !== given)
        copy ??= keys.slice(0, i).map((before) => [before, (object as Record<string, unknown>)[before]]);
      copy?.push([key, shown]);
    }
    return copy ? Object.fromEntries(copy) : object;
  }

  /** Of an object such as Headers, which has entries instead of fields. An iterator would be used up. */
  #entries(value: object): unknown[] {
    const { [Symbol.iterator]: iterator, next } = value as { [Symbol.iterator]?: unknown; next?: unknown };
    const name = (value.constructor as { name?: string } | undefined)?.name || 'object';
    if (typeof iterator !== 'function' || typeof next === 'function')
      throw this.#refused(`a ${name}, whose state JSON cannot show`);
    const entries: unknown[] = [];
    for (const entry of value as Iterable<unknown>) {
      if (entries.length === maxEntries) throw this.#refused(`a ${name} with more than ${maxEntries} entries`);
      entries.push(entry);
    }
    return this.#list(entries);
  }

  #item(key: string | number, value: unknown): unknown {
    // most values are plain, and need no place
    if (typeof value === 'string' || value === null || typeof value === 'boolean') return value;
    this.#keys.push(key);
    const shown = this.of(value);
    this.#keys.pop();
    return shown;
  }

  #refused(what: string): NotJsonError {
    const path = this.#keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
    return new NotJsonError(`$${path.length > 200 ? `${path.slice(0, 200)}…` : path}`, what);
  }
}

/** An iterable may be endless. */
const maxEntries = 100_000;

/** The stack is not for the model. */
function errorFields(error: Error): object {
  const { name, message, cause, errors } = error as Error & { errors?: unknown };
  const own = {
    name,
    message,
    ...(cause === undefined ? {} : { cause }),
    ...(errors === undefined ? {} : { errors }),
  };
  return { ...own, ...error };
}
