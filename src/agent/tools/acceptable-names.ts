import { createHash } from 'node:crypto';

/** Longest name of a tool that every provider accepts. */
const maxLength = 64;

/** Every provider accepts these names; some accept more. */
const accepted = /^[A-Za-z0-9_-]{1,64}$/;

export const isToolName = (name: string): boolean => accepted.test(name);

/**
 * For each of `names`, a name that every provider accepts and no other tool has: the name itself where possible, else one
 * made from it. Where several names would become the same, each gets a hash of the original, so that the order in which
 * a server lists them does not matter. Of equal names, the later ones are numbered.
 *
 * @param taken names of other tools
 */
export function acceptableNames(names: readonly string[], taken: Iterable<string> = []): string[] {
  const used = new Set(taken);
  const claim = (name: string): string => {
    used.add(name);
    return name;
  };
  const found = names.map((name) => (isToolName(name) && !used.has(name) ? claim(name) : undefined));
  const madeOf = new Map<string, Set<string>>();
  for (const [i, name] of names.entries()) {
    if (found[i] !== undefined) continue;
    const made = cleanName(name);
    madeOf.set(made, (madeOf.get(made) ?? new Set()).add(name));
  }
  return names.map((name, i) => {
    const kept = found[i];
    if (kept !== undefined) return kept;
    const made = cleanName(name);
    const shared = made.length > maxLength || madeOf.get(made)!.size > 1 || (used.has(made) && !isToolName(name));
    const base = shared ? withSuffix(made, hashOf(name)) : made;
    let free = base;
    for (let n = 2; used.has(free); n++) free = withSuffix(base, String(n));
    return claim(free);
  });
}

const cleanName = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'tool';
const withSuffix = (name: string, suffix: string): string =>
  `${name.slice(0, maxLength - 1 - suffix.length)}_${suffix}`;
const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 8);
