import { refuseUnknownKeys } from '../checks/unknown-keys.ts';
import { conversationOptions } from './conversation-options.ts';
import { operationOptions } from './operation-options.ts';
import type { Takes } from './option-keys.ts';

/** The options of every method of the library. */
const knownOptions = { ...conversationOptions, ...operationOptions };

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
