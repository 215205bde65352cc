import { optionsWith } from './options.ts';

/** Fields that a request may override in its agent, and a thread in the agents that run on it. */
export const overridableFields = [
  ...optionsWith({ override: 'replace' }),
  ...optionsWith({ override: 'lower' }),
  'systemPrompt',
  // within settings
  'providerOptions',
] as const;

/** A field, or one key of the tool context, such as `toolContext.locale`. */
export type Overridable = (typeof overridableFields)[number] | `toolContext.${string}`;

/** The kind of caller: over HTTP, or code that uses the library in this process. */
export type OverrideCaller = 'http' | 'library';

/** What each kind of caller may override; undefined: everything. */
export type OverridableBy = Readonly<Record<OverrideCaller, readonly Overridable[] | undefined>>;

/** The form in the definition of an agent: one list for all callers, or one for each kind. */
export type OverridableOption = readonly Overridable[] | Partial<Record<OverrideCaller, readonly Overridable[]>>;

/**
 * Over HTTP, nothing is allowed unless it is listed. Library code belongs to the operator, so everything is allowed
 * unless there is a list.
 */
export const readOverridable = (given: OverridableOption = {}): OverridableBy =>
  isList(given) ? { http: given, library: given } : { http: given.http ?? [], library: given.library };

const isList = (given: OverridableOption): given is readonly Overridable[] => Array.isArray(given);

/** The first entry of a definition that is not a known field. */
export const unknownOverridable = (given: OverridableOption): unknown =>
  [isList(given) ? given : [given.http ?? [], given.library ?? []]]
    .flat(2)
    .find(
      (entry) =>
        typeof entry !== 'string' ||
        !((overridableFields as readonly string[]).includes(entry) || /^toolContext\../s.test(entry)),
    );

/** The fields of a request that its caller may not override. */
export function refusedOverrides(
  allowed: readonly Overridable[] | undefined,
  given: Partial<Record<(typeof overridableFields)[number], unknown>>,
): string[] {
  if (!allowed) return [];
  const { contextPolicy: policy } = given;
  // the prompt of a policy is sent instead of the one of the lane, so it counts as a system prompt
  const prompt =
    typeof policy === 'object' && policy !== null && 'systemPrompt' in policy ? policy.systemPrompt : undefined;
  return overridableFields.flatMap((field) => {
    const value = field === 'systemPrompt' && given[field] === undefined ? prompt : given[field];
    if (value === undefined || allowed.includes(field)) return [];
    if (field !== 'toolContext' || typeof value !== 'object' || value === null) return [field];
    const keys = Object.keys(value).map((key) => `toolContext.${key}` as const);
    return keys.filter((key) => !allowed.includes(key));
  });
}
