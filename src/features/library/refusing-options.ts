import { none, owner, page, type Options, type Takes } from './option-keys.ts';
import { refuseUnknownKeys } from '../../base/checks/unknown-keys.ts';

/** The parts of the library whose methods are listed here. */
interface Operation {
}

/** The options of the other methods of the library; a missing one does not compile. */
const operationOptions = {
  },
} satisfies { [Part in keyof Operation]: Record<keyof Operation[Part], readonly Takes[]> };

/** The options of every method of the library. */
const knownOptions = operationOptions;

/**
 * Makes the methods of a part of the library reject options they do not take: most are typos, and an ignored option
 * would change the answer silently.
 */
export function refusingOptions<Methods extends object>(part: keyof typeof knownOptions, methods: Methods): Methods {
  const own = methods as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const refusing: typeof own = {};
  const methodsOf: Record<string, readonly Takes[]> = knownOptions[part];
  for (const [name, takes] of Object.entries(methodsOf)) {
    if (takes.length === 0) continue;
    const method = own[name]!;
    refusing[name] = async (...args) => {
      for (const [position, keys] of takes) {
        const given = args[position];
        if (typeof given === 'object' && given !== null) refuseUnknownKeys(`${part}.${name}`, given, keys);
      }
      return method(...args);
    };
  }
  return { ...methods, ...refusing };
}

/** Each of these parts of the library refuses options that it does not take. */
export const refusingAll = <Parts extends object>(parts: Parts): Parts =>
  Object.fromEntries(
    Object.entries(parts).map(([part, methods]: [string, object]) => [
      part,
      Object.hasOwn(knownOptions, part) ? refusingOptions(part as keyof typeof knownOptions, methods) : methods,
    ]),
  ) as Parts;
