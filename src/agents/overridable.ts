/** What a request may override of its agent, and a thread of the agents that run on it. */
export const overridableFields = [
  'model',
  'strategy',
  'strategyOptions',
  'systemPrompt',
  'tools',
  'allowedTools',
  'toolContext',
  'settings',
  'headers',
  'providerOptions',
  'requestTransformer',
  'contextPolicy',
  'maxIterations',
  'maxTotalTokens',
  'maxDurationMs',
  'streaming',
  'idleTimeoutMs',
  'toolTimeoutMs',
  'output',
] as const;

/** A field, or one key of the tool context, such as `toolContext.locale`. */
export type Overridable = (typeof overridableFields)[number] | `toolContext.${string}`;

/** Who asks: a caller over HTTP, or code of the process that uses the library. */
export type OverrideCaller = 'http' | 'library';

/** What each kind of caller may override; undefined: everything. */
export type OverridableBy = Readonly<Record<OverrideCaller, readonly Overridable[] | undefined>>;

/** As an agent's definition gives it: one list for all callers, or one for each. */
export type OverridableOption = readonly Overridable[] | Partial<Record<OverrideCaller, readonly Overridable[]>>;

/** Over HTTP nothing unless listed. Code of the own process is the operator's, so it may do all unless listed. */
export const readOverridable = (given: OverridableOption = {}): OverridableBy =>
  isList(given) ? { http: given, library: given } : { http: given.http ?? [], library: given.library };

const isList = (given: OverridableOption): given is readonly Overridable[] => Array.isArray(given);

/** The first entry of a definition that names no field. */
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
  // the prompt of a policy is sent in place of the lane's
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
